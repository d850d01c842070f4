import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Scope, SCOPES } from '@app/access';
import { loadEnv, Vault } from '@app/config';
import { EXPORTED_DATA } from '@app/database';
import { openEmail } from '@app/jobs';
import { LUGGAGE, SEALED, STAYS } from '../../apps/cli/src/moving/luggage.js';
import { abort, alone, homeIn, live, type Move, pause } from '../../apps/cli/src/moving/homes.js';
import { move } from '../../apps/cli/src/moving/moving.js';
import { createFixtures, type OrganizationFixture } from '../support/data/fixtures.js';
import { allWrites } from '../support/http/all-writes.js';
import { TestApi } from '../support/http/api.js';
import { documentOf, filtersOf, keyedReads, keyedRoutes, nameOf, sampleOf, validPath } from '../support/http/routes.js';
import { TestPortal } from '../support/portal/portal.js';
import { results, runCli } from '../support/process/cli.js';
import { fixture } from '../support/process/fixture.js';

const base = await mkdtemp(join(tmpdir(), 'tutoring-move-'));
afterAll(() => rm(base, { recursive: true, force: true }));

const settingsOf = (place: string) => ({
  ...{ DATA_DIR: join(base, place), ENCRYPTION_KEY: (place === 'here' ? '5e' : '7f').repeat(32), SMTP_URL: 'smtp://127.0.0.1:1' },
  PUBLIC_URL: `https://${place}.example.org`,
});
const here = await fixture(TestApi.start(settingsOf('here')));
const there = await fixture(TestApi.start(settingsOf('there')));
const urlsOf = ({ database }: TestApi) => ({ DATABASE_URL: database.applicationUrl, MIGRATION_DATABASE_URL: database.ownerUrl });
const envOf = (api: TestApi, place: string) => loadEnv({ ...urlsOf(api), ...settingsOf(place) }, {});
const [from, to] = [envOf(here, 'here'), envOf(there, 'there')];

const fixtures = await createFixtures(here);
const { a: school, b: other } = fixtures;
const key = await here.key(school.id, { scopes: Object.keys(SCOPES) as Scope[] });
const wanted = (organizationId: string): Move => ({ organizationId, from, to, onProgress: () => undefined });
const stateIn = (api: TestApi, id: string) => api.make.query<{ state: string }>('SELECT state FROM moves WHERE organization_id = $1', [id]);

const turnsIn = async (api: TestApi, id: string) =>
  (await api.make.query(`SELECT FROM outbox_turns WHERE owner IN ($1::text, 'organization:' || $1)`, [id])).length;

/** What differs by the installation: places in lists, where images and links lead, and what is asked for while the test asks. */
const same = (text: string) =>
  text
    .replace(/"(next_cursor|join_url)":"[^"]*"/g, '"$1":null')
    .replaceAll('https://there.', 'https://here.')
    .replace(/"last_used_at":"[^"]*"/g, '');

/** The answers to all GETs, with each filter. */
async function answers(api: TestApi, { id }: OrganizationFixture): Promise<Map<string, string>> {
  const document = await documentOf(here);
  const files = await here.make.query<{ id: string }>('SELECT id FROM files WHERE organization_id = $1 AND upload_id IS NOT NULL', [id]);
  const paths = keyedReads(here)
    .filter((route) => !/request-log|exports/.test(nameOf(route)))
    .flatMap((route) => {
      const filters = [...filtersOf(document, route)].map(([name, schema]) => `?${name}=${sampleOf(name, schema, school)}`);
      return ['', ...filters, ...(filters.length > 0 ? ['?cursor=start&limit=2'] : [])].map((query) => validPath(route, school, query));
    });
  const all = new Map<string, string>();
  for (const path of [...paths, ...files.map((file) => `/v1/files/${file.id}/content`)]) {
    const { status, headers, text } = await api.get(path, key);
    const body = headers['content-type']?.includes('json') ? JSON.stringify(JSON.parse(text)) : text;
    all.set(path, `${status} ${same(body)}`);
  }
  return all;
}

async function send(api: TestApi, { method, path, type, body }: Awaited<ReturnType<typeof allWrites>>[number]) {
  const { port } = api.server.address() as { port: number };
  return fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { Authorization: `Token token=${key}`, 'Content-Type': type },
    body: body ?? null,
  });
}

