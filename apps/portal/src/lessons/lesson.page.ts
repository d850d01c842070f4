import { Injectable } from '@nestjs/common';
import { billOf, shareOf } from '@app/billing';
import { dayOf } from '@app/scheduling';
import type { Errors } from '../web/answered.js';
import { moneyWords } from '../money/money-words.js';
import type { Managed } from '../web/access.decorators.js';
import { clockIn } from '../web/formats.js';
import { type Page, page } from '../web/pages.js';
import { fieldOf } from './attendance.js';
import type { ParticipantRow } from './lessons.queries.js';
import { LessonsService } from './lessons.service.js';

/** The forms of the page that open by themselves if something in them is wrong. */
type Opened = 'move' | 'cancel';

/** The page of a lesson, whichever of its forms was sent. */
@Injectable()
export class LessonPage {
  constructor(private readonly lessons: LessonsService) {}

  /** @param opened the form that was sent @param errors what is wrong with it */
  async page(
    organization: Managed,
    id: string,
    opened: Opened | null = null,
    errors: Errors | null = null,
  ): Promise<Page> {
    const { lesson, participants, currency, tutors } = await this.lessons.lesson(organization, id);
    const { form, timeZone } = organization;
    const takePart = lesson.status === 'cancelled' ? participants : participants.filter(({ cancelled }) => !cancelled);
    const bills = takePart
      .filter(({ attendance }) => attendance !== 'excused')
      .map((one) => billFor(one, lesson.minutes));
    const data = {
      ...{ lesson, tutors, opened, ...moneyWords(currency), errors: errors ?? {} },
      ...{ day: dayOf(lesson.starts_at, timeZone), start: clockIn(lesson.starts_at, timeZone) },
      participants: takePart.map((participant) => ({
        ...participant,
        billed: participant.billed === null ? null : Number(participant.billed),
        price: Number(billFor(participant, lesson.minutes)),
      })),
      /** What canceling charges, in cents. */
      charge: (percent: number) => Number(bills.reduce((sum, bill) => sum + shareOf(bill, BigInt(percent) * 100n), 0n)),
      chosen: ({ student_id: studentId, attendance }: ParticipantRow) =>
        (errors && form.text(fieldOf(studentId))) || (attendance ?? 'attended'),
      typed: (name: string, initial = '') => (opened && errors ? form.text(name) : initial),
    };
    return page('lessons/lesson', data, errors ? 422 : 200);
  }
}

/** What somebody who is not excused is billed. */
function billFor({ rate, surcharge }: ParticipantRow, minutes: number): bigint {
  const cents = (text: string | null) => (text === null ? null : BigInt(text));
  return billOf({ rateCents: cents(rate), surchargeCents: cents(surcharge) }, BigInt(minutes));
}
