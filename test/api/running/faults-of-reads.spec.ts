import sql from 'sql-template-tag';
import { DataSource } from 'typeorm';
import { Database } from '@app/database';
import { createFixtures } from '../../support/data/fixtures.js';
import { onEveryConnection, POOL } from '../../support/database/api-pool.js';
import { forgetKeyUsage } from '../../support/database/read-statements.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

forgetKeyUsage();
const api = await fixture(TestApi.start({ DATABASE_POOL_SIZE: String(POOL) }));
const fixtures = await createFixtures(api);

/** A connection that a failure ended may still be leaving the pool. */
const poolIsWhole = () =>
  vi.waitFor(() => {
    const { total, idle, waiting } = api.app.get(Database).poolState;
    expect([idle, waiting]).toEqual([total, 0]);
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

  it('cannot make itself a write', async () => {
    const insert = sql`INSERT INTO subjects (id, organization_id, name) VALUES (gen_random_uuid(), ${fixtures.a.id}, 'smuggled')`;
    for (const statement of [sql`SELECT set_config('transaction_read_only', 'off', true)`, sql`SET TRANSACTION READ WRITE`]) {
      const read = api.app.get(Database).read(tenant(), statement, insert);
      await expect(read).rejects.toMatchObject({ code: '25001' });
    }
    expect(await fixtures.make.query(`SELECT FROM subjects WHERE name = 'smuggled'`)).toEqual([]);
  });

  it('never gets the result of another statement with the same name', async () => {
    const [first, stranger] = [new Database(api.app.get(DataSource)), new Database(api.app.get(DataSource))];
    const all = (ask: () => Promise<unknown>) => Promise.allSettled(Array.from({ length: POOL * 4 }, ask));
    await all(() => first.read(tenant(), sql`SELECT 'ours' AS what`));
    // By now the stranger's first statement name belongs to another statement.
    const answers = await all(() => stranger.read(tenant(), sql`SELECT 'strange' AS what`));
    const refused = answers.filter((answer) => answer.status === 'rejected');
    expect(new Set(refused.map(({ reason }) => (reason as { code: string }).code))).toEqual(new Set(['42P05']));
    for (const answer of answers) if (answer.status === 'fulfilled') expect(answer.value).toEqual([[{ what: 'strange' }]]);
  });

  it('that failed when its statements were prepared works the next time', async () => {
    const db = api.app.get(Database);
    for (let n = 0; n < POOL * 4; n++) {
      const divide = db.read<[{ tenth: number }]>(tenant(), sql`SELECT 10 / ${n % 2}::int AS tenth`, sql`SELECT 'after'`);
      if (n % 2 === 0) await expect(divide).rejects.toMatchObject({ code: '22012' });
      else expect((await divide)[0]).toEqual([{ tenth: 10 }]);
    }
    await poolIsWhole();
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
});
