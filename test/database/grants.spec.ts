import { connect, FUNCTION_GRANTS, migrate, type ProcessRole, rightsOf, roleFaults, TABLE_GRANTS } from '@app/database';
import { createTestDatabase } from '../support/database/database.js';
import { Factories } from '../support/data/factories.js';
import { fixture } from '../support/process/fixture.js';

const ROLES = { api: 'tutoring_app', worker: 'tutoring_worker', portal: 'tutoring_portal' } as const;

/** Rights in the catalogue of anybody but the owner, the superuser and the tests' own role; PUBLIC is role 0. */
const GRANTED = `
  SELECT coalesce(r.rolname, 'PUBLIC') AS grantee, g.object, g.privilege, g.grantable FROM (
    SELECT relname AS object, grantee, privilege_type AS privilege, is_grantable AS grantable, relnamespace AS schema
    FROM pg_class, aclexplode(relacl)
    UNION ALL SELECT relname || '.' || attname, grantee, privilege_type, is_grantable, relnamespace
    FROM pg_attribute JOIN pg_class c ON c.oid = attrelid, aclexplode(attacl)
    UNION ALL SELECT proname || '()', grantee, privilege_type, is_grantable, pronamespace
    FROM pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner)))
    UNION ALL SELECT nspname, grantee, privilege_type, is_grantable, oid FROM pg_namespace, aclexplode(nspacl)) g
  LEFT JOIN pg_roles r ON r.oid = g.grantee
  WHERE g.schema = 'public'::regnamespace
    AND r.rolname IS DISTINCT FROM 'tutoring_owner' AND r.rolname IS DISTINCT FROM 'spec_tenant'
    AND r.rolname IS DISTINCT FROM 'pg_database_owner' AND r.rolname IS DISTINCT FROM 'postgres'`;

const database = await fixture(createTestDatabase());
const make = await fixture(Factories.connect(database));

/** What is wrong with a role's rights, as its process sees it. */
async function faults(role: ProcessRole, url = database.processUrls[role]): Promise<string[]> {
  const connection = await connect({ url, poolSize: 1, applicationName: 'tutoring tests' });
  return roleFaults(connection, role).finally(() => connection.destroy());
}

describe('the rights of the roles', () => {
  async function granted(): Promise<string[]> {
    const all = await make.query<{ grantee: string; object: string; privilege: string; grantable: boolean }>(GRANTED);
    return all.map((one) => `${one.grantee}: ${one.privilege} ${one.object}${one.grantable ? ' with grant option' : ''}`).sort();
  }

  function expected(): string[] {
    const tables = Object.entries(TABLE_GRANTS).flatMap(([table, grants]) =>
      (Object.entries(grants) as [ProcessRole, string][]).flatMap(([role, spelled]) =>
        rightsOf(spelled).flatMap(({ privilege, columns }) =>
          (columns ?? ['']).map((column) => `${ROLES[role]}: ${privilege} ${table}${column && `.${column}`}`),
        ),
      ),
    );
    const functions = Object.entries(FUNCTION_GRANTS).flatMap(([name, roles]) => roles.map((role) => `${ROLES[role]}: EXECUTE ${name}()`));
    const schema = ['PUBLIC', ...Object.values(ROLES)].map((role) => `${role}: USAGE public`);
    return [...tables, ...functions, ...schema].sort();
  }

  it('are listed for exactly the existing tables and functions', async () => {
    const tables = await make.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')`,
    );
    expect(Object.keys(TABLE_GRANTS).sort()).toEqual(tables.map(({ name }) => name).sort());
    // Overloads would share a grant.
    const functions = await make.query<{ name: string }>(
      `SELECT proname AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prorettype <> 'trigger'::regtype`,
    );
    expect(Object.keys(FUNCTION_GRANTS).sort()).toEqual(functions.map(({ name }) => name).sort());
  });

  it('match the catalogue for every role, table, column and function', async () => {
    expect(await granted()).toEqual(expected());
    for (const role of Object.keys(ROLES) as ProcessRole[]) expect(await faults(role)).toEqual([]);
  });

  it('let the API run only a fixed list of functions', () => {
    const doors = Object.entries(FUNCTION_GRANTS).filter(([, roles]) => roles.includes('api'));
    expect(doors.map(([name]) => name).sort()).toEqual([
      'api_key_by_hash',
      'await_address',
      'conversation_of_others',
      'correct_address',
      'current_organization_id',
      'direct_conversation',
      'enter_home',
      'event_lag',
      'folded',
      'group_of_others',
      'hold_ties_elsewhere',
      'is_established',
      'kept_elsewhere',
      'leave_conversations',
      'log_requests',
      'logins_by_email',
      'must_accept',
      'newest_events',
      'number_events',
      'open_conversation',
      'organization_administrators',
      'other_owner_signs_in',
      'outbox_backlog',
      'queue_notices',
      'reads_mail',
      'replay_webhook',
      'seat_people',
      'suppressed_addresses',
      'title_conversation',
    ]);
  });

  it.each<[string, ProcessRole, string]>([
    ['GRANT UPDATE (scopes) ON api_keys TO tutoring_app', 'api', 'UPDATE (last_used_at, revoked_at, scopes) on api_keys'],
    ['GRANT INSERT ON api_keys TO tutoring_app', 'api', 'INSERT ('],
    ['GRANT SELECT (payload) ON outbox TO tutoring_worker', 'worker', 'payload'],
    ['GRANT TRUNCATE ON audit_log TO tutoring_app', 'api', 'TRUNCATE'],
    ['GRANT SELECT ON users TO tutoring_worker', 'worker', 'SELECT ('],
    ['GRANT EXECUTE ON FUNCTION claim_outbox TO tutoring_app', 'api', 'EXECUTE on claim_outbox'],
    ['GRANT EXECUTE ON FUNCTION list_outbox TO PUBLIC', 'worker', 'EXECUTE on list_outbox'],
    ['REVOKE EXECUTE ON FUNCTION claim_outbox FROM tutoring_worker', 'worker', 'lacks 1 privilege'],
  ])('%s is reported, and reverted by migrate', async (statement, role, named) => {
    await make.query(statement);
    expect(await granted()).not.toEqual(expected());
    expect((await faults(role)).join()).toContain(named);
    await migrate(database.ownerUrl, database.processUrls);
    expect(await granted()).toEqual(expected());
    expect(await faults(role)).toEqual([]);
  });

  it('differ, so no process can run with the role of another', async () => {
    expect((await faults('worker', database.applicationUrl)).join()).toMatch(/does not need.*lacks|lacks/);
    expect((await faults('api', database.workerUrl)).join()).toMatch(/claim_outbox.*lacks/s);
    const { processUrls: urls } = database;
    const same = (changes: object) => migrate(database.ownerUrl, { ...urls, ...changes });
    await expect(same({ worker: urls.api })).rejects.toThrow('WORKER_DATABASE_URL must use its own role');
    await expect(same({ portal: urls.worker })).rejects.toThrow('PORTAL_DATABASE_URL must use its own role');
  });
});

