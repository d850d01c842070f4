import { appendFileSync } from 'node:fs';
import sql, { raw } from 'sql-template-tag';
import { Cursors } from '../apps/api/src/http/lists/cursor.js';
import type { Caller } from '../apps/api/src/http/auth/caller.js';
import { createOrganizationFixture, type OrganizationFixture, parametersOf } from './support/data/fixtures.js';
import { copyOf, growOrganization } from './support/data/growth.js';
import { callsOf, readsOf } from './support/database/function-reads.js';
import { forgetKeyUsage, sentDuring, type Statement } from './support/database/read-statements.js';
import { allowedFor } from './support/database/rows-allowed.js';
import { GenericPlans } from './support/database/rows-read.js';
import { TestApi } from './support/http/api.js';
import { call, documentOf, filtersOf, keyedReads, listAt, nameOf, queryOf, type Route, sampleOf, type Schema } from './support/http/routes.js';
import { INDEXES, SERVES } from './support/database/index-uses.js';
import { TestPortal } from './support/portal/portal.js';
import { fixture, inTest } from './support/process/fixture.js';

/** How many rows may be read for each that is shown, and besides for a whole answer. */
const FOR_EACH = 10;
const FOR_ANSWER = 60;

/** How many rows may be read for a pair of filters: what the list has of one of them. */
const FOR_PAIR = 1_100;

/** How many rows a page of the portal may read, and how many pages are looked at. */
const FOR_PAGE = 500;
const MOST_PAGES = 300;

forgetKeyUsage();
const api = await fixture(TestApi.start());
const { make } = api;
const school = await createOrganizationFixture(api, make);
await make.row('questions', { catalogue: 'vcaa', topic: 'Quadratics' });
await make.query(`INSERT INTO places (postcode, suburb, lat, lng) VALUES ('3056', 'Brunswick', -37.77, 144.96) ON CONFLICT DO NOTHING`);
await make.query(
  `INSERT INTO rebuild_hooks (target, organization_id, url, secret) VALUES ('organization:' || $1::uuid, $1, 'https://example.org/', 'x')`,
  [school.id],
);
await make.query(
  `INSERT INTO outbox (id, organization_id, topic, kind, recipient, status, finished_at)
    SELECT gen_random_uuid(), $1, 'rebuild', 'post.published', 'organization:' || $1::uuid, status, now() FROM unnest('{sent,dead}'::text[]) status`,
  [school.id],
);
await growOrganization(make, school.id);
/** The records that most others refer to; the same of a copy that nothing else refers to. */
const lone: OrganizationFixture = { ...school, path: await copied(school.path), query: await copied(school.query) };
const document = await documentOf(api);

async function copied(values: Record<string, string>): Promise<Record<string, string>> {
  const copies = Object.entries(values).map(async ([name, value]) => [name, /^[0-9a-f-]{36}$/.test(value) ? await copyOf(make, value) : value]);
  return Object.fromEntries(await Promise.all(copies)) as Record<string, string>;
}

/** Values of a filter: all that there are, or the frequent and the rare one, or the middle of the list. */
async function valuesOf(route: Route, name: string, schema: Schema): Promise<string[]> {
  if (schema.enum) return schema.enum.map(String);
  if (schema.type === 'boolean') return ['true', 'false'];
  const middle = await middleOf(route, name);
  return middle ? [middle] : [...new Set([school, lone].map((one) => sampleOf(name, schema, one)))];
}

/** Of a bound: the time in the middle of the list; as the upper one, two days later. */
async function middleOf(route: Route, name: string): Promise<string | null> {
  const list = listAt(route);
  const column = list?.parameters.find((one) => one.name === name)?.column;
  if (!list || !column || !['from', 'to'].includes(name)) return null;
  const { source } = list;
  const middle = sql`SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY ${raw(`${source.alias}.${column}`)}) + ${name === 'to' ? '2 days' : '0 days'}::interval AS at
    FROM ${source.table} WHERE ${source.sightOf({ organizationId: school.id } as Caller)}`;
  const [row] = await make.query<{ at: Date }>(middle.text, middle.values);
  return row!.at.toISOString();
}

/** First pages and, by cursor, further ones: without filters, with each value of each filter, and with each pair of filters. */
async function queriesOf(route: Route): Promise<string[]> {
  const filters = await Promise.all(
    [...filtersOf(document, route)].map(async ([name, schema]) => (await valuesOf(route, name, schema)).map((value) => `${name}=${value}`)),
  );
  const cursor = queryOf(document, route).get('cursor');
  const start = cursor ? [`cursor=${String(cursor.examples![0])}`] : [];
  const deep = cursor && listAt(route) ? [MIDDLE, END].map((place) => `cursor=${place}`) : [];
  const ways = ['', ...start, ...deep.slice(0, 1)];
  const queries = [
    ...deep.slice(1).map((end) => [end]),
    ...ways.flatMap((way) => ['', ...filters.flat()].map((filter) => [way, filter])),
    ...pairsOf(filters).map((pair) => [...start, ...pair]),
  ];
  return queries.map((parts) => `?${parts.filter(Boolean).join('&')}`.replace(/[?]$/, ''));
}

