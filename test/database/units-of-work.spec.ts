import sql, { raw } from 'sql-template-tag';
import { connect, Database, Deadline, DeadlineExceeded, isUnavailable, lockNumber, RetryTransaction } from '@app/database';
import { createTestDatabase } from '../support/database/database.js';

const database = await createTestDatabase();
const source = await connect({ url: database.ownerUrl, poolSize: 3, applicationName: 'tutoring tests', limited: true });
const side = await connect({ url: database.ownerUrl, poolSize: 1, applicationName: 'tutoring tests' });
const db = new Database(source, 60_000);
const organizationId = '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30';

beforeAll(() => source.query('CREATE TABLE notes (note text)'));
beforeEach(() => source.query('TRUNCATE notes'));
afterAll(async () => {
  await source.destroy();
  await side.destroy();
  await database.drop();
});

const note = (text: string) => db.query(sql`INSERT INTO notes VALUES (${text})`);
const notes = async () => (await source.query<{ note: string }[]>('SELECT note FROM notes')).map((row) => row.note);
const setting = (name: string) => sql`SELECT current_setting(${name}) AS value`;
const valueOf = async (name: string) => (await db.query<{ value: string }>(setting(name)))[0]!.value;

describe('a unit of work', () => {
  it('takes back its effects when it fails, also those outside the database', async () => {
    const undone: string[] = [];
    const failed = db.transaction({ organizationId }, async () => {
      await note('lost');
      db.onRollback(() => Promise.reject(new Error('cannot be undone')));
      db.onRollback(() => Promise.resolve(void undone.push('file')));
      throw new Error('on purpose');
    });
    await expect(failed).rejects.toThrow('on purpose');
    expect([await notes(), undone]).toEqual([[], ['file']]);
  });

  it('keeps them when it succeeds', async () => {
    const undone: string[] = [];
    const result = await db.transaction({ organizationId }, async () => {
      await note('kept');
      db.onRollback(() => Promise.resolve(void undone.push('file')));
      return 'result';
    });
    expect([result, await notes(), undone]).toEqual(['result', ['kept'], []]);
  });

  it.each([
    ['RetryTransaction', () => Promise.reject(new RetryTransaction())],
    ['a deadlock', () => db.query(sql`DO $$ BEGIN RAISE 'x' USING ERRCODE = '40P01'; END $$`)],
    ['a serialization failure', () => db.query(sql`DO $$ BEGIN RAISE 'x' USING ERRCODE = '40001'; END $$`)],
  ])('runs again after %s, at most ten times, and only the last run counts', async (_, fail) => {
    for (const failures of [2, 9, 10]) {
      await source.query('TRUNCATE notes');
      let runs = 0;
      const done = await db
        .transaction({ organizationId }, async () => {
          await note(`run ${++runs}`);
          if (runs <= failures) await fail();
          return true;
        })
        .catch((error: unknown) => (isUnavailable(error) ? 'unavailable' : error));
      const expected = failures < 10 ? [true, failures + 1, [`run ${runs}`]] : ['unavailable', 10, []];
      expect([done, runs, await notes()]).toEqual(expected);
    }
  });

  it('does not run again after another error', async () => {
    let runs = 0;
    const failed = db.transaction({ organizationId }, () => db.query(sql`SELECT ${++runs}::int / 0`));
    await expect(failed).rejects.toMatchObject({ code: '22012' });
    expect(runs).toBe(1);
  });

  it('does not begin if its organization cannot be set', async () => {
    const failed = db.transaction({ organizationId: '\0' }, () => note('nobody’s'));
    await expect(failed).rejects.toMatchObject({ code: '22021' });
    expect(await notes()).toEqual([]);
  });

  it('takes no statement once its work has ended', async () => {
    let late: Promise<unknown> = Promise.resolve();
    const forgotten = async () => {
      await note('first');
      await new Promise((resolve) => setTimeout(resolve, 50));
      await note('late');
    };
    await db.transaction({ organizationId }, async () => {
      late = forgotten();
      late.catch(() => undefined);
      await note('second');
    });
    await expect(late).rejects.toThrow('has ended');
    expect(await notes()).toEqual(['first', 'second']);
  });

  it('runs again on another connection when a table has changed since its statements were prepared', async () => {
    await source.query('CREATE TABLE changing AS SELECT 1 AS one');
    const all = () => db.transaction({ organizationId }, () => db.query(sql`SELECT * FROM changing`));
    await Promise.all([all(), all()]);
    await source.query('ALTER TABLE changing ADD COLUMN two integer DEFAULT 2');
    for (let n = 0; n < 3; n++) expect(await all()).toEqual([{ one: 1, two: 2 }]);
    await source.query('DROP TABLE changing');
  });

  it('prepares only so many statements, and runs all', async () => {
    const prepared = sql`SELECT count(*)::integer AS count FROM pg_prepared_statements`;
    const count = await db.transaction({ organizationId }, async () => {
      for (let n = 0; n < 600; n++) expect(await db.query(sql`SELECT ${n}::integer AS ${raw(`"n${n}"`)}`)).toEqual([{ [`n${n}`]: n }]);
      return (await db.query<{ count: number }>(prepared))[0]!.count;
    });
    expect(count).toBeGreaterThan(450);
    expect(count).toBeLessThan(510);
  });

  it('counts the rows that a statement has written, and returns those that it names', async () => {
    await db.transaction({ organizationId }, async () => {
      await note('one');
      expect(await db.count(sql`INSERT INTO notes SELECT unnest(ARRAY['two', 'three'])`)).toBe(2);
      expect(await db.query(sql`UPDATE notes SET note = 'none' WHERE note = 'four' RETURNING note`)).toEqual([]);
      expect(await db.query(sql`UPDATE notes SET note = 'four' WHERE note = 'one' RETURNING note`)).toEqual([{ note: 'four' }]);
    });
  });

  it('does not nest, and queries need one', async () => {
    const nested = db.transaction({ organizationId }, () => db.transaction({ organizationId }, () => db.query(sql`SELECT 1`)));
    await expect(nested).rejects.toThrow('do not nest');
    await expect(db.query(sql`SELECT 1`)).rejects.toThrow('No transaction is open');
    expect(() => db.onRollback(() => Promise.resolve())).toThrow('No transaction is open');
  });

  it('works for its organization, and for the platform’s blog only on demand', async () => {
    for (const platformBlog of [undefined, false, true]) {
      const tenant = { organizationId, ...(platformBlog !== undefined && { platformBlog }) };
      const names = ['app.organization_id', 'app.platform_blog'];
      const written = await db.transaction(tenant, () => Promise.all(names.map(valueOf)));
      const read = await db.read<{ value: string }[]>(tenant, ...names.map(setting));
      const expected = [organizationId, platformBlog ? 'on' : 'off'];
      expect([written, read.map(([row]) => row!.value)]).toEqual([expected, expected]);
    }
  });
});

