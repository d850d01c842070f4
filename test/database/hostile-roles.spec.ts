import { createHash, randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import type { ProcessRole } from '@app/database';
import { Factories } from '../support/data/factories.js';
import { createTestDatabase } from '../support/database/database.js';
import { fixture } from '../support/process/fixture.js';

const ROLES: ProcessRole[] = ['api', 'worker', 'portal'];
const DENIED = '42501';

/** What no process may do, even with injected SQL. */
const FORBIDDEN: string[] = [
  'CREATE TABLE loot (a int)',
  'CREATE FUNCTION loot() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
  'CREATE SCHEMA loot',
  'CREATE ROLE loot',
  'CREATE EXTENSION dblink',
  'ALTER TABLE users DISABLE ROW LEVEL SECURITY',
  'ALTER TABLE members NO FORCE ROW LEVEL SECURITY',
  'CREATE POLICY everything ON users USING (true)',
  'DROP POLICY tenant ON members',
  'ALTER TABLE members DISABLE TRIGGER ALL',
  'SET session_replication_role = replica',
  'SET ROLE tutoring_owner',
  'SET SESSION AUTHORIZATION tutoring_owner',
  'GRANT SELECT ON credentials TO PUBLIC',
  'GRANT tutoring_owner TO CURRENT_USER',
  'ALTER ROLE CURRENT_USER BYPASSRLS',
  'ALTER ROLE CURRENT_USER SUPERUSER',
  `COPY (SELECT 1) TO PROGRAM 'true'`,
  `COPY migrations FROM '/etc/passwd'`,
  `SELECT pg_read_file('/etc/passwd')`,
  `SELECT lo_import('/etc/passwd')`,
  'SELECT pg_reload_conf()',
  'SELECT * FROM pg_authid',
  'SELECT * FROM credentials',
  'SELECT * FROM passkeys',
  'SELECT * FROM portal_sessions',
  'SELECT * FROM device_cookies',
  'SELECT * FROM sign_in_attempts',
  'SELECT * FROM password_links',
  'SELECT * FROM password_link_requests',
  'DELETE FROM password_link_requests',
  'SELECT key_hash FROM api_keys',
  'SELECT payload FROM outbox',
  `UPDATE api_keys SET scopes = '{}'`,
  'UPDATE api_keys SET platform_blog = true',
  'UPDATE users SET email_verified_at = now()',
  'DELETE FROM audit_log',
  'TRUNCATE users',
];

const database = await fixture(createTestDatabase());
const make = await fixture(Factories.connect(database));

describe.each(ROLES)('an attacker with the %s role', (role) => {
  let client: pg.Client;

  beforeAll(async () => {
    client = new pg.Client({ connectionString: database.processUrls[role] });
    await client.connect();
    await client.query(`SELECT set_config('app.organization_id', $1, false)`, [randomUUID()]);
    // The setting that opens tables to the owner's functions has no effect here.
    await client.query(`SET app.maintenance = 'on'`);
  });
  afterAll(() => client.end());

  it.each(FORBIDDEN)('cannot: %s', async (statement) => {
    await expect(client.query(statement)).rejects.toMatchObject({ code: DENIED });
  });
});

describe.each(['api', 'portal'] as const)('an attacker with the %s role who forges the organization', (role) => {
  let client: pg.Client;
  let school: string;

  beforeAll(async () => {
    school = (await make.organization()).id;
    await make.member(school);
    client = new pg.Client({ connectionString: database.processUrls[role] });
    await client.connect();
  });
  afterAll(() => client.end());

  /** The number of members, or the code of the error. */
  async function membersAs(organization: string): Promise<number | string> {
    await client.query(`SELECT set_config('app.organization_id', $1, false)`, [organization]);
    return client.query<{ n: number }>('SELECT count(*)::int AS n FROM members').then(
      ({ rows }) => rows[0]!.n,
      (error: { code: string }) => error.code,
    );
  }

  it('sees members only with the id of a real one', async () => {
    expect(await membersAs(school)).toBe(1);
    for (const forged of ['', '00000000-0000-0000-0000-000000000000', randomUUID()]) {
      expect([forged, await membersAs(forged)]).toEqual([forged, 0]);
    }
    for (const forged of ["' OR true --", '*', 'null', `{${school}}x`, `${school},${randomUUID()}`]) {
      expect([forged, await membersAs(forged)]).toEqual([forged, '22P02']);
    }
  });
});

describe('an attacker with the portal role, in an organization', () => {
  it.each(
    Object.entries({
      'create a key for the platform’s blog': `INSERT INTO api_keys (id, organization_id, name, key_hash, first_four, last_four,
      platform_blog) VALUES (gen_random_uuid(), $1, 'x', sha256('x'), 'aaaa', 'bbbb', true)`,
      'create a key of another organization': `INSERT INTO api_keys (id, organization_id, name, key_hash, first_four, last_four)
      VALUES (gen_random_uuid(), gen_random_uuid(), 'x', sha256($1), 'aaaa', 'bbbb')`,
      'read hashes': 'SELECT key_hash FROM api_keys WHERE organization_id = $1',
      'add scopes to a key': `UPDATE api_keys SET scopes = '{read,write}' WHERE organization_id = $1`,
      'move a key': 'UPDATE api_keys SET organization_id = $1',
      'delete a key': 'DELETE FROM api_keys WHERE organization_id = $1',
      'extend the expiry of a key': `UPDATE api_keys SET expires_at = now() + interval '1 day' WHERE organization_id = $1`,
    }),
  )('cannot %s', async (_what, statement) => {
    const { id } = await make.organization();
    await make.row('api_keys', { organizationId: id, name: 'Site', keyHash: randomBytes(32), expiresAt: new Date() });
    const client = new pg.Client({ connectionString: database.portalUrl });
    await client.connect();
    try {
      await client.query('BEGIN');
      await client.query(`SELECT set_config('app.organization_id', $1, true)`, [id]);
      await expect(client.query(statement, [id])).rejects.toMatchObject({ code: DENIED });
    } finally {
      await client.end();
    }
  });
});

describe('an attacker with the portal role who knows a login and its address', () => {
  const INVITED = `INSERT INTO invites (id, organization_id, scope, role, target_id, email, user_id, secret_hash, proof_hash, expires_at)
    VALUES (gen_random_uuid(), $1, 'account', 'student', $2, $3, $2, sha256('token'), sha256('proof'), now() + interval '1 day') RETURNING id`;
  const PASSKEY = `gen_random_uuid(), '\\x0102', '\\x01', 0, '{}', 'new'`;
  let portal: pg.Client;
  let victim: { id: string; email: string };
  let invite: string;

  beforeAll(async () => {
    const school = await make.organization();
    victim = await make.student(school.id);
    [{ id: invite } = { id: '' }] = await make.query<{ id: string }>(INVITED, [school.id, victim.id, victim.email]);
    await make.query(`INSERT INTO credentials (user_id, password_hash) VALUES ($1, 'stored')`, [victim.id]);
    portal = new pg.Client({ connectionString: database.portalUrl });
    await portal.connect();
  });
  afterAll(() => portal.end());

  const proves = async (...[id, proof, login, address]: (string | null)[]) => {
    const shown = [id, proof, login, address];
    const { rows } = await portal.query<{ done: boolean }>(`SELECT prove_login($1, $2, $3, $4, 'mine', false) AS done`, shown);
    const passkey = await portal.query<{ done: boolean }>(`SELECT prove_login_with_passkey($1, $2, $3, $4, ${PASSKEY}) AS done`, shown);
    return [rows[0]!.done, passkey.rows[0]!.done];
  };
  const hash = async () => (await make.query<{ password_hash: string }>('SELECT password_hash FROM credentials WHERE user_id = $1', [victim.id]))[0]!;

  it('cannot take the login without the secret of a mail to it', async () => {
    const { id, email } = victim;
    await expect(portal.query(`SELECT take_login($1, $2, 'mine', false)`, [id, email])).rejects.toMatchObject({ code: DENIED });
    await expect(portal.query(`SELECT take_login_with_passkey($1, $2, ${PASSKEY})`, [id, email])).rejects.toMatchObject({ code: DENIED });
    const stored = createHash('sha256').update('proof').digest('hex');
    for (const wrong of [null, '', 'token', stored, `\\x${stored}`]) expect(await proves(invite, wrong, id, email)).toEqual([false, false]);
    for (const none of [null, randomUUID()]) expect(await proves(none, 'proof', id, email)).toEqual([false, false]);
    const other = await make.user();
    expect(await proves(invite, 'proof', other.id, other.email)).toEqual([false, false]);
    for (const end of ['accepted_at = now()', 'revoked_at = now()', `expires_at = now() - interval '1 second'`]) {
      await make.query(`UPDATE invites SET ${end} WHERE id = $1`, [invite]);
      expect([end, await proves(invite, 'proof', id, email)]).toEqual([end, [false, false]]);
      await make.query(`UPDATE invites SET accepted_at = NULL, revoked_at = NULL, expires_at = now() + interval '1 day' WHERE id = $1`, [invite]);
    }
    expect(await hash()).toEqual({ password_hash: 'stored' });
  });

  it('cannot open a session without what opens the login', async () => {
    for (const [password, passkey] of [
      [null, null],
      ['', null],
      ['mine', null],
      [null, Buffer.alloc(16)],
      [null, Buffer.alloc(0)],
    ]) {
      const opened = await portal.query(`SELECT * FROM open_portal_session(gen_random_uuid(), $1, $2, 'x', 'x', $3, $4, now())`, [
        randomBytes(32),
        victim.id,
        password,
        passkey,
      ]);
      expect(opened.rows).toEqual([]);
    }
  });

  it('takes it with that secret', async () => {
    expect(await proves(invite, 'proof', victim.id, victim.email)).toEqual([true, true]);
    expect(await hash()).toEqual({ password_hash: null });
  });
});