/** Of each two filters: the first values, the last ones, and one of each. */
function pairsOf(filters: string[][]): string[][] {
  const ends = (values: string[]) => [...new Set([values[0]!, values.at(-1)!])];
  return filters.flatMap((one, index) => filters.slice(index + 1).flatMap((other) => ends(one).flatMap((a) => ends(other).map((b) => [a, b]))));
}

/** Cursors of the middle and near the end of a list: how much of it is older. */
const [MIDDLE, END] = ['m', 'e'].map((letter) => letter.repeat(54)) as [string, string];
const OLDER = { [MIDDLE]: 0.5, [END]: 0.02 };

/** Has the cursor name its place in the route's list. */
async function goTo(cursor: string, route: Route): Promise<void> {
  const { source } = listAt(route)!;
  const middle = sql`SELECT percentile_disc(${OLDER[cursor]}::float8) WITHIN GROUP (ORDER BY ${raw(`${source.alias}.created_at`)}) AS at
    FROM ${source.table} WHERE ${source.sightOf({ organizationId: school.id } as Caller)}`;
  const [row] = await make.query<{ at: Date }>(middle.text, middle.values);
  vi.spyOn(Cursors.prototype, 'decode').mockReturnValue({ at: row!.at, id: school.id });
}

/** How many records an answer has. */
function shownIn(text: string): number {
  const body = JSON.parse(text) as { data?: unknown } | unknown[];
  const records = Array.isArray(body) ? body : body.data;
  return Array.isArray(records) ? records.length : 1;
}

/** A file for what each answer reads, from which the figures of docs/decisions/scale.md are. */
const REPORT = process.env.GROWTH_REPORT;

/** How many rows an answer may read, unless {@link allowedFor} says more. */
function mostFor(query: string, answer: string): number {
  const filters = query.match(/[?&](?!cursor)\w+=/g) ?? [];
  return Math.max(FOR_EACH * shownIn(answer) + FOR_ANSWER, filters.length > 1 ? FOR_PAIR : 0);
}

const nameWith = (route: Route, query: string) => nameOf(route) + query.replaceAll(/=[^&]*/g, '');

/** What an answer's statements read too much, with their plans; null if they do not. */
async function excess(plans: GenericPlans, name: string, at: string, statements: Statement[], most: number): Promise<string | null> {
  let read = 0;
  for (const statement of statements) read += await plans.rowsRead(school.id, statement);
  const allowed = allowedFor(name, most);
  if (REPORT) appendFileSync(REPORT, `${read}\t${most}\t${at}\n`);
  if (read <= allowed) return null;
  const texts: string[] = [];
  for (const statement of statements) texts.push(await plans.planOf(school.id, statement));
  return `${at} reads ${read} rows, and may read ${allowed}:\n${texts.join('\n\n')}`;
}

/** Indexes that reads use. */
const used = new Set<string>();

/** Indexes that serve nothing, and lines without an index. */
async function idle(lines: Record<string, string>): Promise<string[]> {
  const indexes = await make.query<{ name: string; derived: boolean }>(INDEXES);
  const unused = indexes.filter(({ name, derived }) => !derived && !used.has(name) && !(name in lines));
  const stale = Object.keys(lines).filter((line) => !indexes.some(({ name, derived }) => name === line && !derived));
  return [
    ...unused.map(({ name }) => `${name}: nothing above uses it. Drop it, or say in test/support/database/index-uses.ts what it serves`),
    ...stale.map((name) => `${name}: remove its line, there is no such index, or it serves a key, a reference or a purge`),
  ];
}

