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