describe('a role with too many rights', () => {
  const made: string[] = [];

  afterEach(async () => {
    for (const role of made.splice(0).reverse()) await make.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  });

  let count = 0;
  async function role(attributes = ''): Promise<string> {
    const name = `spec_role_${process.pid}_${++count}`;
    await make.query(`CREATE ROLE ${name} LOGIN PASSWORD 'spec' ${attributes}`);
    made.push(name);
    return name;
  }

  const urlOf = (name: string) => Object.assign(new URL(database.applicationUrl), { username: name, password: 'spec' }).href;

  const faultsOf = (name: string) => faults('api', urlOf(name));

  /** A role with the rights of the API, and what the test adds. */
  async function likeTheApi(attributes = ''): Promise<string> {
    const name = await role(attributes);
    await migrate(database.ownerUrl, { ...database.processUrls, api: urlOf(name) });
    return name;
  }

  it('is not reported without additions', async () => {
    expect(await faultsOf(await likeTheApi())).toEqual([]);
  });

  it('is reported without its settings, which migrate gives it', async () => {
    const name = await likeTheApi();
    await make.query(`ALTER ROLE ${name} RESET ALL`);
    const wrong =
      'client_connection_check_interval = 0 instead of 1s, idle_in_transaction_session_timeout = 0 instead of 10s, jit = on instead of off, lock_timeout = 0 instead of 4s, statement_timeout = 0 instead of 5s, transaction_timeout = 0 instead of 15s';
    const remedy = 'run "npm run cli -- migrate", then restart the processes, and RECONNECT a pooler';
    expect(await faultsOf(name)).toEqual([`the role of DATABASE_URL has ${wrong} (${remedy})`]);
    await make.query(`ALTER ROLE ${name} SET lock_timeout = '1h'`);
    await migrate(database.ownerUrl, { ...database.processUrls, api: urlOf(name) });
    expect(await faultsOf(name)).toEqual([]);
  });

  it.each([
    ['SUPERUSER', /is a superuser/],
    ['BYPASSRLS', /has BYPASSRLS/],
    ['CREATEROLE', /has CREATEROLE/],
    ['CREATEDB', /has CREATEDB/],
    ['REPLICATION', /has REPLICATION/],
  ])('is reported with the remedy: %s', async (attribute, message) => {
    const name = await likeTheApi(attribute);
    const [fault, ...others] = await faultsOf(name);
    expect(fault).toMatch(message);
    expect(fault).toMatch(new RegExp(`^the role "${name}" of DATABASE_URL .*ALTER ROLE "${name}" NO${attribute}\\)$`));
    expect(others).toEqual([]);
  });

  it.each([
    ['a superuser', 'SUPERUSER', /which is a superuser/],
    ['BYPASSRLS', 'BYPASSRLS', /which has BYPASSRLS/],
    ['CREATEROLE', 'CREATEROLE', /which has CREATEROLE/],
  ])('is reported if it reaches %s through two memberships, inherited or not', async (_name, attribute, message) => {
    for (const inherit of ['TRUE', 'FALSE']) {
      const [own, between, far] = [await likeTheApi(), await role('NOINHERIT'), await role(attribute)];
      await make.query(`GRANT ${far} TO ${between} WITH INHERIT ${inherit}, SET TRUE`);
      await make.query(`GRANT ${between} TO ${own} WITH INHERIT ${inherit}, SET TRUE`);
      const faults = await faultsOf(own);
      expect(faults).toHaveLength(1);
      expect(faults[0]).toMatch(message);
      expect(faults[0]).toContain(`can become "${between}", then "${far}"`);
      expect(faults[0]).toContain(`REVOKE "${between}" FROM "${own}"`);
    }
  });

  it.each(['pg_read_all_data', 'pg_write_all_data', 'pg_execute_server_program', 'pg_read_server_files'])(
    'is reported if it reaches %s',
    async (predefined) => {
      const own = await likeTheApi();
      await make.query(`GRANT ${predefined} TO ${own} WITH INHERIT FALSE`);
      expect((await faultsOf(own)).join()).toContain(`can become "${predefined}"`);
    },
  );

  it('is reported if it reaches the owner', async () => {
    const own = await likeTheApi();
    await make.query(`GRANT tutoring_owner TO ${own} WITH INHERIT FALSE`);
    const faults = (await faultsOf(own)).join();
    expect(faults).toMatch(/can become "tutoring_owner", which owns the database/);
    expect(faults).toMatch(/which owns the schema, tables or functions/);
  });

  it('is reported if it reaches a right through a group without inheritance', async () => {
    const [own, group] = [await likeTheApi(), await role()];
    await make.query(`GRANT DELETE ON payments TO ${group}; GRANT ${group} TO ${own} WITH INHERIT FALSE`);
    expect((await faultsOf(own)).join()).toContain('DELETE');
  });

  it('is not reported for its rights once a newer build has migrated, as during an upgrade', async () => {
    const own = await likeTheApi();
    await make.query(`GRANT DELETE ON payments TO ${own}`);
    await make.query(`INSERT INTO migrations (timestamp, name) VALUES (1, 'OfNewerBuild')`);
    try {
      expect(await faultsOf(own)).toEqual([]);
      await make.query(`ALTER ROLE ${own} BYPASSRLS`);
      expect((await faultsOf(own)).join()).toContain('BYPASSRLS');
    } finally {
      await make.query(`DELETE FROM migrations WHERE name = 'OfNewerBuild'`);
    }
    await make.query(`ALTER ROLE ${own} NOBYPASSRLS`);
    expect((await faultsOf(own)).join()).toContain('DELETE');
  });

  it('is reported as the role of the session, even after SET ROLE', async () => {
    const [own, harmless] = [await role('BYPASSRLS'), await likeTheApi()];
    await make.query(`GRANT ${harmless} TO ${own}; ALTER ROLE ${own} SET role = ${harmless}`);
    expect((await faultsOf(own)).join()).toMatch(/BYPASSRLS/);
  });

  it.each([
    ['can create objects', 'GRANT CREATE ON SCHEMA public TO OWN', /can create objects in the schema public/],
    ['can create schemas', 'GRANT CREATE ON DATABASE THIS TO OWN', /can create schemas/],
    ['owns a table', 'CREATE TABLE spec_owned (); ALTER TABLE spec_owned OWNER TO OWN', /owns the schema, tables/],
    ['owns the database', 'ALTER DATABASE THIS OWNER TO OWN', /owns the database/],
  ])('is reported if it %s, with statements that make it safe', async (_name, statement, message) => {
    const own = await likeTheApi();
    const name = new URL(database.ownerUrl).pathname.slice(1);
    await make.query(statement.replace('THIS', name).replace(/OWN$/, own));
    const faults = await faultsOf(own);
    expect(faults.join()).toMatch(message);
    for (const fault of faults) {
      const remedy = /\(([^()]+)\)$/.exec(fault)![1]!;
      await make.query(remedy.replace('<the owner>', 'tutoring_owner'));
    }
    expect(await faultsOf(own)).toEqual([]);
  });
});