describe('for the largest organization', () => {
  it('each list and record of the API reads no more than a few rows for each that it shows', async () => {
    const plans = await inTest(GenericPlans.connect(api.database.applicationUrl));
    const wrong: (string | null)[] = [];
    for (const route of keyedReads(api)) {
      for (const one of parametersOf(route).length > 0 ? [school, lone] : [school]) {
        for (const query of await queriesOf(route)) {
          for (const cursor of [MIDDLE, END]) if (query.includes(cursor)) await goTo(cursor, route);
          const { statements, answer } = await sentDuring('tutoring api', () => call(api, route, one, { query }));
          const at = `${nameOf(route)}${query}${one === lone ? ' (lone)' : ''}`;
          // Filters that exclude each other.
          if (answer.status === 422 && query.includes('&')) continue;
          // What is not copied.
          if (answer.status === 404 && one === lone) continue;
          if (answer.status !== 200) wrong.push(`${at}: ${answer.status} ${answer.text.slice(0, 200)}`);
          else wrong.push(await excess(plans, nameWith(route, query), at, statements, mostFor(query, answer.text)));
        }
      }
    }
    for (const index of plans.indexes) used.add(index);
    expect(wrong.filter(Boolean)).toEqual([]);
    expect(wrong.length).toBeGreaterThan(300);
  });

  it('each page of the portal reads no more than a few rows for each that it shows', async () => {
    const plans = await inTest(GenericPlans.connect(api.database.portalUrl));
    const portal = await inTest(TestPortal.start({}, api.database));
    const { cookie } = await portal.someone('owner', { organization: school.organization });
    const base = `/o/${school.organization.slug}`;
    const wrong: (string | null)[] = [];
    const ids: Record<string, string> = { ...school.path, ...(await portalIds()) };
    const pages = portal
      .routes()
      .filter(({ method, access }) => method === 'GET' && access === 'managers')
      .map(({ path }) => path.replace('/o/:slug', base).replaceAll(/:([^/]+)/g, (_, name: string) => ids[name] ?? school.id));
    const seen = new Set<string>();
    // Pages that pages lead to are those with filters, and further ones.
    for (const path of pages) {
      const name = path
        .replace(base, '')
        .replaceAll(/[0-9a-f-]{36}/g, '{id}')
        .replaceAll(/(after|before)=[^&]*/g, '$1');
      if (seen.has(name) || seen.size > MOST_PAGES) continue;
      seen.add(name);
      const { statements, answer } = await sentDuring('tutoring portal', () => portal.get(path, cookie).then());
      if (answer.status >= 500) wrong.push(`${name}: ${answer.status}`);
      const reads = statements.filter(({ text }) => /^\s*(SELECT|WITH)\b/.test(text));
      wrong.push(await excess(plans, `portal ${name}`, `portal ${name}`, reads, FOR_PAGE));
      const links = [...answer.text.matchAll(/href="([^"#]+)"/g)].map(([, href]) => href!.replaceAll('&amp;', '&'));
      for (const link of links) {
        const to = link.startsWith('?') ? path.split('?')[0]! + link : link;
        if (to.startsWith(`${base}/`)) pages.push(to);
      }
    }
    for (const index of plans.indexes) used.add(index);
    expect(wrong.filter(Boolean)).toEqual([]);
    expect(seen.size).toBeGreaterThan(50);
  });

  it('each index serves a key, a reference, a purge, a list or page above, or what its line says', async () => {
    expect(await idle(SERVES)).toEqual([]);
    await make.query('CREATE INDEX planted ON sessions (organization_id, title)');
    expect(await idle({ ...SERVES, gone: '' })).toEqual([expect.stringMatching(/^planted: nothing above/), expect.stringMatching(/^gone: remove/)]);
  });
});

it('each function that a process may call reads no more than a few rows for each that it writes or returns', async () => {
  const portal = await inTest(TestPortal.start({}, api.database));
  await portal.someone('owner', { organization: school.organization });
  const [session] = await make.query<{ user_id: string; secret_hash: string }>(
    `SELECT user_id, quote_literal(secret_hash) AS secret_hash FROM portal_sessions ORDER BY created_at DESC LIMIT 1`,
  );
  await make.query(`INSERT INTO webhook_progress (number) SELECT max(number) FROM events ON CONFLICT (id) DO UPDATE SET number = excluded.number`);
  const [message] = await make.query<{ id: string }>(`SELECT id FROM outbox WHERE organization_id = $1 AND topic = 'webhook' LIMIT 1`, [school.id]);
  const { student_id, conversation_id } = { ...school.path, ...school.query };
  const calls = await callsOf(api.database, [
    [/ (secret|hash) bytea$/, session!.secret_hash],
    [/ bytea$/, `sha256('x')`],
    [/ organizations uuid\[\]$/, `ARRAY['${school.id}']::uuid[]`],
    [/ uuid\[\]$/, `ARRAY['${student_id!}']::uuid[]`],
    [/ login uuid$/, `'${session!.user_id}'`],
    [/ (conversation|id) uuid$/, `'${conversation_id!}'`],
    [/ message uuid$/, `'${message!.id}'`],
    [/ uuid$/, 'gen_random_uuid()'],
    [/^claim_outbox wanted text$/, `'email'`],
    [/ text\[\]$/, `ARRAY['x@example.org']`],
    [/ text$/, `'x@example.org'`],
    [/ (integer|bigint)$/, '30'],
    [/ interval$/, `interval '30 days'`],
    [/ boolean$/, 'true'],
    [/ timestamp with time zone$/, 'now()'],
    [/ jsonb$/, `'{}'`],
    [/ json$/, `'[]'`],
    [/ organizations$/, 'NULL'],
  ]);
  const wrong: string[] = [];
  for (const one of calls) {
    const { read, shown } = await readsOf(api.database, school.id, one);
    if (REPORT) appendFileSync(REPORT, `${read}\t${shown}\t${one.text}\n`);
    if (read > allowedFor(one.text, FOR_ANSWER + FOR_EACH * shown)) wrong.push(`${one.text} reads ${read} rows for ${shown}`);
  }
  expect(wrong).toEqual([]);
  expect(calls.length).toBeGreaterThan(80);
});

/** Records that portal pages are about. */
async function portalIds(): Promise<Record<string, string>> {
  const keys = await make.query<{ id: string }>('SELECT id FROM api_keys WHERE organization_id = $1 LIMIT 1', [school.id]);
  const { student_id, session_id, booking_request_id } = { ...school.path, ...school.query };
  return { key_id: keys[0]!.id, user_id: student_id!, lesson_id: session_id!, request_id: booking_request_id! };
}
