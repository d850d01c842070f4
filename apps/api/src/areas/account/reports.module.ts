import { Module } from '@nestjs/common';
import { cents, HttpModule, integer, json, objectOf, recordController, Source, View } from '../../http/kit.js';

/** The start of the current day or week in the organization's time zone. */
const START_OF = (unit: 'day' | 'week') =>
  `(date_trunc('${unit}', now() AT TIME ZONE o.time_zone) AT TIME ZONE o.time_zone)`;
const END_OF_DAY = `((date_trunc('day', now() AT TIME ZONE o.time_zone) + interval '1 day') AT TIME ZONE o.time_zone)`;

const count = (example: number) => ({ minimum: 0, examples: [example] });
const logged = (table: string) =>
  `(SELECT count(*) FROM ${table} x WHERE x.organization_id = o.id AND x.status = 'logged')`;

/** Each figure covers only `o`, the caller's organization. */
const SUMMARY = recordController({
  id: 'get_reports_summary',
  path: 'v1/reports/summary',
  summary: 'Sums up the organization’s day and week',
  description: 'Days and weeks (from Monday) are those of the organization’s time zone; money is integer cents.',
  source: Source.organization(),
  view: new View('Summary', {
    active_tutors: integer(
      `(SELECT count(*) FROM tutor_profiles t
        JOIN members m ON m.organization_id = t.organization_id AND m.user_id = t.user_id
        WHERE t.organization_id = o.id AND m.status = 'accepted')`,
      count(7),
    ),
    active_students: integer(
      `(SELECT count(*) FROM members m WHERE m.organization_id = o.id AND m.role = 'student' AND m.status = 'accepted')`,
      count(42),
    ),
    sessions_today: integer(
      `(SELECT count(*) FROM sessions s WHERE s.organization_id = o.id AND s.status <> 'cancelled'
        AND s.starts_at >= ${START_OF('day')} AND s.starts_at < ${END_OF_DAY})`,
      count(5),
    ),
    settled_this_week_cents: cents(
      `(SELECT coalesce(sum(p.amount_cents), 0)::bigint FROM payments p
        WHERE p.organization_id = o.id AND p.status = 'succeeded' AND p.created_at >= ${START_OF('week')})`,
    ),
    outstanding_cents: cents(
      `(SELECT coalesce(sum(i.amount_due_cents - i.amount_paid_cents), 0)::bigint FROM invoices i
        WHERE i.organization_id = o.id AND i.status = 'open')`,
    ),
    pending_approvals: json(
      `(SELECT row_to_json(a) FROM (SELECT m.n AS mileage, e.n AS expenses, m.n + e.n AS total
        FROM (SELECT ${logged('mileage_trips')} AS n) m, (SELECT ${logged('expense_claims')} AS n) e) a)`,
      objectOf({
        mileage: { type: 'integer', minimum: 0, examples: [2] },
        expenses: { type: 'integer', minimum: 0, examples: [1] },
        total: { type: 'integer', minimum: 0, examples: [3] },
      }),
    ),
  }),
});

@Module({ imports: [HttpModule], controllers: [SUMMARY] })
export class ReportsModule {}
