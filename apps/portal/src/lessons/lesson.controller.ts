import { Controller, Get, Param, Post } from '@nestjs/common';
import { type Attended, billOf, Completion } from '@app/billing';
import { VALUES } from '@app/database';
import { dayOf } from '@app/scheduling';
import { answered, type Errors, type Read } from '../money/money-forms.js';
import { moneyWords } from '../money/money-words.js';
import { ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import type { Form } from '../web/form.js';
import { FormOperations } from '../web/operations.js';
import { type Page, page, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import type { ParticipantRow } from './lessons.queries.js';
import { LessonsService } from './lessons.service.js';

/** A lesson. Until somebody completes it, nobody is billed for it. */
@Controller('o/:slug/lessons')
@ForManagers()
export class LessonController {
  constructor(
    private readonly lessons: LessonsService,
    private readonly operations: FormOperations,
    private readonly completion: Completion,
  ) {}

  @Get(':lesson_id')
  show(@Managing() organization: Managed, @Param('lesson_id') id: string): Promise<Page> {
    return this.shown(organization, pathId(id));
  }

  @Post(':lesson_id/complete')
  async complete(@Managing() organization: Managed, @Param('lesson_id') id: string): Promise<Page | SeeOther> {
    const lessonId = pathId(id);
    const { participants } = await this.lessons.lesson(organization, lessonId);
    const read = readAttendance(organization.form, participants);
    const again = (errors: Errors) => this.shown(organization, lessonId, errors);
    if ('errors' in read) return again(read.errors);
    const path = `/o/${organization.slug}/lessons`;
    return answered(
      this.operations.perform(organization, 'PUT /v1/sessions/:session_id/complete', { session_id: lessonId }, () =>
        this.completion.complete(organization.organizationId, lessonId, read.value),
      ),
      { back: `${path}/${lessonId}`, done: 'The lesson was completed.', made: () => `${path}?state=due` },
      again,
    );
  }

  @Post(':lesson_id/reopen')
  reopen(@Managing() organization: Managed, @Param('lesson_id') id: string): Promise<Page | SeeOther> {
    const lessonId = pathId(id);
    const to = { back: `/o/${organization.slug}/lessons/${lessonId}`, done: 'The lesson was reopened.' };
    const ids = { session_id: lessonId };
    const work = this.operations.perform(organization, 'POST /v1/sessions/:session_id/reopen', ids, () =>
      this.completion.reopen(organization.organizationId, lessonId),
    );
    return answered(work, to, (errors) => this.shown(organization, lessonId, errors));
  }

  private async shown(organization: Managed, id: string, errors: Errors | null = null): Promise<Page> {
    const { lesson, participants, currency } = await this.lessons.lesson(organization, id);
    const { form } = organization;
    const data = {
      ...{ lesson, ...moneyWords(currency), errors: errors ?? {} },
      from: dayOf(lesson.starts_at, organization.timeZone),
      participants: participants.map((participant) => ({
        ...participant,
        billed: centsOf(participant.billed),
        price: priceOf(participant, lesson.minutes),
      })),
      chosen: ({ student_id: studentId, attendance }: ParticipantRow) =>
        (errors && form.text(fieldOf(studentId))) || (attendance ?? 'attended'),
    };
    return page('lessons/lesson', data, errors ? 422 : 200);
  }
}

const fieldOf = (studentId: string) => `attendance-${studentId}`;

/** Who came, of everybody who takes part. */
function readAttendance(form: Form, participants: ParticipantRow[]): Read<Attended[]> {
  const chosen = participants.map(({ student_id: studentId }) => ({
    studentId,
    attendance: VALUES.lesson_participants.attendance.find((one) => one === form.text(fieldOf(studentId))),
  }));
  const missing = chosen.filter(({ attendance }) => attendance === undefined);
  if (missing.length === 0) return { value: chosen as Attended[] };
  return {
    errors: Object.fromEntries(missing.map(({ studentId }) => [fieldOf(studentId), 'Choose whether they came.'])),
  };
}

/** What somebody who is not excused is billed. */
function priceOf({ rate, surcharge }: ParticipantRow, minutes: number): number {
  const cents = (text: string | null) => (text === null ? null : BigInt(text));
  return Number(billOf({ rateCents: cents(rate), surchargeCents: cents(surcharge) }, BigInt(minutes)));
}

const centsOf = (text: string | null): number | null => (text === null ? null : Number(text));
