import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadEnv } from '@app/config';
import { connect, Database } from '@app/database';
import { sizeOf, writeDemo } from '../../apps/cli/src/demo/demo.js';
import { record } from '../../apps/cli/src/demo/recorded.js';
import { importFolder } from '../../apps/cli/src/import/importer.js';
import { rulesOn } from '../../apps/cli/src/rules.js';
import { TestApi } from '../support/http/api.js';
import { fixture } from '../support/process/fixture.js';

// A Wednesday afternoon in Melbourne.
const NOW = new Date('2026-05-06T05:00:00Z');
const TODAY = '2026-05-06';
/** Where the last pay period begins, which is not paid yet. */
const UNPAID_FROM = '2026-04-22';

const api = await fixture(TestApi.start());
const folder = await mkdtemp(join(tmpdir(), 'tutoring-demo-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const schools: string[] = [];
const portal = await connect({ url: api.database.portalUrl, poolSize: 2, applicationName: 'demo' });
const rules = await rulesOn(new Database(portal), loadEnv({}, {}));
for (const { timeZone, folder: at } of await writeDemo({ folder, ...sizeOf('small'), seed: 7, now: NOW })) {
  const { id: organizationId } = await api.make.organization({ timeZone });
  await importFolder({ url: api.database.ownerUrl, organizationId, folder: at });
  await record(rules, organizationId);
  schools.push(organizationId);
}
await portal.destroy();
await api.make.query('ANALYZE');

const query = <Row = Record<string, unknown>>(sql: string) => api.make.query<Row>(`${WITH} ${sql}`);

/**
 * Everything of a place and its lesson, recomputed: the cell of the table of rates that fits best, what the lesson costs (`price`),
 * what completing bills (`bill`), and what of it counts for the tutor's percentage (`base`).
 */
const WITH = `WITH
  lessons AS MATERIALIZED (SELECT s.*, (s.starts_at AT TIME ZONE o.time_zone)::date AS day, t.tutor_tier_id AS tier, g.rate_per_student_cents AS group_rate,
      CASE WHEN s.classroom_id IS NOT NULL THEN 'classroom' WHEN s.group_id IS NOT NULL OR c.places > 1 THEN 'group'
        WHEN s.mode = 'in_person' THEN '1on1_inperson' ELSE '1on1_online' END AS kind
    FROM sessions s JOIN organizations o ON o.id = s.organization_id LEFT JOIN student_groups g ON g.id = s.group_id
    LEFT JOIN tutor_profiles t ON t.organization_id = s.organization_id AND t.user_id = s.tutor_id
    JOIN (SELECT session_id, count(*) AS places FROM lesson_participants GROUP BY 1) c ON c.session_id = s.id),
  places AS MATERIALIZED (SELECT p.*, s.status AS lesson, s.day, s.tutor_pay_pct, m.created_at AS joined_at, m.rate_band_id AS band,
      coalesce(s.group_rate, r.student_rate_cents) AS rate_of_table, CASE s.mode WHEN 'in_person' THEN r.inperson_surcharge_cents END AS surcharge_of_table,
      round(p.rate_cents * s.duration_minutes / 60.0) + coalesce(p.surcharge_cents, 0) AS price,
      b.billed * (round(p.rate_cents * s.duration_minutes / 60.0) + coalesce(p.surcharge_cents, 0)) AS bill,
      b.billed * round(p.rate_cents * s.duration_minutes / 60.0) AS base
    FROM lesson_participants p JOIN lessons s ON s.id = p.session_id
    JOIN members m ON m.organization_id = p.organization_id AND m.user_id = p.student_id
    CROSS JOIN LATERAL (SELECT (s.status = 'completed' AND p.status IN ('pending', 'accepted') AND p.attendance IS DISTINCT FROM 'excused')::integer AS billed) b
    CROSS JOIN LATERAL (SELECT * FROM rate_cells r WHERE r.organization_id = s.organization_id AND (r.band_id IS NULL OR r.band_id = m.rate_band_id)
        AND (r.tutor_tier_id IS NULL OR r.tutor_tier_id = s.tier) AND (r.subject_id IS NULL OR r.subject_id = s.subject_id)
        AND (r.session_kind IS NULL OR r.session_kind = s.kind)
      ORDER BY r.band_id IS NULL, r.tutor_tier_id IS NULL, r.subject_id IS NULL, r.session_kind IS NULL LIMIT 1) r),
  sums AS MATERIALIZED (SELECT session_id, sum(bill) AS owed, sum(base) AS base, count(DISTINCT coalesce(band::text, '')) = 1 AS one_band, min(band::text)::uuid AS band
    FROM places GROUP BY 1),
  received AS (SELECT i.id AS invoice_id, coalesce((SELECT sum(p.amount_cents - coalesce(p.refund_amount_cents, 0)) FROM payments p
        WHERE p.invoice_id = i.id AND p.status = 'succeeded' AND NOT p.recorded), 0)
      + coalesce((SELECT sum(a.amount_cents) FROM payment_allocations a WHERE a.invoice_id = i.id), 0) AS cents FROM invoices i),
  applied AS (SELECT p.id AS payment_id, coalesce(sum(a.amount_cents), 0) AS cents FROM payments p LEFT JOIN payment_allocations a ON a.payment_id = p.id GROUP BY 1),
  families AS (SELECT p.id AS payment_id, i.id AS invoice_id FROM payments p JOIN invoices i ON i.organization_id = p.organization_id
    WHERE i.student_id = p.student_id OR i.student_id IN (SELECT student_id FROM parent_students l WHERE l.organization_id = p.organization_id AND l.parent_id = p.parent_id))`;

/** What must find nothing. */
const FAULTS = {
  'place at another price than its group, or else the table of rates, says': `SELECT id FROM places
    WHERE (rate_cents, surcharge_cents) IS DISTINCT FROM (rate_of_table, surcharge_of_table)`,
  'lesson whose tutor gets something else than the table of rates says': `SELECT s.id FROM lessons s JOIN sums t ON t.session_id = s.id
    JOIN rate_cells r ON r.organization_id = s.organization_id AND r.band_id IS NOT DISTINCT FROM CASE WHEN t.one_band THEN t.band END
      AND r.tutor_tier_id IS NOT DISTINCT FROM s.tier AND r.session_kind = s.kind
    WHERE (s.tutor_pay_rate_cents, s.tutor_pay_pct) IS DISTINCT FROM (r.tutor_flat_rate_cents, r.tutor_pay_pct)`,
  'lesson that owes something else than its places are billed': `SELECT s.id FROM lessons s JOIN sums t ON t.session_id = s.id
    WHERE s.status <> 'cancelled' AND s.amount_owed_cents IS DISTINCT FROM CASE s.status WHEN 'completed' THEN t.owed END`,
  'lesson with another pay than its terms give': `SELECT s.id FROM lessons s JOIN sums t ON t.session_id = s.id WHERE s.tutor_pay_cents IS DISTINCT FROM
    CASE s.status WHEN 'completed' THEN coalesce(round(s.tutor_pay_rate_cents * s.duration_minutes / 60.0), round(t.base * s.tutor_pay_pct / 100)) END`,
  'place that was completed here with another bill': `SELECT id FROM places WHERE billed_cents <> bill`,
  'place before its student joined': `SELECT id FROM places WHERE created_at < joined_at`,
  'bill of a day that is over on no line, on two, or on one of another amount': `SELECT p.id FROM places p WHERE (day < '${TODAY}' OR billed_cents IS NOT NULL)
    AND bill > 0 AND ARRAY[bill] IS DISTINCT FROM (SELECT array_agg(l.amount_cents::numeric) FROM invoice_lines l JOIN invoices i ON i.id = l.invoice_id
      WHERE l.session_id = p.session_id AND i.student_id = p.student_id AND i.status <> 'void')`,
  'line of a lesson that bills something else': `SELECT l.id FROM invoice_lines l JOIN invoices i ON i.id = l.invoice_id
    LEFT JOIN places p ON p.session_id = l.session_id AND p.student_id = i.student_id
    WHERE l.session_id IS NOT NULL AND (l.amount_cents::numeric, l.item_type) IS DISTINCT FROM
      CASE p.lesson WHEN 'completed' THEN (p.bill, 'session'::text) WHEN 'cancelled' THEN (round(p.price / 2), 'fee'::text) END`,
  'cancelled lesson that owes something else than its lines': `SELECT s.id FROM lessons s WHERE s.status = 'cancelled'
    AND s.amount_owed_cents IS DISTINCT FROM (SELECT sum(amount_cents) FROM invoice_lines l WHERE l.session_id = s.id)`,
  'line that is not its quantity times its price': `SELECT id FROM invoice_lines WHERE amount_cents <> quantity * unit_amount_cents`,
  'invoice that is not the sum of its lines': `SELECT id FROM invoices i
    WHERE amount_due_cents IS DISTINCT FROM (SELECT sum(amount_cents) FROM invoice_lines l WHERE l.invoice_id = i.id)`,
  'invoice with another amount paid than was received for it and applied to it': `SELECT id FROM invoices JOIN received ON invoice_id = id
    WHERE amount_paid_cents <> cents`,
  'invoice in another state than its amounts': `SELECT id FROM invoices WHERE (status = 'paid') <> (amount_paid_cents = amount_due_cents)
    OR (status = 'paid') <> (paid_at IS NOT NULL) OR (status = 'draft') <> (invoice_number IS NULL) OR (status IN ('draft', 'void') AND amount_paid_cents > 0)`,
  'money from before the invoice, or for somebody else': `SELECT p.id FROM payments p JOIN invoices i ON i.id = p.invoice_id
    WHERE p.created_at <= i.created_at OR p.student_id <> i.student_id`,
  'money for a lesson in which the payer has no place': `SELECT id FROM payments p WHERE session_id IS NOT NULL
    AND NOT EXISTS (SELECT FROM places l WHERE l.session_id = p.session_id AND l.student_id = p.student_id)`,
  'refund of more than was paid, or of all of it without saying so': `SELECT id FROM payments
    WHERE (status = 'refunded') <> coalesce(refund_amount_cents = amount_cents, false) OR refund_amount_cents > amount_cents`,
  'credit that is not what is left of a recorded payment': `SELECT id FROM payments JOIN applied ON payment_id = id
    WHERE credit_cents <> CASE WHEN recorded THEN amount_cents - coalesce(refund_amount_cents, 0) - cents ELSE cents END`,
  'money applied to the invoice of another family': `SELECT id FROM payment_allocations a
    WHERE NOT EXISTS (SELECT FROM families f WHERE (f.payment_id, f.invoice_id) = (a.payment_id, a.invoice_id))`,
  'credit beside debt': `SELECT p.id FROM payments p JOIN families f ON f.payment_id = p.id JOIN invoices i ON i.id = f.invoice_id
    WHERE p.credit_cents > 0 AND i.status = 'open'`,
  'payout of somebody else’s session, or of another amount': `SELECT p.id FROM payouts p JOIN sessions s ON s.id = p.session_id
    WHERE (s.tutor_id, s.tutor_pay_cents, s.status) IS DISTINCT FROM (p.tutor_id, p.amount_cents, 'completed')
      OR p.is_group <> (s.student_id IS NULL) OR p.paid_at <= s.starts_at`,
  'payout of the last period': `SELECT id FROM payouts WHERE paid_at > '${NOW.toISOString()}'`,
  'trip that is not to a session of the tutor in person, on its day': `SELECT t.id FROM mileage_trips t JOIN lessons s ON s.id = t.session_id
    WHERE (s.tutor_id, s.mode, s.day) IS DISTINCT FROM (t.tutor_id, 'in_person', t.trip_date)`,
  'trip of another amount than its kilometers cost': `SELECT id FROM mileage_trips WHERE amount_cents <> round(distance_km::numeric * rate_cents)`,
  'decision without its time, or a time without one': `SELECT id FROM mileage_trips
    WHERE (status IN ('approved', 'reimbursed')) <> (approved_at IS NOT NULL) UNION ALL
    SELECT id FROM expense_claims WHERE (status IN ('approved', 'reimbursed')) <> (approved_at IS NOT NULL)
      OR (approved_at IS NOT NULL) <> (approved_amount_cents IS NOT NULL)`,
  'old claim that still waits': `SELECT id FROM mileage_trips WHERE status = 'logged' AND trip_date < '${UNPAID_FROM}' UNION ALL
    SELECT id FROM expense_claims WHERE status = 'logged' AND expense_date < '${UNPAID_FROM}'`,
  'gap in the table of rates': `SELECT o.id FROM organizations o
    CROSS JOIN (SELECT id, organization_id FROM rate_bands UNION ALL SELECT NULL, id FROM organizations) b
    CROSS JOIN (SELECT id, organization_id FROM tutor_tiers UNION ALL SELECT NULL, id FROM organizations) t
    CROSS JOIN unnest('{1on1_online,1on1_inperson,group,classroom}'::text[]) kind
    WHERE b.organization_id = o.id AND t.organization_id = o.id AND NOT EXISTS (SELECT FROM rate_cells c
      WHERE c.organization_id = o.id AND c.band_id IS NOT DISTINCT FROM b.id AND c.tutor_tier_id IS NOT DISTINCT FROM t.id
        AND c.session_kind = kind AND c.student_rate_cents > 0
        AND (c.tutor_pay_mode = 'flat') = (c.tutor_flat_rate_cents IS NOT NULL) AND (c.tutor_pay_mode = 'flat') = (c.tutor_pay_pct IS NULL))`,
};

/** A change of the demo after which each of them finds something, in the same order. */
const CHANGES = [
  `UPDATE lesson_participants SET rate_cents = rate_cents + 1`,
  `UPDATE sessions SET tutor_pay_pct = tutor_pay_pct + 1`,
  `UPDATE sessions SET amount_owed_cents = amount_owed_cents + 1`,
  `UPDATE sessions SET tutor_pay_cents = tutor_pay_cents + 1`,
  `UPDATE lesson_participants SET billed_cents = billed_cents + 1`,
  `UPDATE members SET created_at = '2026-05-01'`,
  `UPDATE invoice_lines SET session_id = NULL`,
  `UPDATE invoice_lines SET item_type = 'other'`,
  `UPDATE sessions SET amount_owed_cents = amount_owed_cents + 1`,
  `UPDATE invoice_lines SET amount_cents = amount_cents + 1`,
  `UPDATE invoice_lines SET amount_cents = amount_cents + 1`,
  `UPDATE invoices SET amount_paid_cents = amount_paid_cents - 1 WHERE amount_paid_cents > 0`,
  `UPDATE invoices SET paid_at = NULL`,
  `UPDATE payments SET created_at = '2025-01-01'`,
  `UPDATE payments SET student_id = NULL`,
  `UPDATE payments SET refund_amount_cents = amount_cents WHERE status = 'succeeded' AND NOT recorded`,
  `UPDATE payments SET credit_cents = credit_cents - 1 WHERE credit_cents > 0`,
  `UPDATE payments SET parent_id = NULL`,
  `UPDATE invoices SET status = 'open', amount_paid_cents = amount_paid_cents - 1 WHERE status = 'paid' AND amount_paid_cents > 0`,
  `UPDATE payouts SET amount_cents = amount_cents + 1`,
  `UPDATE payouts SET paid_at = '2026-05-07'`,
  `UPDATE mileage_trips SET trip_date = trip_date + 1`,
  `UPDATE mileage_trips SET amount_cents = amount_cents + 1`,
  `UPDATE expense_claims SET approved_amount_cents = NULL`,
  `UPDATE mileage_trips SET status = 'logged'`,
  `DELETE FROM rate_cells WHERE session_kind = 'group' AND band_id IS NULL`,
];

/** What each organization's books must show. */
const SHOWN = {
  'a lesson of a group at the group’s rate': `SELECT organization_id FROM lessons WHERE group_rate IS NOT NULL AND status = 'completed'`,
  'a lesson of a group at the table’s rates': `SELECT organization_id FROM lessons WHERE group_rate IS NULL AND group_id IS NOT NULL AND status = 'completed'`,
  'a workshop': `SELECT organization_id FROM lessons WHERE kind = 'group' AND group_id IS NULL AND status = 'completed'`,
  'a tutor who is paid by the hour': `SELECT organization_id FROM lessons WHERE kind = 'classroom' AND tutor_pay_cents > 0`,
  'a surcharge': `SELECT organization_id FROM places WHERE surcharge_cents > 0 AND bill > 0`,
  'a late cancellation': `SELECT organization_id FROM invoice_lines WHERE description = 'late cancellation' AND session_id IS NOT NULL`,
  'an invoice with several lessons': `SELECT i.organization_id FROM invoices i JOIN invoice_lines l ON l.invoice_id = i.id
    WHERE l.session_id IS NOT NULL GROUP BY i.id HAVING count(*) > 2`,
  'an overdue invoice': `SELECT organization_id FROM invoices WHERE status = 'open' AND due_date < '${TODAY}'`,
  'an open invoice that is not due yet': `SELECT organization_id FROM invoices WHERE status = 'open' AND due_date > '${TODAY}'`,
  'a partial refund': `SELECT organization_id FROM payments WHERE refund_amount_cents < amount_cents`,
  'a full refund': `SELECT organization_id FROM payments WHERE status = 'refunded'`,
  credit: `SELECT p.organization_id FROM payments p JOIN parents USING (organization_id)
    WHERE credit_cents > 0 AND user_id = parent_id AND parents.status = 'accepted'`,
  'a collecting draft': `SELECT organization_id FROM invoices WHERE collecting`,
  'a trip that waits for a decision': `SELECT organization_id FROM mileage_trips WHERE status = 'logged'`,
  'a claim that waits for a decision': `SELECT organization_id FROM expense_claims WHERE status = 'logged'`,
  'a payout of a session with several students, and one of a single one': `SELECT organization_id FROM payouts GROUP BY 1
    HAVING bool_or(is_group) AND bool_or(NOT is_group)`,
  'a payout of a period': `SELECT organization_id FROM payouts WHERE session_id IS NULL`,
};

describe('the demo’s books', () => {
  it.each(Object.entries(FAULTS).map(([fault, sql], place) => [fault, sql, CHANGES[place]!]))('have no %s', async (_, sql, change) => {
    expect(await query(sql)).toEqual([]);
    const runner = api.make.db.createQueryRunner();
    await runner.startTransaction();
    try {
      await runner.query(change);
      expect(await runner.query(`${WITH} ${sql}`)).not.toEqual([]);
    } finally {
      await runner.rollbackTransaction();
      await runner.release();
    }
  });

  it.each(Object.entries(SHOWN))('have %s', async (_, sql) => {
    const found = await query<{ organization_id: string }>(sql);
    expect(new Set(found.map((row) => row.organization_id))).toEqual(new Set(schools));
  });

  it('number their invoices without a gap, in the order of their issue', async () => {
    for (const school of schools) {
      const issued = await query<{ serial: number }>(
        `SELECT serial::integer FROM invoices WHERE organization_id = '${school}' AND status <> 'draft' ORDER BY sent_at, serial`,
      );
      expect(issued.map(({ serial }) => serial)).toEqual(issued.map((_, index) => index + 1));
    }
  });

  it('have one credit, one collecting draft and one recorded payment in each organization', async () => {
    expect(
      await query(`SELECT (SELECT count(*) FROM payments WHERE credit_cents > 0)::integer AS credits,
        (SELECT count(*) FROM payments WHERE recorded)::integer AS recorded, (SELECT count(*) FROM invoices WHERE collecting)::integer AS drafts`),
    ).toEqual([{ credits: 2, recorded: 2, drafts: 2 }]);
  });
});

describe('the API’s sums of the demo', () => {
  type Money = Record<'amount_due_cents' | 'amount_paid_cents', string> & { status: string; student_id: string };
  const sum = (cents: string[]) => cents.reduce((total, one) => total + Number(one), 0);

  it('are those of a plain recomputation: the balance of each parent', async () => {
    let credits = 0;
    for (const school of schools) {
      const key = await api.key(school);
      const links = await query<{ parent_id: string; student_id: string }>(
        `SELECT parent_id, student_id FROM parent_students WHERE organization_id = '${school}'`,
      );
      const invoices = await query<Money>(`SELECT * FROM invoices WHERE organization_id = '${school}' AND status IN ('open', 'paid')`);
      const [credit] = await query<{ parent_id: string; credit_cents: string }>(
        `SELECT * FROM payments WHERE organization_id = '${school}' AND credit_cents > 0`,
      );
      for (const parent of new Set(links.map(({ parent_id: id }) => id))) {
        const children = links.flatMap(({ parent_id: id, student_id: child }) => (id === parent ? [child] : []));
        const own = invoices.filter(({ student_id: student }) => children.includes(student));
        const open = own.filter(({ status }) => status === 'open');
        const expected = {
          total_invoiced_cents: sum(own.map((one) => one.amount_due_cents)),
          total_paid_cents: sum(own.map((one) => one.amount_paid_cents)),
          outstanding_cents: sum(open.map((one) => one.amount_due_cents)) - sum(open.map((one) => one.amount_paid_cents)),
          open_invoices_count: open.length,
          credit_cents: credit?.parent_id === parent ? Number(credit.credit_cents) : 0,
        };
        expect((await api.get(`/v1/parents/${parent}/balance`, key)).body).toMatchObject(expected);
        credits += expected.credit_cents;
      }
    }
    expect(credits).toBe(10_000);
  });

  it('are those of a plain recomputation: the earnings of each tutor, who is paid all but the last period', async () => {
    const settled: boolean[] = [];
    for (const school of schools) {
      const key = await api.key(school);
      const staff = await query<{ user_id: string }>(`SELECT user_id FROM members WHERE organization_id = '${school}' AND role <> 'student'`);
      for (const { user_id: tutor } of staff) {
        const cents = async (column: string, table: string, more: string) =>
          sum((await query<{ cents: string }>(`SELECT ${column} AS cents FROM ${table} WHERE tutor_id = '${tutor}' AND organization_id = '${school}' AND ${more}`)).map((row) => row.cents)); // prettier-ignore
        const earned = (bounds: [sessions: string, adjustments: string]) =>
          Promise.all([
            cents('tutor_pay_cents', 'lessons', `status = 'completed' AND ${bounds[0]}`),
            cents('amount_cents', 'adjustments', `NOT voided AND ${bounds[1]}`),
          ]).then(([sessions, adjustments]) => sessions + adjustments);
        const [all, before] = await Promise.all([earned(['true', 'true']), earned([`day < '${UNPAID_FROM}'`, `period_end < '${UNPAID_FROM}'`])]);
        const paid = await cents('amount_cents', 'payouts', 'true');
        expect((await api.get(`/v1/tutors/${tutor}/earnings`, key)).body).toMatchObject({
          earned_cents: all,
          paid_out_cents: paid,
          unpaid_cents: all - paid,
        });
        // Nobody pays back what was deducted beyond their pay.
        expect(paid).toBeGreaterThanOrEqual(before);
        if (paid > 0) settled.push(paid === before);
      }
    }
    expect(settled.filter(Boolean).length).toBeGreaterThan(5);
    expect(settled.filter((one) => !one).length).toBeLessThan(settled.length / 2);
  });
});
