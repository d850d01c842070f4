import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DemoOrganization, sizeOf, writeDemo } from '../../apps/cli/src/demo/demo.js';
import { importFolder } from '../../apps/cli/src/import/importer.js';
import { SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

// A Wednesday evening in Melbourne.
const NOW = new Date('2026-05-06T05:00:00Z');
/** Where the last pay period begins, which is not paid yet. */
const UNPAID_FROM = '2026-04-22';

const schema = await fixture(SchemaFixture.create());
const folder = await mkdtemp(join(tmpdir(), 'tutoring-demo-pay-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

async function load({ timeZone, folder: at }: DemoOrganization): Promise<void> {
  const organizationId = await schema.organization();
  await schema.as(organizationId, 'UPDATE organizations SET time_zone = $1', [timeZone]);
  await importFolder({ url: schema.urls.ownerUrl, organizationId, folder: at });
}

for (const organization of await writeDemo({ folder, ...sizeOf('small'), seed: 7, now: NOW })) await load(organization);

/** What each tutor earned before the last period, and was paid. */
const BALANCES = `
  SELECT m.organization_id, m.user_id, coalesce(s.cents, 0) + coalesce(a.cents, 0) AS earned, coalesce(p.cents, 0) AS paid,
    coalesce(s.later, 0) + coalesce(a.later, 0) AS later
  FROM members m JOIN organizations o ON o.id = m.organization_id
  LEFT JOIN LATERAL (SELECT sum(tutor_pay_cents) FILTER (WHERE (starts_at AT TIME ZONE o.time_zone)::date < '${UNPAID_FROM}') AS cents,
      sum(tutor_pay_cents) FILTER (WHERE (starts_at AT TIME ZONE o.time_zone)::date >= '${UNPAID_FROM}') AS later
    FROM sessions WHERE organization_id = o.id AND tutor_id = m.user_id AND status = 'completed') s ON true
  LEFT JOIN LATERAL (SELECT sum(amount_cents) FILTER (WHERE period_end < '${UNPAID_FROM}') AS cents,
      sum(amount_cents) FILTER (WHERE period_start >= '${UNPAID_FROM}') AS later
    FROM adjustments WHERE organization_id = o.id AND tutor_id = m.user_id AND NOT voided) a ON true
  LEFT JOIN LATERAL (SELECT sum(amount_cents) AS cents FROM payouts WHERE organization_id = o.id AND tutor_id = m.user_id) p ON true
  WHERE m.role <> 'student'`;

it('pays each tutor what they earned before the last period, and nothing of the last one', async () => {
  const balances = await schema.all(BALANCES);
  const sums = balances.map(({ earned, paid, later }) => [earned, paid, later].map(Number) as [number, number, number]);
  // Nobody pays back what was deducted beyond their pay.
  expect(sums.filter(([earned, paid]) => earned > paid)).toEqual([]);
  const settled = sums.filter(([earned, paid]) => earned === paid && paid > 0);
  expect(settled.length).toBeGreaterThan(5);
  expect(sums.length - settled.length).toBeLessThan(balances.length / 2);
  expect(sums.filter(([, , later]) => later > 0).length).toBeGreaterThan(5);
});

it.each(
  Object.entries({
    'completed session with another pay than its rate gives': `SELECT id FROM sessions WHERE status = 'completed'
      AND tutor_pay_cents IS DISTINCT FROM round(tutor_pay_rate_cents * duration_minutes / 60.0)`,
    'pay of a session that is not completed': `SELECT id FROM sessions WHERE status <> 'completed' AND tutor_pay_cents IS NOT NULL`,
    'payout of somebody else’s session, or of another amount': `SELECT p.id FROM payouts p JOIN sessions s ON s.id = p.session_id
      WHERE (s.tutor_id, s.tutor_pay_cents, s.status) IS DISTINCT FROM (p.tutor_id, p.amount_cents, 'completed')
        OR p.is_group <> (s.student_id IS NULL) OR p.paid_at <= s.starts_at`,
    'payout of the last period': `SELECT id FROM payouts WHERE paid_at > '${NOW.toISOString()}'`,
    'trip that is not to a session of the tutor in person, on its day': `SELECT t.id FROM mileage_trips t
      JOIN sessions s ON s.id = t.session_id JOIN organizations o ON o.id = t.organization_id
      WHERE (s.tutor_id, s.mode, (s.starts_at AT TIME ZONE o.time_zone)::date) IS DISTINCT FROM (t.tutor_id, 'in_person', t.trip_date)`,
    'trip of another amount than its kilometers cost': `SELECT id FROM mileage_trips
      WHERE amount_cents <> round(distance_km::numeric * rate_cents)`,
    'decision without its time, or a time without one': `SELECT id FROM mileage_trips
      WHERE (status IN ('approved', 'reimbursed')) <> (approved_at IS NOT NULL) UNION ALL
      SELECT id FROM expense_claims WHERE (status IN ('approved', 'reimbursed')) <> (approved_at IS NOT NULL)
        OR (approved_at IS NOT NULL) <> (approved_amount_cents IS NOT NULL)`,
    'old claim that still waits': `SELECT id FROM mileage_trips WHERE status = 'logged' AND trip_date < '${UNPAID_FROM}' UNION ALL
      SELECT id FROM expense_claims WHERE status = 'logged' AND expense_date < '${UNPAID_FROM}'`,
    'organization without a claim that waits': `SELECT id FROM organizations o WHERE
      NOT EXISTS (SELECT FROM mileage_trips t WHERE t.organization_id = o.id AND t.status = 'logged')
      OR NOT EXISTS (SELECT FROM expense_claims e WHERE e.organization_id = o.id AND e.status = 'logged')`,
    'gap in the table of rates': `SELECT o.id FROM organizations o
      CROSS JOIN (SELECT id, organization_id FROM rate_bands UNION ALL SELECT NULL, id FROM organizations) b
      CROSS JOIN (SELECT id, organization_id FROM tutor_tiers UNION ALL SELECT NULL, id FROM organizations) t
      CROSS JOIN unnest('{1on1_online,1on1_inperson,group,classroom}'::text[]) kind
      WHERE b.organization_id = o.id AND t.organization_id = o.id AND NOT EXISTS (SELECT FROM rate_cells c
        WHERE c.organization_id = o.id AND c.band_id IS NOT DISTINCT FROM b.id AND c.tutor_tier_id IS NOT DISTINCT FROM t.id
          AND c.session_kind = kind AND c.student_rate_cents > 0
          AND (c.tutor_pay_mode = 'flat') = (c.tutor_flat_rate_cents IS NOT NULL) AND (c.tutor_pay_mode = 'flat') = (c.tutor_pay_pct IS NULL))`,
  }),
)('has no %s', async (_, sql) => {
  expect(await schema.all(sql)).toEqual([]);
});

it('has payouts of sessions, of periods, and to a tutor who works in both organizations', async () => {
  const [counts] = await schema.all(`SELECT count(session_id)::integer AS sessions, count(*)::integer AS payouts,
    count(DISTINCT organization_id)::integer AS organizations, bool_or(is_group) AND bool_or(NOT is_group) AS kinds FROM payouts`);
  expect(counts).toMatchObject({ organizations: 2, kinds: true });
  expect(Number(counts!.sessions)).toBeGreaterThan(5);
  expect(Number(counts!.payouts) - Number(counts!.sessions)).toBeGreaterThan(20);
});
