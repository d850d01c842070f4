import sql from 'sql-template-tag';
import { sumOf } from '@app/database';
import { addDays, dayOf, dayOfWeek, startOfDay } from '@app/scheduling';
import { cents, integer, json, objectOf, recordController, Source, View } from '../../http/kit.js';

/** The bounds of the current day, and of the week since Monday, in this time zone. */
function currentBounds(zone: string) {
  const today = dayOf(new Date(), zone);
  const monday = addDays(today, -((dayOfWeek(today) + 6) % 7));
  const [day, nextDay, week] = [today, addDays(today, 1), monday].map((day) => startOfDay(day, zone).toISOString());
  return sql`CROSS JOIN (SELECT ${day}::timestamptz AS day, ${nextDay}::timestamptz AS next_day, ${week}::timestamptz AS week) b`;
}

const count = (example: number) => ({ minimum: 0, examples: [example] });

/** Each figure covers only `o`, the caller's organization. */
const SUMMARY = recordController({
  id: 'get_reports_summary',
  path: 'v1/reports/summary',
  summary: 'Sums up the organization’s day and week',
  description: 'Days and weeks (from Monday) are those of the organization’s time zone; money is integer cents.',
  source: ({ organization }) => Source.organization(currentBounds(organization.timeZone)),
  view: new View('Summary', {
    active_tutors: integer(
      sumOf(
        'o.id',
        ...(['online', 'in_person', 'both', 'unsaid'] as const).map((way) => `members:teaching:${way}` as const),
      ),
      count(7),
    ),
    active_students: integer(sumOf('o.id', 'members:student:accepted'), count(42)),
    sessions_today: integer(
      `(SELECT count(*) FROM sessions s WHERE s.organization_id = o.id AND s.status <> 'cancelled'
        AND s.starts_at >= b.day AND s.starts_at < b.next_day)`,
      count(5),
    ),
    settled_this_week_cents: cents(
      `(SELECT coalesce(sum(p.amount_cents - coalesce(p.refund_amount_cents, 0)), 0)::bigint FROM payments p
        WHERE p.organization_id = o.id AND p.status = 'succeeded' AND p.created_at >= b.week)`,
    ),
    outstanding_cents: cents(sumOf('o.id', 'invoices:owed')),
    pending_approvals: json(
      `(SELECT row_to_json(a) FROM (SELECT m.n AS mileage, e.n AS expenses, m.n + e.n AS total
        FROM (SELECT ${sumOf('o.id', 'mileage_trips:logged')} AS n OFFSET 0) m, (SELECT ${sumOf('o.id', 'expense_claims:logged')} AS n OFFSET 0) e) a)`,
      objectOf({
        mileage: { type: 'integer', minimum: 0, examples: [2] },
        expenses: { type: 'integer', minimum: 0, examples: [1] },
        total: { type: 'integer', minimum: 0, examples: [3] },
      }),
    ),
  }),
});

export const REPORTS_CONTROLLERS = [SUMMARY];
