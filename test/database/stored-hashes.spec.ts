import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { Factories } from '../support/data/factories.js';
import { createTestDatabase } from '../support/database/database.js';
import { fixture } from '../support/process/fixture.js';

const SALT = '$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHRzYWx0c2FsdA$';
const HASH = randomBytes(32).toString('base64url');
const sha256 = (text: string) => createHash('sha256').update(text).digest();
const SECRETS = ['session', 'link', 'proof'].map(sha256);

const database = await fixture(createTestDatabase());
const make = await fixture(Factories.connect(database));
const school = (await make.organization()).id;
const victim = await make.student(school);
const portal = new pg.Client({ connectionString: database.portalUrl });

interface Callable {
  name: string;
  names: string[];
  types: string[];
}

beforeAll(async () => {
  await make.query(`INSERT INTO credentials (user_id, password_hash) VALUES ($1, $2)`, [victim.id, SALT + HASH]);
  await make.query(`INSERT INTO portal_sessions (id, secret_hash, user_id, user_agent, network) VALUES (gen_random_uuid(), $1, $2, '', '')`, [
    SECRETS[0],
    victim.id,
  ]);
  await make.query(`INSERT INTO password_links (secret_hash, user_id, email_normalized, expires_at) VALUES ($1, $2, $3, now() + interval '1 hour')`, [
    SECRETS[1],
    victim.id,
    victim.email,
  ]);
  await portal.connect();
});
afterAll(() => portal.end());

/** What a statement shows somebody with the portal's role who knows the login; '' when it is refused. Changes nothing. */
async function shown(statement: string, values: unknown[] = []): Promise<string> {
  await portal.query('BEGIN');
  try {
    await portal.query(`SELECT set_config('app.organization_id', $1, true)`, [school]);
    const { rows } = await portal.query<{ shown: string | null }>(statement, values);
    return rows.map((row) => row.shown).join('\n');
  } catch {
    return '';
  } finally {
    await portal.query('ROLLBACK');
  }
}

/** The arguments of somebody who knows the login, with each of its secrets in turn. */
const argumentsOf = ({ types, names }: Callable, secret: Buffer): unknown[] =>
  types.map((type, index) => {
    if (type === 'uuid') return victim.id;
    if (type === 'text') return /password|hash|shown/.test(names[index]!) ? SALT : victim.email;
    if (type === 'bytea') return secret;
    return { boolean: false, integer: 1, 'uuid[]': [victim.id], 'text[]': [victim.email] }[type] ?? null;
  });

const holdsHash = (text: string) => text.includes(HASH) || text.includes(Buffer.from(HASH).toString('hex'));

it('no function that the portal may run shows a stored hash', async () => {
  const functions = await make.query<Callable>(`
    SELECT proname AS name, coalesce(proargnames, '{}')::text[] AS names,
      ARRAY(SELECT format_type(t, NULL) FROM unnest(proargtypes) WITH ORDINALITY AS a (t, n) ORDER BY n) AS types
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prorettype <> 'trigger'::regtype
      AND has_function_privilege('tutoring_portal', oid, 'EXECUTE') ORDER BY 1`);
  const answers: Record<string, string> = {};
  for (const each of functions) {
    const places = each.types.map((type, index) => `$${index + 1}::${type}`).join(', ');
    for (const secret of SECRETS) {
      answers[each.name] =
        `${answers[each.name] ?? ''}${await shown(`SELECT r::text AS shown FROM ${each.name}(${places}) r`, argumentsOf(each, secret))}`;
    }
  }
  expect(Object.keys(answers).filter((name) => holdsHash(answers[name]!))).toEqual([]);
  // Each of these has found the login.
  for (const name of ['identity_of', 'password_link']) expect(answers[name]).toContain(SALT);
  for (const name of ['portal_session', 'list_portal_sessions']) expect(answers[name]).not.toBe('');
});

it('no column that the portal may read shows a stored hash', async () => {
  const tables = await make.query<{ name: string; columns: string }>(`
    SELECT relname AS name, string_agg(quote_ident(attname), ', ') AS columns FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v', 'p') AND attnum > 0 AND NOT attisdropped
      AND has_column_privilege('tutoring_portal', c.oid, attnum, 'SELECT') GROUP BY 1 ORDER BY 1`);
  const found: string[] = [];
  for (const { name, columns } of tables) {
    if (holdsHash(await shown(`SELECT row_to_json(r)::text AS shown FROM (SELECT ${columns} FROM ${name}) r`))) found.push(name);
  }
  expect(found).toEqual([]);
  expect(tables.map(({ name }) => name)).not.toContain('credentials');
});

it('opens and confirms sessions, and keeps a login in use, only with the whole hash', async () => {
  const opens = (hash: string | null) =>
    shown(`SELECT r::text AS shown FROM open_portal_session(gen_random_uuid(), $1, $2, '', '', $3, NULL, NULL) r`, [sha256('new'), victim.id, hash]);
  const confirms = (hash: string | null) =>
    shown(`SELECT confirm_portal_session($1, $2, $3, NULL)::text AS shown`, [SECRETS[0], sha256('new'), hash]);
  const links = (hash: string | null) => shown(`SELECT use_password_link($1, NULL, $2, NULL)::text AS shown`, [SECRETS[1], hash]);
  const wrong = [null, '', SALT, HASH, `${SALT}${HASH.slice(1)}`, `${SALT}${HASH}=`, `${SALT}${'A'.repeat(HASH.length)}`, '%', victim.email];
  for (const hash of wrong) expect([hash, await opens(hash), await confirms(hash), await links(hash)]).toEqual([hash, '', 'false', '']);
  expect([await opens(SALT + HASH), await confirms(SALT + HASH), await links(SALT + HASH)]).toEqual([
    expect.stringContaining(victim.email),
    'true',
    victim.id,
  ]);
});
