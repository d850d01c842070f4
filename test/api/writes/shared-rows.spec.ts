import { BOOKING_REQUEST, CLAIM, INVOICE, LEAD, SESSION, VALUES } from '@app/database';
import { SqlWatch } from '../../support/database/sql-watch.js';
import { isUpload, validWrites, writesOf } from '../../support/http/record-for.js';
import { TenancySweep } from '../../support/http/tenancy-sweep.js';
import { fixture } from '../../support/process/fixture.js';

/** What waits for others, or could: also a row that only this organization changes. */
const WAITS = /pg_advisory_xact_lock|FOR (NO KEY )?UPDATE|^\s*(WITH .*)?(UPDATE|DELETE)\b/s;

/** What shows the login or no longer does, of people who are held alone. It locks it too. */
const OF_THE_LOGIN = /^UPDATE users |^UPDATE (members|parents) SET status = 'archived'|DELETE FROM parent_students/;

/** The tables whose rows have states, and those whose rows are taken back. The inbox is the portal’s. */
const STATES = [SESSION, INVOICE, CLAIM, LEAD, BOOKING_REQUEST].map(({ values }) => values.join());
const ACTED_ON = [
  ...Object.entries(VALUES).flatMap(([table, columns]) => ('status' in columns && STATES.includes(columns.status.join()) ? [table] : [])),
  'adjustments', 'payments', 'payouts',
]; // prettier-ignore

/** Sends every write. @returns the statements of each transaction, with the write that sent them */
async function walk() {
  const { api, fixtures } = sweep;
  const writes = writesOf(api).filter((route) => !isUpload(route));
  const sent: { by: string; statements: string[] }[] = [];
  const watch = SqlWatch.start();
  try {
    for (const write of await validWrites(writes, fixtures.make, fixtures.a)) {
      watch.transactions.length = 0;
      const { status, text } = await sweep.write(write, fixtures.a);
      const by = `${write.operation} ${JSON.stringify(write.body)}`;
      expect([by, status < 300, text]).toEqual([by, true, text]);
      sent.push(...watch.transactions.map((statements) => ({ by, statements: statements.map((one) => one.replace(/\s+/g, ' ')) })));
    }
  } finally {
    watch.stop();
  }
  return sent;
}

const sweep = await fixture(TenancySweep.open());
const { make } = sweep.fixtures;
await make.query(`
  CREATE OR REPLACE FUNCTION lock_people(ids uuid[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  BEGIN
    RAISE NOTICE '%', 'locked';
    PERFORM 1 FROM users WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
  END $$`);
await make.query(`
  CREATE FUNCTION notice_lock() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'locked'; RETURN NULL; END $$`);
await make.query('CREATE TRIGGER notice_lock BEFORE UPDATE ON users FOR EACH STATEMENT EXECUTE FUNCTION notice_lock()');
const transactions = await walk();

/**
 * Rows of `users` belong to the platform. Whoever has locked one waits for nothing any more, so that no organization waits for
 * another one's transaction.
 */
it('no write of the route table waits for anything once it has locked a row of users', () => {
  const locking = transactions.filter(({ statements }) => statements.includes('NOTICE locked'));
  const wrong = locking.flatMap(({ by, statements }) => {
    // The one that locked stands behind its notice.
    const [, ...after] = statements.slice(statements.indexOf('NOTICE locked')).filter((one) => !one.startsWith('NOTICE'));
    return after.filter((one) => WAITS.test(one) && !OF_THE_LOGIN.test(one)).map((one) => `${by}: ${one.slice(0, 150)}`);
  });
  expect(wrong).toEqual([]);
  expect(locking.length).toBeGreaterThan(10);
});

/** Without the lock, of two at once both find the same state, and both act on it. What a statement computes itself is another matter. */
it('whatever changes the state of a record has locked its row before', () => {
  const changes = transactions.flatMap(({ by, statements }) =>
    statements.flatMap((one, index) => {
      const [, table] = /UPDATE (\w+)(?: \w+)? SET (?:(?!WHERE).)*\b(?:status|voided|taken_back) = (?!CASE)/.exec(one) ?? [];
      if (table === undefined || !ACTED_ON.includes(table)) return [];
      const locks = new RegExp(`\\b(FROM|JOIN) ${table}\\b.* FOR (NO KEY )?UPDATE`);
      return [{ table, told: `${by}: ${one.slice(0, 150)}`, locked: statements.slice(0, index).some((before) => locks.test(before)) }];
    }),
  );
  expect(changes.flatMap(({ told, locked }) => (locked ? [] : [told]))).toEqual([]);
  expect([...new Set(changes.map(({ table }) => table))].sort()).toEqual(ACTED_ON.sort());
});
