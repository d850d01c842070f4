import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { Env } from '@app/config';
import { Database, IS_STAFF, parseDate } from '@app/database';
import { FIELDS } from '@app/fields';
import { shownName } from '@app/people';
import { Refused } from '@app/rules';
import { type AbsenceRow, TutorHours, type WeeklyRow } from '@app/scheduling';
import { answered, type Errors, namesake } from '../web/answered.js';
import type { Managed } from '../web/access.decorators.js';
import type { Form } from '../web/form.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, type SeeOther } from '../web/pages.js';
import { readFields } from '../web/read-field.js';

const { start_time, end_time } = FIELDS.availabilities;
const { note } = FIELDS.time_off;

const TYPED = ['start_time', 'end_time', 'starts_on', 'ends_on', 'note'];

/** Whose hours a form is about. */
export interface Whose {
  tutorId: string;
  /** Of the page. */
  path: string;
  /** Whether it is the tutor's own form. */
  own: boolean;
}

/** The form of when a tutor teaches, and when not: what is ticked is removed, and what is filled in is added. */
@Injectable()
export class HoursForm {
  constructor(
    private readonly db: Database,
    private readonly operations: FormOperations,
    private readonly hours: TutorHours,
    private readonly env: Env,
  ) {}

  weekly(organization: Managed, whose: Whose): Promise<Page | SeeOther> {
    const { organizationId, form, timeZone } = organization;
    const gone = form.ids('remove');
    const run = async () => {
      const added = this.readHours(form, timeZone);
      await this.hours.editWeekly(organizationId, whose.tutorId, (stored) => [
        ...stored.filter((one) => !gone.includes(one.id)),
        ...added,
      ]);
      return {};
    };
    return this.settle(organization, 'PUT /v1/tutors/:tutor_id/availabilities', whose, run);
  }

  timeOff(organization: Managed, whose: Whose): Promise<Page | SeeOther> {
    const { organizationId, form } = organization;
    const gone = form.ids('remove');
    const run = async () => {
      const added = this.readAbsence(form);
      await this.hours.editTimeOff(organizationId, whose.tutorId, (stored) => [
        ...stored.filter((one) => !gone.includes(one.id)),
        ...added,
      ]);
      return {};
    };
    return this.settle(organization, 'PUT /v1/tutors/:tutor_id/time-off', whose, run);
  }

  private settle(
    organization: Managed,
    operation: `PUT /v1/tutors/:tutor_id/${'availabilities' | 'time-off'}`,
    whose: Whose,
    run: () => Promise<object>,
  ): Promise<Page | SeeOther> {
    return answered(
      this.operations.perform(organization, operation, { tutor_id: whose.tutorId }, run, { teaching: whose.own }),
      { back: whose.path, done: 'It was saved.' },
      (errors) => this.shown(organization, whose, errors),
      namesake,
    );
  }

  /** The same hours of each day that was chosen. */
  private readHours(form: Form, timezone: string): WeeklyRow[] {
    const days = form.list('days').map(Number);
    if (days.some((day) => !Number.isInteger(day) || day < 0 || day > 6)) throw PageError.badForm();
    const typed = form.text('start_time') + form.text('end_time') !== '';
    if (!typed && days.length === 0) return [];
    if (days.length === 0) throw Refused.invalid('Choose at least one day.', 'days');
    const times = readFields(form, this.env, { start_time, end_time }, {});
    if (times.end_time <= times.start_time) throw Refused.invalid('Must be after the start.', 'end_time');
    return [...new Set(days)].map((day) => ({ day_of_week: day, ...times, timezone }));
  }

  private readAbsence(form: Form): AbsenceRow[] {
    if (form.text('starts_on') + form.text('ends_on') + form.text('note') === '') return [];
    const first = dayIn(form, 'starts_on');
    const last = form.text('ends_on') === '' ? first : dayIn(form, 'ends_on');
    if (last < first) throw Refused.invalid('Must not be before the first day.', 'ends_on');
    return [{ starts_on: first, ends_on: last, note: readFields(form, this.env, {}, { note }).note }];
  }

  async shown(organization: Managed, whose: Whose, errors: Errors | null = null): Promise<Page> {
    const { organizationId, form } = organization;
    const { tutorId, path, own } = whose;
    const [[tutor], weekly, timeOff] = await this.db.read<[{ name: string }, WeeklyRow, AbsenceRow]>(
      { organizationId },
      ...hoursOf(organizationId, tutorId),
    );
    if (!tutor) throw PageError.notFound();
    const values = Object.fromEntries(TYPED.map((field) => [field, errors ? form.text(field) : '']));
    const days = errors ? form.list('days') : [];
    return page(
      'people/hours',
      { path, own, name: tutor.name, weekly, timeOff, values, days, errors: errors ?? {} },
      errors ? 422 : 200,
    );
  }
}

/** The tutor, weekly hours, and time off that is not over. */
const hoursOf = (organizationId: string, tutorId: string): [Sql, Sql, Sql] => [
  sql`SELECT ${shownName('m')} AS name FROM members m LEFT JOIN users u ON u.id = m.user_id
    WHERE m.organization_id = ${organizationId} AND m.user_id = ${tutorId} AND m.${IS_STAFF} AND m.status <> 'archived'`,
  sql`SELECT id, day_of_week, start_time, end_time, timezone FROM availabilities
    WHERE organization_id = ${organizationId} AND tutor_id = ${tutorId} ORDER BY (day_of_week + 6) % 7, start_time, id`,
  sql`SELECT id, to_char(starts_on, 'YYYY-MM-DD') AS starts_on, to_char(ends_on, 'YYYY-MM-DD') AS ends_on, note FROM time_off
    WHERE organization_id = ${organizationId} AND tutor_id = ${tutorId} AND ends_on >= current_date - 1 ORDER BY starts_on, id LIMIT 100`,
];

function dayIn(form: Form, name: string): string {
  const text = form.text(name);
  if (!parseDate(text)?.wholeDay) throw Refused.invalid('Enter a day.', name);
  return text;
}
