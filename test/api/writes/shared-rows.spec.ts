import { SqlWatch } from '../../support/database/sql-watch.js';
import { isUpload, validWrites, writesOf } from '../../support/http/record-for.js';
import { TenancySweep } from '../../support/http/tenancy-sweep.js';

/** What waits for others, or could: also a row that only this organization changes. */
const WAITS = /pg_advisory_xact_lock|FOR (NO KEY )?UPDATE|^\s*(WITH .*)?(UPDATE|DELETE)\b/s;

/** What shows the login or no longer does, of people who are held alone. It locks it too. */
const OF_THE_LOGIN = /^UPDATE users |^UPDATE (members|parents) SET status = 'archived'|DELETE FROM parent_students/;

/**
 * Rows of `users` belong to the platform. Whoever has locked one waits for nothing any more, so that no organization waits for
 * another one's transaction.
 */
it('no write of the route table waits for anything once it has locked a row of users', async () => {
  const sweep = await TenancySweep.open();
  const { make, a: school } = sweep.fixtures;
  const watch = SqlWatch.start();
  try {
    await make.query(`
      CREATE OR REPLACE FUNCTION lock_people(ids uuid[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
      BEGIN
        RAISE NOTICE '%', 'locked';
        PERFORM 1 FROM users WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
      END $$`);
    await make.query(`
      CREATE FUNCTION notice_lock() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'locked'; RETURN NULL; END $$`);
    await make.query('CREATE TRIGGER notice_lock BEFORE UPDATE ON users FOR EACH STATEMENT EXECUTE FUNCTION notice_lock()');
    const wrong: string[] = [];
    let locking = 0;
    for (const write of await validWrites(
      writesOf(sweep.api).filter((route) => !isUpload(route)),
      make,
      school,
    )) {
      watch.transactions.length = 0;
      const { status, text } = await sweep.write(write, school);
      if (status >= 300) wrong.push(`${write.operation}: ${status} ${text}`);
      for (const statements of watch.transactions) {
        const locked = statements.findIndex((statement) => statement === 'NOTICE locked');
        if (locked === -1) continue;
        locking++;
        // The one that locked stands behind its notice.
        const [, ...after] = statements.slice(locked).filter((statement) => !statement.startsWith('NOTICE'));
        const later = after.filter((statement) => WAITS.test(statement) && !OF_THE_LOGIN.test(statement));
        for (const statement of later)
          wrong.push(`${write.operation} ${JSON.stringify(write.body)}: ${statement.replace(/\s+/g, ' ').slice(0, 150)}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(locking).toBeGreaterThan(10);
  } finally {
    watch.stop();
    await sweep.stop();
  }
});
