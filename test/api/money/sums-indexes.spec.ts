import sql, { Sql } from 'sql-template-tag';
import { Database } from '@app/database';
import { balanceOf, paymentsOf, studentsOf } from '../../../apps/portal/src/money/families.queries.js';
import { MoneyFixture } from '../../support/data/money-fixture.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

const ROWS = 8_000;
const LONG = /Seq Scan on (sessions|payouts|adjustments|invoices|payments)/;

const api = await fixture(TestApi.start());
const at = await MoneyFixture.open(api);
const { school, students, t1, t2 } = at.calendar;

/** Students of whom each has a few rows, and who have many together. */
const OTHERS = 400;

const PEOPLE = [
  `INSERT INTO users (id, email, email_normalized, first_name, last_name)
   SELECT md5($1::text || n)::uuid, n || '@' || $1 || '.example', n || '@' || $1 || '.example', 'Mia', 'Nguyen' FROM generate_series(1, ${OTHERS}) n`,
  `INSERT INTO members (id, organization_id, user_id, role)
   SELECT gen_random_uuid(), $1::uuid, md5($1::text || n)::uuid, 'student' FROM generate_series(1, ${OTHERS}) n`,
];

/** $1 is the organization, $2 the tutor, $3 the number of rows, and $4 their student, or null for the others. */
const student = `coalesce($4::uuid, md5($1::text || 1 + n % ${OTHERS})::uuid)`;
const HISTORY = [
  `INSERT INTO sessions (id, organization_id, status, tutor_id, student_id, starts_at, ends_at, duration_minutes, tutor_pay_cents, overlap_allowed)
   SELECT gen_random_uuid(), $1::uuid, 'completed', $2::uuid, ${student}, start, start + interval '1 hour', 60, 5000, true
   FROM generate_series(1, $3::int) n, LATERAL (SELECT now() - n * interval '2 hours' - interval '40 days' AS start) s`,
  `INSERT INTO payouts (id, organization_id, tutor_id, amount_cents, currency, paid_at, counts_at)
   SELECT gen_random_uuid(), organization_id, tutor_id, 5000, 'AUD', starts_at, now() FROM sessions WHERE organization_id = $1 AND tutor_id = $2`,
  `INSERT INTO adjustments (id, organization_id, tutor_id, period_start, period_end, amount_cents)
   SELECT gen_random_uuid(), organization_id, tutor_id, starts_at, starts_at, 100 FROM sessions WHERE organization_id = $1 AND tutor_id = $2`,
  `INSERT INTO invoices (id, organization_id, invoice_number, student_id, status, amount_due_cents, amount_paid_cents, currency, paid_at)
   SELECT gen_random_uuid(), organization_id, id, student_id, 'paid', 8000, 8000, 'AUD', now() FROM sessions
   WHERE organization_id = $1 AND tutor_id = $2`,
  `INSERT INTO payments (id, organization_id, student_id, amount_cents, currency, payment_type, status, created_at, recorded, credit_cents)
   SELECT gen_random_uuid(), organization_id, student_id, 8000, 'AUD', 'cash', 'succeeded', now() - interval '8 days', true, 10 FROM sessions
   WHERE organization_id = $1 AND tutor_id = $2`,
];

beforeAll(async () => {
  const { make } = api;
  for (const statement of PEOPLE) await make.query(statement, [school]);
  for (const values of [
    [school, t1, 5, students[0]],
    [school, t2, ROWS, null],
  ]) {
    // prettier-ignore
    for (const statement of HISTORY) await make.query(statement, values.slice(0, statement.includes('$4') ? 4 : 2));
  }
  await make.query('VACUUM ANALYZE');
});

const db = api.app.get(Database);

/** The statements of this organization that a request runs. */
async function askedBy(name: 'read' | 'query', ask: () => Promise<{ status: number }>): Promise<Sql[]> {
  const spy = vi.spyOn(db, name as 'read');
  expect((await ask()).status).toBeLessThan(300);
  const statements = spy.mock.calls.flat().filter((one): one is Sql => one instanceof Sql);
  spy.mockRestore();
  return statements;
}

async function planOf(statements: Sql[]): Promise<string> {
  const explained = statements.map((statement) => sql`EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ${statement}`);
  const plans = await db.read<Record<string, string>[]>({ organizationId: school }, ...explained);
  return plans.flat().map((line) => line['QUERY PLAN']).join('\n'); // prettier-ignore
}

/** The most rows that a step of a plan read or threw away. */
const mostRows = (plan: string): number =>
  Math.max(...[...plan.matchAll(/rows=(\d+)|Removed by (?:Filter|Index Recheck): (\d+)/g)].map(([, read, thrown]) => Number(read ?? thrown)));

const get = (path: string) => askedBy('read', () => at.send('get', path));
const payer = { as: 'parent', id: at.parent } as const;
const children = studentsOf(school, payer);

it.each<[string, () => Promise<Sql[]>]>([
  ['the balance of a family', () => get(`/v1/parents/${at.parent}/balance`)],
  ['the earnings of a tutor', () => get(`/v1/tutors/${t1}/earnings`)],
  ['the earnings of a month, of a long history', () => get(`/v1/tutors/${t2}/earnings?from=2026-01-01&to=2026-01-31`)],
  ['the summary of the organization', () => get('/v1/reports/summary')],
  ['the balance of a family in the portal', () => Promise.resolve([balanceOf(school, children, payer.id)])],
  ['the newest payments of a family', () => Promise.resolve([paymentsOf(school, children, payer.id, 5)])],
])('%s: read by an index, whatever others have', async (_, asked) => {
  const plan = await planOf(await asked());
  expect(plan).not.toMatch(LONG);
  expect([plan, mostRows(plan) <= 1_000]).toEqual([plan, true]);
});

it('a payment finds credit and debt by an index', async () => {
  const asked = await askedBy('query', () => at.pay({ student_id: students[0], amount_cents: 100 }));
  const locking = asked.filter(({ text }) => text.includes('FOR UPDATE'));
  expect(locking).toHaveLength(2);
  const plan = await db.transaction({ organizationId: school }, async () => {
    const plans = await Promise.all(locking.map((statement) => db.query<Record<string, string>>(sql`EXPLAIN ${statement}`)));
    return plans.flat().map((line) => line['QUERY PLAN']).join('\n'); // prettier-ignore
  });
  expect(plan).toContain('payments_student_credit');
  expect(plan).not.toMatch(LONG);
});

it('a look at a whole long history is none of these', async () => {
  expect(mostRows(await planOf(await get(`/v1/tutors/${t2}/earnings`)))).toBe(ROWS);
});
