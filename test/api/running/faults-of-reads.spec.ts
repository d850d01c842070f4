import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import sql from 'sql-template-tag';
import { DataSource } from 'typeorm';
import { Database } from '@app/database';
import { createFixtures, type Fixtures } from '../../support/data/fixtures.js';
import { onEveryConnection, organizationsLeft, POOL } from '../../support/database/api-pool.js';
import { waitsFor } from '../../support/database/lock-waits.js';
import { forgetKeyUsage } from '../../support/database/read-statements.js';
import { TestApi } from '../../support/http/api.js';
import { keyedReads, validPath } from '../../support/http/routes.js';

let api: TestApi;
let fixtures: Fixtures;

beforeAll(async () => {
  forgetKeyUsage();
  api = await TestApi.start({ DATABASE_POOL_SIZE: String(POOL), REQUEST_DEADLINE_SECONDS: '6' });
  fixtures = await createFixtures(api);
});

afterAll(async () => {
  await api.stop();
});

interface Reply {
  status: number;
  retryAfter: string | undefined;
  milliseconds: number;
}

async function timed(path: string): Promise<Reply> {
  const began = performance.now();
  const answer = await api.get(path, fixtures.a.key);
  return { status: answer.status, retryAfter: answer.get('Retry-After'), milliseconds: performance.now() - began };
}

/** Holds a lock that every read of homework waits for, until its connection is ended. */
async function lockHomework(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: api.database.adminUrl });
  await client.connect();
  await client.query('BEGIN; LOCK TABLE homework IN ACCESS EXCLUSIVE MODE');
  return client;
}

describe('a locked table', () => {
  it('gives every request a 503 before the lock is released, and leaves the pool complete', async () => {
    const lock = await lockHomework();
    const replies: Promise<Reply>[] = [];
    // A crowd at once, then a stream that finds the pool in every state.
    for (let n = 0; n < 30; n++) replies.push(timed('/v1/homework'));
    for (let n = 0; n < 60; n++) {
      await sleep(100);
      replies.push(timed('/v1/homework'));
    }
    const refused = await Promise.all(replies);
    await lock.end();
    expect((await timed('/v1/homework')).status).toBe(200);

    const longest = Math.max(...refused.map(({ milliseconds }) => milliseconds));
    console.log(`locked table: ${refused.length} replies, the last after ${Math.round(longest)} ms`);
    expect(refused.filter(({ status, retryAfter }) => status !== 503 || !/^[1-9]\d*$/.test(retryAfter ?? ''))).toEqual([]);
    const { total, idle, waiting } = api.app.get(Database).poolState;
    expect([total, idle, waiting]).toEqual([total, total, 0]);
    expect(await onEveryConnection(api, 'SELECT 1 AS one')).toHaveLength(POOL);
  }); // prettier-ignore

  it('that is released in time only delays the responses', async () => {
    const lock = await lockHomework();
    const replies = Array.from({ length: POOL }, () => timed('/v1/homework'));
    await vi.waitFor(async () => expect((await lock.query(waitsFor('homework'))).rowCount).toBeGreaterThan(0));
    await lock.end();
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });
});

describe('a connection of the API', () => {
  it('has its timeouts', async () => {
    const settings = await onEveryConnection<{ name: string; setting: string }>(
      api,
      `SELECT name, setting || coalesce(unit, '') AS setting FROM pg_settings WHERE name LIKE '%\\_timeout' AND context = 'user'`,
    );
    const ours = { statement_timeout: '5000ms', lock_timeout: '4000ms', idle_in_transaction_session_timeout: '10000ms', transaction_timeout: '15000ms' };
    for (const [name, value] of Object.entries(ours)) {
      expect(settings.filter((row) => row.name === name).map(({ setting }) => setting), name).toEqual(Array(POOL).fill(value));
    }
  }); // prettier-ignore

  it('uses the application’s role, which cannot bypass row-level security', async () => {
    const [role] = await onEveryConnection<object>(
      api,
      `SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = current_user`,
    );
    expect(role).toEqual({ rolsuper: false, rolbypassrls: false, rolcreaterole: false, rolcreatedb: false });
  });
});

