import { DataSource } from 'typeorm';
import { migrate } from '@app/database';
import { createTestDatabase, type TestDatabase } from '../support/database/database.js';

/** The migrations, and the functions with those who may run them, except the role that only tests have. */
const STATE = `SELECT (SELECT json_agg(name ORDER BY id) FROM migrations) AS migrations,
  (SELECT json_agg(pg_get_functiondef(p.oid) || ARRAY(SELECT coalesce(rolname, 'PUBLIC')
      FROM aclexplode(coalesce(proacl, acldefault('f', proowner))) LEFT JOIN pg_roles r ON r.oid = grantee
      WHERE rolname IS DISTINCT FROM 'spec_tenant' ORDER BY 1)::text ORDER BY proname)
    FROM pg_proc p WHERE pronamespace = 'public'::regnamespace) AS functions`;

describe('migrate', () => {
  let database: TestDatabase;
  let owner: DataSource;
  let before: { migrations: string[]; functions: string[] };

  const state = async () => (await owner.query<[typeof before]>(STATE))[0];
  const again = () => migrate(database.ownerUrl, database.processUrls);

  beforeEach(async () => {
    database = await createTestDatabase();
    owner = new DataSource({ type: 'postgres', url: database.ownerUrl });
    await owner.initialize();
    before = await state();
  });
  afterEach(async () => {
    await owner.destroy();
    await database.drop();
  });

  it.each([
    ['its body', 'tied_elsewhere', `CREATE OR REPLACE FUNCTION tied_elsewhere(login uuid) RETURNS boolean AS 'SELECT true' LANGUAGE sql`],
    ['its rights', 'take_login', 'ALTER FUNCTION take_login SECURITY INVOKER'],
    ['its search path', 'take_login', 'ALTER FUNCTION take_login RESET search_path'],
    ['its result', 'purge_expired', 'DROP FUNCTION purge_expired; CREATE FUNCTION purge_expired() RETURNS int RETURN 1'],
    ['a parameter', 'is_used', `DROP FUNCTION is_used; CREATE FUNCTION is_used(it uuid) RETURNS boolean RETURN true`],
    ['that it is gone', 'claim_outbox', 'DROP FUNCTION claim_outbox'],
  ])('replaces a function that differs from the files by %s', async (_what, name, statement) => {
    await owner.query(statement);
    expect(await state()).not.toEqual(before);
    expect(await again()).toEqual({ applied: [], replaced: [name] });
    expect(await state()).toEqual(before);
  });

  it('leaves functions alone that the files do not name', async () => {
    await owner.query('CREATE FUNCTION of_the_operator() RETURNS int RETURN 1');
    expect(await again()).toEqual({ applied: [], replaced: [] });
    expect((await state()).functions).toHaveLength(before.functions.length + 1);
  });
});