describe('the first error of a transaction', () => {
  const fail = (state: string) => db.query(sql`DO ${raw(`$$ BEGIN RAISE 'first' USING ERRCODE = '${state}'; END $$`)}`);
  const later = async (work: () => Promise<unknown>) => {
    await Promise.resolve();
    return work();
  };

  const rethrown = async (error: unknown) => {
    await Promise.resolve();
    throw error;
  };

  it.each<[string, () => Promise<unknown>]>([
    ['is sent first', () => Promise.all([later(() => fail('55P03')), later(() => note('second'))])],
    ['is rejected last', () => Promise.all([fail('55P03').catch(rethrown), note('second')])],
    ['is swallowed', () => fail('55P03').catch(() => null)],
    ['is swallowed, and the next is not', () => fail('55P03').catch(() => note('second'))],
  ])('is the one that is told, though it %s', async (_, work) => {
    await expect(db.transaction({ organizationId }, work)).rejects.toMatchObject({ code: '55P03', message: 'first' });
    expect(await notes()).toEqual([]);
  });

  it('runs the work again if it is a deadlock, whatever is reported beside it', async () => {
    let runs = 0;
    await db.transaction({ organizationId }, () => Promise.all([runs++ === 0 ? later(() => fail('40P01')) : null, later(() => note('second'))]));
    expect([runs, await notes()]).toEqual([2, ['second']]);
  });

  it('gives way to what the work makes of it', async () => {
    const work = () => fail('23503').catch(() => Promise.reject(new Error('in use')));
    await expect(db.transaction({ organizationId }, work)).rejects.toThrow('in use');
  });

  it('undoes what was done outside, if it comes with the commit', async () => {
    await source.query('CREATE TABLE IF NOT EXISTS pairs (id integer PRIMARY KEY, other integer REFERENCES pairs DEFERRABLE INITIALLY DEFERRED)');
    const undone: string[] = [];
    const failed = db.transaction({ organizationId }, async () => {
      db.onRollback(() => Promise.resolve(void undone.push('file')));
      await db.query(sql`INSERT INTO pairs VALUES (1, 2)`);
    });
    await expect(failed).rejects.toMatchObject({ code: '23503' });
    expect(undone).toEqual(['file']);
  });
});