describe('a read', () => {
  const tenant = () => ({ organizationId: fixtures.a.id });

  it('that writes fails with 25006, and nothing is written', async () => {
    const read = api.app
      .get(Database)
      .read(
        tenant(),
        sql`INSERT INTO subjects (id, organization_id, name) VALUES (gen_random_uuid(), ${fixtures.a.id}, 'smuggled')`,
      );
    await expect(read).rejects.toMatchObject({ code: '25006' });
    expect(await fixtures.make.query(`SELECT FROM subjects WHERE name = 'smuggled'`)).toEqual([]);
  });

  it('cannot make itself a write', async () => {
    const insert = sql`INSERT INTO subjects (id, organization_id, name) VALUES (gen_random_uuid(), ${fixtures.a.id}, 'smuggled')`;
    const statements = [sql`SELECT set_config('transaction_read_only', 'off', true)`, sql`SET TRANSACTION READ WRITE`];
    for (const statement of statements) {
      const read = api.app.get(Database).read(tenant(), statement, insert);
      await expect(read).rejects.toMatchObject({ code: '25001' });
    }
    expect(await fixtures.make.query(`SELECT FROM subjects WHERE name = 'smuggled'`)).toEqual([]);
  });

  it('returns the results of its statements in order, including empty and repeated ones', async () => {
    const db = api.app.get(Database);
    const statements = [
      sql`SELECT 1 AS one`,
      sql`SELECT WHERE false`,
      sql`SELECT 1 AS one`,
      sql`SELECT n, ${'x'} AS x FROM generate_series(2, 3) n`,
    ];
    for (let n = 0; n < POOL * 2; n++) {
      expect(await db.read(tenant(), ...statements)).toEqual([
        [{ one: 1 }],
        [],
        [{ one: 1 }],
        [
          { n: 2, x: 'x' },
          { n: 3, x: 'x' },
        ],
      ]);
    }
  });

  it('never gets the result of another statement with the same name', async () => {
    const [first, stranger] = [new Database(api.app.get(DataSource)), new Database(api.app.get(DataSource))];
    const all = (ask: () => Promise<unknown>) => Promise.allSettled(Array.from({ length: POOL * 4 }, ask));
    await all(() => first.read(tenant(), sql`SELECT 'ours' AS what`));
    // By now the stranger's first statement name belongs to another statement.
    const answers = await all(() => stranger.read(tenant(), sql`SELECT 'strange' AS what`));
    const refused = answers.filter((answer) => answer.status === 'rejected');
    expect(new Set(refused.map(({ reason }) => (reason as { code: string }).code))).toEqual(new Set(['42P05']));
    for (const answer of answers)
      if (answer.status === 'fulfilled') expect(answer.value).toEqual([[{ what: 'strange' }]]);
  });

  it('that failed when its statements were prepared works the next time', async () => {
    const db = api.app.get(Database);
    for (let n = 0; n < POOL * 4; n++) {
      const divide = db.read<[{ tenth: number }]>(
        tenant(),
        sql`SELECT 10 / ${n % 2}::int AS tenth`,
        sql`SELECT 'after'`,
      );
      if (n % 2 === 0) await expect(divide).rejects.toMatchObject({ code: '22012' });
      else expect((await divide)[0]).toEqual([{ tenth: 10 }]);
    }
    const { total, idle, waiting } = db.poolState;
    expect([idle, waiting]).toEqual([total, 0]);
  });

  it('of a changed table fails at most once per connection', async () => {
    await fixtures.make.query('CREATE TABLE changing AS SELECT 1 AS one; GRANT SELECT ON changing TO tutoring_app');
    const db = api.app.get(Database);
    const read = () => db.read(tenant(), sql`SELECT * FROM changing`);
    await Promise.all(Array.from({ length: POOL * 4 }, read));
    await fixtures.make.query('ALTER TABLE changing ADD COLUMN two integer DEFAULT 2');
    const codes = new Set<unknown>();
    for (let n = 0; n < POOL; n++) await read().catch((error: { code: unknown }) => codes.add(error.code));
    expect([...codes]).toEqual(['0A000']);
    for (let n = 0; n < POOL * 4; n++) expect(await read()).toEqual([[{ one: 1, two: 2 }]]);
    await fixtures.make.query('DROP TABLE changing');
  });

  it('with a value that cannot be serialized fails alone and loses no connection', async () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const db = api.app.get(Database);
    for (let n = 0; n < POOL * 2; n++) {
      await expect(db.read(tenant(), sql`SELECT ${circular as never}::json`)).rejects.toThrow(/circular/);
    }
    expect(await db.read(tenant(), sql`SELECT 1 AS one`)).toEqual([[{ one: 1 }]]);
    const { total, idle, waiting } = db.poolState;
    expect([idle, waiting]).toEqual([total, 0]);
  });

  it('of a value that cannot be parsed fails alone', async () => {
    const POINT = 600 as never;
    pg.types.setTypeParser(POINT, () => {
      throw new Error('Not a value of ours');
    });
    const db = api.app.get(Database);
    for (let n = 0; n < POOL * 2; n++) {
      await expect(db.read(tenant(), sql`SELECT point(1, 2)`)).rejects.toThrow('Not a value of ours');
    }
    expect(await db.read(tenant(), sql`SELECT 1 AS one`)).toEqual([[{ one: 1 }]]);
    expect(await organizationsLeft(api)).toEqual([]);
  });

  it('that writes during a GET fails with 25006, which the response does not mention', async () => {
    await fixtures.make.query(`
      CREATE FUNCTION spoil() RETURNS text LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO worker_heartbeats VALUES ('smuggled', now()); RETURN 'x'; END $$;
      ALTER TABLE homework RENAME TO homework_table;
      CREATE VIEW homework AS SELECT id, assigned_by, spoil() AS title, description, homework_type, scope,
        classroom_id, group_id, student_id, due_date, files, organization_id, created_at FROM homework_table;
      GRANT SELECT ON homework TO tutoring_app`);
    const answer = await api.get('/v1/homework', fixtures.a.key);
    await fixtures.make.query('DROP VIEW homework; DROP FUNCTION spoil; ALTER TABLE homework_table RENAME TO homework');
    expect(answer.status).toBe(500);
    expect(answer.text).not.toMatch(/25006|read-only|INSERT/);
    expect(api.logged.filter((line) => line.includes('"25006"'))).toHaveLength(1);
    expect(await fixtures.make.query(`SELECT FROM worker_heartbeats WHERE worker_id = 'smuggled'`)).toEqual([]);
    expect((await api.get('/v1/homework', fixtures.a.key)).status).toBe(200);
  });

  it('is what every GET uses: none opens a transaction that could write', async () => {
    const db = api.app.get(Database);
    const [read, transaction] = [vi.spyOn(db, 'read'), vi.spyOn(db, 'transaction')];
    for (const [index, route] of keyedReads(api).entries()) {
      expect((await api.get(validPath(route, fixtures.a), fixtures.a.key)).status).toBe(200);
      expect([route.path, read.mock.calls.length]).toEqual([route.path, index + 1]);
      expect(read.mock.lastCall![0]).toMatchObject({ organizationId: fixtures.a.id });
    }
    expect(transaction).not.toHaveBeenCalled();
    read.mockRestore();
    transaction.mockRestore();
  });
});
