import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { Completion } from '@app/billing';
import { addDays, dayOf, startOfDay } from '@app/scheduling';
import { fieldOf, readAttendance } from '../lessons/attendance.js';
import { isDay } from '../lessons/lesson-forms.js';
import { firstDay, lengthOf } from '../lessons/lessons.filter.js';
import { answered, type Errors, namesake } from '../web/answered.js';
import { BELONGS, ForMembers, ForTutors, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import { type Page, page, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { OwnMessages } from './own-messages.js';
import { OwnLessons } from './own-lessons.service.js';

/** Days of a family's page. */
const FAMILY_DAYS = 28;

/** The lessons that somebody teaches, takes part in, or follows as a parent. */
@Controller('my/:slug')
@ForMembers()
export class OwnLessonsController {
  constructor(
    private readonly lessons: OwnLessons,
    private readonly operations: FormOperations,
    private readonly completion: Completion,
    private readonly messages: OwnMessages,
  ) {}

  /** A week of somebody who teaches, from Monday; four weeks of a family, from today. */
  @Get()
  @InNavigation('Lessons')
  async list(@Managing() me: Managed, @Query('from') asked: unknown): Promise<Page> {
    const { timeZone } = me;
    const today = dayOf(new Date(), timeZone);
    const teaches = BELONGS.tutors(me);
    const days = teaches ? lengthOf({ view: 'week' }) : FAMILY_DAYS;
    const day = typeof asked === 'string' && isDay(asked) ? asked : today;
    const from = firstDay(day, teaches ? 'week' : 'day');
    const last = addDays(from, days - 1);
    return page('own/lessons', {
      ...(await this.lessons.list(me, { from, days, teaches })),
      ...{ teaches, first: startOfDay(from, timeZone), last: startOfDay(last, timeZone) },
      ...{ earlier: addDays(from, -days), later: addDays(from, days) },
      isNow: teaches ? from <= today && today <= last : from === today,
    });
  }

  @Get('lessons/:lesson_id')
  show(@Managing() me: Managed, @Param('lesson_id') id: string): Promise<Page> {
    return this.page(me, pathId(id));
  }

  /** Asks the organization for a change, which it makes or does not. */
  @Post('lessons/:lesson_id/ask')
  ask(@Managing() me: Managed, @Param('lesson_id') id: string): Promise<Page | SeeOther> {
    const lessonId = pathId(id);
    const done = `Your message was sent to ${me.name}. Nothing changes until you hear back.`;
    const again = (errors: Errors) => this.page(me, lessonId, errors);
    return answered(this.messages.send(me, lessonId), { back: pathOf(me, lessonId), done }, again, namesake);
  }

  @Post('lessons/:lesson_id/complete')
  @ForTutors()
  async complete(@Managing() me: Managed, @Param('lesson_id') id: string): Promise<Page | SeeOther> {
    const lessonId = pathId(id);
    const { students } = await this.lessons.lesson(me, lessonId);
    const read = readAttendance(me.form, students);
    const again = (errors: Errors) => this.page(me, lessonId, errors);
    if ('errors' in read) return again(read.errors);
    const { organizationId, by } = me;
    const complete = () => this.completion.completeOwn(organizationId, by.userId, lessonId, read.value);
    return answered(
      this.operations.perform(me, 'PUT /v1/sessions/:session_id/complete', { session_id: lessonId }, complete, {
        teaching: true,
      }),
      { back: pathOf(me, lessonId), done: 'The lesson was completed.' },
      again,
    );
  }

  private async page(me: Managed, id: string, errors: Errors | null = null): Promise<Page> {
    const shown = await this.lessons.lesson(me, id);
    const data = {
      ...{ ...shown, errors: errors ?? {}, fieldOf },
      chosen: (studentId: string, attendance: string | null) =>
        me.form.text(fieldOf(studentId)) || (attendance ?? 'attended'),
      typed: errors ? me.form.text('message') : '',
    };
    return page('own/lesson', data, errors ? 422 : 200);
  }
}

const pathOf = ({ slug }: Managed, id: string): string => `/my/${slug}/lessons/${id}`;