describe('people who are held', () => {
  it('are used by many, and ended by one, who comes before later users', async () => {
    const order: string[] = [];
    const [held, release] = [Promise.withResolvers(), Promise.withResolvers()];
    const hold = (name: string, uses: string[], ends: string[] = []) =>
      db.transaction({ organizationId }, async () => {
        await db.lockPeople(organizationId, uses, ends);
        order.push(name);
        if (name !== 'first') return;
        held.resolve(null);
        await release.promise;
      });
    const waiting = (number: number) =>
      vi.waitFor(async () => {
        const query = `SELECT count(*)::integer AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
        expect((await side.query<{ n: number }[]>(query))[0]!.n).toBe(number);
      });
    const first = hold('first', ['a', 'b']);
    await held.promise;
    await hold('beside', ['b']);
    const end = hold('end', ['b'], ['a', 'a']);
    await waiting(1);
    const later = hold('later', ['a']);
    await waiting(2);
    release.resolve(null);
    await Promise.all([first, end, later]);
    expect(order).toEqual(['first', 'beside', 'end', 'later']);
  });
});

describe('a lock', () => {
  /** Whether another session could take the lock with this name. */
  const isFree = async (name: string) => {
    const take = 'SELECT pg_try_advisory_xact_lock($1) AS free';
    return (await source.query<{ free: boolean }[]>(take, [lockNumber(name)]))[0]!.free;
  };

  it('is held until the end of the transaction, by one at a time; others do not wait for it', async () => {
    await db.transaction({ organizationId }, async () => {
      await db.lock('mine');
      await db.lock('mine');
      expect([await isFree('mine'), await isFree('yours'), await isFree('')]).toEqual([false, true, true]);
    });
    expect(await isFree('mine')).toBe(true);
  });

  it('has a number that depends on the whole name, of 64 bits', () => {
    expect(lockNumber('mail of a')).toBe(lockNumber('mail of a'));
    // From `printf abc | sha256sum`: ba7816bf8f01cfea…
    expect(BigInt.asUintN(64, BigInt(lockNumber('abc'))).toString(16)).toBe('ba7816bf8f01cfea');
    const names = Array.from({ length: 200_000 }, (_, index) => `["organization","POST /v1/invites","${index}"]`);
    const numbers = names.map((name) => BigInt(lockNumber(name)));
    expect(new Set(numbers).size).toBe(names.length);
    // With 32 bits, some would collide.
    expect(new Set(numbers.map((number) => BigInt.asUintN(32, number))).size).toBeLessThan(names.length);
  });
});

describe('a deadline', () => {
  const late = new Deadline(-1);

  it('that has passed refuses every access', async () => {
    let runs = 0;
    const work = () => Promise.resolve(++runs);
    await expect(db.transaction({ organizationId, deadline: late }, work)).rejects.toThrow(DeadlineExceeded);
    await expect(late.within(() => db.transaction({ organizationId }, work))).rejects.toThrow(DeadlineExceeded);
    await expect(db.read({ organizationId, deadline: late }, sql`SELECT 1`)).rejects.toThrow(DeadlineExceeded);
    await expect(db.lookUp(sql`SELECT 1`, late)).rejects.toThrow(DeadlineExceeded);
    expect(runs).toBe(0);
    // An access's own deadline comes first.
    await expect(late.within(() => db.lookUp(sql`SELECT 1 AS one`, new Deadline(60_000)))).resolves.toEqual([{ one: 1 }]);
  });

  it('ends a statement that would take longer, and the next access works', async () => {
    const access = (deadline: Deadline) => [
      () => db.read({ organizationId, deadline }, sql`SELECT pg_sleep(600)`),
      () => db.transaction({ organizationId, deadline }, () => db.query(sql`SELECT pg_sleep(600)`)),
      () => db.lookUp(sql`SELECT pg_sleep(600)`, deadline),
    ];
    for (const index of [0, 1, 2]) {
      const error = await access(new Deadline(500))[index]!().catch((thrown: unknown) => thrown);
      expect(isUnavailable(error)).toBe(true);
      expect(await db.lookUp(sql`SELECT 1 AS one`)).toEqual([{ one: 1 }]);
    }
  });

  it('limits statements and locks to the time left, and they are limited without one too', async () => {
    const limits = (milliseconds: number) =>
      db.transaction({ organizationId, deadline: new Deadline(milliseconds) }, async () => {
        const [statement, lock] = await Promise.all([valueOf('statement_timeout'), valueOf('lock_timeout')]);
        return [statement, lock].map((text) => Number.parseFloat(text) * (text.endsWith('ms') ? 1 : 1_000));
      });
    expect(await limits(60_000)).toEqual([5_000, 4_000]);
    const [statement, lock] = await limits(5_000);
    expect(statement).toBeLessThanOrEqual(4_750);
    expect(lock).toBe(Math.ceil(statement! * 0.8));
    const [read] = await db.read<[{ value: string }]>({ organizationId, deadline: new Deadline(5_000) }, setting('statement_timeout')); // prettier-ignore
    expect(read[0]!.value).toMatch(/^\d{1,4}ms$|^[1-4]s$/);
  });
});