it('takes along, or leaves for a reason, every table that has an organization, and knows every column that is sealed', async () => {
  const tables = await here.make.query<{ name: string; bytes: string[] }>(`
    SELECT c.relname AS name, coalesce(array_agg(a.attname::text ORDER BY a.attname) FILTER (WHERE a.atttypid IN ('bytea'::regtype, 'bytea[]'::regtype)), '{}') AS bytes
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' GROUP BY c.oid HAVING bool_or(a.attname = 'organization_id') ORDER BY 1`);
  const known = new Set([...Object.keys(EXPORTED_DATA), ...LUGGAGE, ...Object.values(STAYS).flat()]);
  expect(tables.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
  const open = tables
    .filter(({ name }) => LUGGAGE.includes(name))
    .flatMap(({ name, bytes }) => bytes.filter((column) => !SEALED[name]?.[column]).map((column) => `${name}.${column}`));
  expect(open).toEqual([
    'api_keys.key_hash',
    'calendar_feeds.token_hash',
    'idempotency_keys.request_hash',
    'invites.proof_hash',
    'invites.secret_hash',
  ]);
});

describe('a move', () => {
  let before: Map<string, string>;
  let writes: Awaited<ReturnType<typeof allWrites>>;
  const passwords = new Map<string, string | null>();

  beforeAll(async () => {
    writes = await allWrites(here, fixtures);
    for (const write of writes) if (!write.replay && !/offboard|^DELETE/.test(`${write.method} ${write.path}`)) await send(here, write);
    const places = await here.make.query<Record<string, string>>('SELECT postcode, suburb, lat, lng FROM places');
    for (const { postcode, suburb, lat, lng } of places)
      await there.make.query('INSERT INTO places (postcode, suburb, lat, lng) VALUES ($1, $2, $3, $4)', [postcode, suburb, lat, lng]);
    for (const { id } of await here.make.query<{ id: string }>(
      `SELECT user_id AS id FROM members WHERE organization_id = $1 AND status = 'accepted'`,
      [school.id],
    ))
      await here.make.query(`INSERT INTO credentials (user_id, password_hash) VALUES ($1, $2) ON CONFLICT DO NOTHING`, [id, `hash of ${id}`]);
    // A separator that readers of lines may take for the end of one, and more keys than are copied at once, each replaced by the next.
    await here.make.row('leads', { organizationId: school.id, name: 'Ada\u2028Lovelace' });
    await here.make.query(
      `INSERT INTO api_keys (id, organization_id, name, key_hash, first_four, last_four, created_at, revoked_at, replaced_by, replaced_at)
        SELECT ('0190a6f2-5c1e-7d3a-9b4f-' || lpad(n::text, 12, '0'))::uuid, $1, 'chain', sha256(n::text::bytea), '0000', '0000',
          now() - (1200 - n) * interval '1 minute', now(),
          CASE WHEN n < 1100 THEN ('0190a6f2-5c1e-7d3a-9b4f-' || lpad((n + 1)::text, 12, '0'))::uuid END, CASE WHEN n < 1100 THEN now() END
        FROM generate_series(1, 1100) n`,
      [school.id],
    );
    await here.make.query(`INSERT INTO account_deletions (user_id, due_at) SELECT user_id, '2127-01-01' FROM credentials`);
    for (const row of await here.make.query<{ id: string; hash: string | null }>('SELECT user_id AS id, password_hash AS hash FROM credentials'))
      passwords.set(row.id, row.hash);
  });

  it('pauses: what is read is there, what is written is a 503, and it can be called off', async () => {
    await alone(wanted(school.id), () => pause(wanted(school.id)));
    const name = writes.find(({ method }) => method === 'POST')!;
    const refused = await send(here, name);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
    for (const write of writes) expect([write.path, (await send(here, write)).status]).toEqual([write.path, 503]);
    expect((await here.get('/v1/students', key)).status).toBe(200);
    await abort(wanted(school.id));
    expect(await homeIn(from, school.id)).toBe('here');
    expect((await here.get('/v1/me', key)).status).toBe(200);
  });

  it('has everything answered in the other installation as it was here, to the same key', async () => {
    await here.make.query('SELECT number_events()');
    before = await answers(here, school);
    const file = join(base, 'there.env');
    await writeFile(file, Object.entries({ ...settingsOf('there'), ...urlsOf(there) }).map(([name, value]) => `${name}=${value}`).join('\n')); // prettier-ignore
    const { stderr, stdout } = await runCli(['--json', 'move', school.organization.slug, '--to', there.database.ownerUrl, '--to-env', file], {
      ...urlsOf(here),
      ...settingsOf('here'),
    });
    expect(stderr).toBe('');
    expect(results(stdout)).toMatchObject([{ organization: school.organization.slug }]);
    const after = await answers(there, school);
    const different = [...before].filter(([path, answer]) => after.get(path) !== answer);
    expect(different.map(([path, answer]) => ({ path, answer, there: after.get(path) }))).toEqual([]);
  });

  it('is answered here with 421 and the new home, whatever is asked', async () => {
    for (const route of keyedRoutes(here)) {
      const path = validPath(route, school, '?limit=nonsense');
      const { status, headers } = await send(here, {
        method: route.method,
        path,
        type: 'application/json',
        body: route.method === 'GET' ? undefined : Buffer.from('{'),
      } as never);
      expect([nameOf(route), status, headers.get('moved-to')]).toEqual([nameOf(route), 421, 'https://there.example.org']);
    }
    const { body } = (await here.get('/v1/students', key)) as { body: object };
    expect(body).toMatchObject({ error: { code: 'moved', details: { moved_to: 'https://there.example.org' } } });
  });

  it('brings passwords of people who belong to no other organization, and mails the others once', async () => {
    const arrived = await there.make.query<{ id: string; hash: string }>('SELECT user_id AS id, password_hash AS hash FROM credentials');
    expect(arrived.length).toBeGreaterThan(3);
    for (const { id, hash } of arrived) expect(hash).toBe(passwords.get(id));
    expect(arrived.filter(({ id }) => fixtures.shared.has(id))).toEqual([]);
    const wishes = await there.make.query<{ id: string }>('SELECT user_id AS id FROM account_deletions');
    expect(wishes.map(({ id }) => id).sort()).toEqual(arrived.map(({ id }) => id).sort());
    const mails = await there.make.query<{ kind: string; payload: Buffer }>(
      `SELECT kind, payload FROM outbox WHERE organization_id = $1 AND topic = 'email' AND payload IS NOT NULL`,
      [school.id],
    );
    // Those that had not been sent here, too: sealed anew.
    for (const { payload } of mails) expect(openEmail(new Vault(to), payload)).toHaveProperty('joinUrl');
    expect(mails.filter(({ kind }) => kind === 'account_created').length).toBeGreaterThan(0);
    expect(await there.make.query('SELECT to_tell FROM moves WHERE organization_id = $1', [school.id])).toEqual([{ to_tell: [] }]);
  });

  it('goes on where it was interrupted, and asks whom the other installation knows', async () => {
    const one = wanted(other.id);
    const arriving = await here.key(other.id);
    await here.make.query(
      `INSERT INTO outbox (id, organization_id, topic, kind, recipient) VALUES (gen_random_uuid(), $1, 'email', 'welcome', 'ada@example.org')`,
      [other.id],
    );
    expect(await turnsIn(here, other.id)).toBeGreaterThan(0);
    await pause(one);
    await move(one);
    expect([await stateIn(here, other.id), await stateIn(there, other.id)]).toEqual([[{ state: 'moved' }], [{ state: 'arriving' }]]);
    expect((await there.get('/v1/students', arriving)).status).toBe(503);
    // No worker takes its mails, here or there, until it is live.
    expect([await turnsIn(here, other.id), await turnsIn(there, other.id)]).toEqual([0, 0]);
    await expect(abort(one)).rejects.toThrow('has moved');
    const { stdout } = await runCli(
      ['--json', 'move', other.organization.slug, '--to', there.database.ownerUrl, '--to-env', join(base, 'there.env'), '--resume'],
      {
        ...urlsOf(here),
        ...settingsOf('here'),
      },
    );
    expect(results(stdout)).toMatchObject([{ organization: other.organization.slug }]);
    expect(await stateIn(there, other.id)).toEqual([{ state: 'live' }]);
    const statuses = await there.make.query('SELECT DISTINCT status FROM members WHERE user_id = ANY ($1) AND organization_id = $2', [
      [...fixtures.shared],
      other.id,
    ]);
    expect(statuses).toEqual([{ status: 'pending' }]);
    expect(await turnsIn(there, other.id)).toBeGreaterThan(0);
    await live(to, other.id);
    expect((await there.get('/v1/students', arriving)).status).toBe(200);
  });

  it('leaves rows here until they are dropped', async () => {
    const portal = await fixture(TestPortal.start({}, here.database));
    const { stdout } = await runCli(['--json', 'org', 'drop', school.organization.slug, '--yes'], { ...urlsOf(here), ...settingsOf('here') });
    expect(results(stdout)).toEqual([{ organization: school.organization.slug, dropped: true }]);
    expect((await here.get('/v1/students', key)).status).toBe(401);
    expect((await there.get('/v1/students', key)).status).toBe(200);
    await portal.get('/sign-in').expect(200);
  });
});
