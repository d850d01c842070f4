import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { Completion } from '@app/billing';
import { Env } from '@app/config';
import { parseDate } from '@app/database';
import { FIELDS } from '@app/fields';
import { Inbox } from '@app/messaging';
import { addDays, dayOf, dayOfWeek, startOfDay } from '@app/scheduling';
import { fieldOf, readAttendance } from '../lessons/attendance.js';
import { answered, type Errors, namesake } from '../web/answered.js';
import { BELONGS, ForMembers, ForTutors, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { AttemptLimits } from '../web/attempt-limits.js';
import { FormOperations } from '../web/operations.js';
import { type Page, page, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { readField } from '../web/read-field.js';
import { OwnLessons } from './own-lessons.service.js';
import { WRITTEN } from './write.controller.js';

/** Lessons of whoever teaches them, takes part, or is a parent of somebody who does. */
@Controller('my/:slug')
@ForMembers()
export class OwnLessonsController {
  constructor(
    private readonly lessons: OwnLessons,
    private readonly operations: FormOperations,
    private readonly completion: Completion,
    private readonly inbox: Inbox,
    private readonly limits: AttemptLimits,
    private readonly env: Env,
  ) {}

  /** A week of somebody who teaches, from Monday; four weeks of a family, from today. */
  @Get()
  @InNavigation('Lessons')
  async list(@Managing() me: Managed, @Query('from') asked: unknown): Promise<Page> {
    const { timeZone } = me;
    const today = dayOf(new Date(), timeZone);
    const teaches = BELONGS.tutors(me);
    const days = teaches ? 7 : 28;
    const day = typeof asked === 'string' && parseDate(asked)?.wholeDay ? asked : today;
    const from = teaches ? addDays(day, -((dayOfWeek(day) + 6) % 7)) : day;
    const last = addDays(from, days - 1);
    return page('own/lessons', {
      ...(await this.lessons.list(me, from, days)),
      ...{ teaches, first: startOfDay(from, timeZone), last: startOfDay(last, timeZone) },
      ...{ earlier: addDays(from, -days), later: addDays(from, days) },
      isNow: teaches ? from <= today && today <= last : from === today,
    });
  }

  @Get('lessons/:lesson_id')
  show(@Managing() me: Managed, @Param('lesson_id') id: string): Promise<Page> {
    return this.page(me, pathId(id));
  }

  /** Asks the organization for a change. Nothing is changed by it. */
  @Post('lessons/:lesson_id/ask')
  async ask(@Managing() me: Managed, @Param('lesson_id') id: string): Promise<Page | SeeOther> {
    const lessonId = pathId(id);
    const { organizationId, by } = me;
    await this.limits.take(WRITTEN, by.userId);
    const ask = async () => {
      const message = readField(me.form, this.env, 'message', FIELDS.inbox_messages.message);
      const write = async () => ({ id: await this.inbox.write(organizationId, by.userId, message, lessonId) });
      return this.operations.perform(me, 'write to organization', { session_id: lessonId }, write, { own: true });
    };
    const done = `Your message was sent to ${me.name}. Nothing changes until you hear back.`;
    return answered(ask(), { back: pathOf(me, lessonId), done }, (errors) => this.page(me, lessonId, errors), namesake);
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

  private async page(me: Managed, id: string, errors: Errors = {}): Promise<Page> {
    const shown = await this.lessons.lesson(me, id);
    const data = {
      ...{ ...shown, errors, fieldOf },
      chosen: (studentId: string, attendance: string | null) =>
        me.form.text(fieldOf(studentId)) || (attendance ?? 'attended'),
      typed: Object.keys(errors).length > 0 ? me.form.text('message') : '',
    };
    return page('own/lesson', data, Object.keys(errors).length > 0 ? 422 : 200);
  }
}

const pathOf = ({ slug }: Managed, id: string): string => `/my/${slug}/lessons/${id}`;
