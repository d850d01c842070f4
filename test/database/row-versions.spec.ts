import { MoneyFixture } from '../support/data/money-fixture.js';
import { TestApi } from '../support/http/api.js';
import { fixture } from '../support/process/fixture.js';

/** Columns of amounts, and the indexes that depend on them. */
const INDEXED_AMOUNTS = `SELECT DISTINCT i.relname || ' ' || a.attname AS name FROM pg_depend d
  JOIN pg_class i ON i.oid = d.objid AND i.relkind = 'i'
  JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
  WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND a.attname LIKE '%\\_cents'`;

/** Why they may be: an update that changes what any index has writes to nearly all indexes of the row. */
const MAY_BE: Record<string, string> = {
  'adjustments_earned amount_cents': 'it does not change',
  'payouts_earned amount_cents': 'it does not change',
  'payments_parent_credit credit_cents': 'few payments have credit; whose money is applied at once has none from the start',
  'payments_student_credit credit_cents': 'as for parents',
  'sessions_earned tutor_pay_cents': 'it is written with the status, which is indexed anyway',
};

const api = await fixture(TestApi.start());
const at = await MoneyFixture.open(api);

it('amounts are in no index, unless it is said why', async () => {
  const found = await api.make.query<{ name: string }>(INDEXED_AMOUNTS);
  expect(found.map(({ name }) => name).sort()).toEqual(Object.keys(MAY_BE).sort());
});

/** Indexes by a reference that may be null, in which rows without one are, too. */
const NULLS_INDEXED = `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[1] AND a.atttypid = 'uuid'::regtype AND NOT a.attnotnull
  WHERE c.relnamespace = 'public'::regnamespace AND NOT i.indisunique AND NOT i.indisexclusion AND i.indnkeyatts > 1
    AND coalesce(pg_get_expr(i.indpred, i.indrelid), '') NOT LIKE '%' || a.attname || ' IS NOT NULL%' ORDER BY 1`;

it('an index by a reference has no rows without one, unless these are looked for, or few', async () => {
  const found = await api.make.query<{ name: string }>(NULLS_INDEXED);
  expect(found.map(({ name }) => name)).toEqual([
    ...['outbox_webhooks_endpoint', 'payments_parent_credit', 'payments_student_credit'],
    'session_series_tutor_keyset',
    ...['sessions_calendar', 'sessions_earned', 'sessions_tutor_keyset'],
  ]);
});

/** Versions of rows that the tables have got, all of which are still on the first page. */
async function versions(): Promise<number[]> {
  const most = (table: string) => `coalesce((SELECT max((ctid::text::point)[1])::integer FROM ${table}), 0)`;
  const [row] = await api.make.query<{ all: number[] }>(
    `SELECT ARRAY[${['sessions', 'lesson_participants', 'invoices', 'payments'].map(most).join()}] AS all`,
  );
  return row!.all;
}

async function added(write: () => Promise<unknown>): Promise<number[]> {
  const before = await versions();
  await write();
  return (await versions()).map((count, index) => count - before[index]!);
}

it('a completed lesson and a payment make one version of each row; a draft that begins, one more for its sum', async () => {
  const [student] = at.students;
  const lesson = await at.lesson(60);
  expect(await added(() => at.complete(lesson.id))).toEqual([1, 1, 2, 0]);
  const { id } = await at.draft(student);
  expect(await added(() => at.finalize(id))).toEqual([0, 0, 1, 0]);
  expect(await added(() => at.paid(student, 100))).toEqual([0, 0, 1, 1]);
  expect(await added(() => at.paid(student, 10_000))).toEqual([0, 0, 1, 1]);
  expect(await at.faults()).toEqual([]);
});
