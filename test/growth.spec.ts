import { appendFileSync } from 'node:fs';
import sql, { raw } from 'sql-template-tag';
import { Cursors } from '../apps/api/src/http/lists/cursor.js';
import type { Caller } from '../apps/api/src/http/auth/caller.js';
import { createOrganizationFixture, type OrganizationFixture, parametersOf } from './support/data/fixtures.js';
import { copyOf, growOrganization } from './support/data/growth.js';
import { callsOf, readsOf } from './support/database/function-reads.js';
import { forgetKeyUsage, sentDuring, type Statement } from './support/database/read-statements.js';
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

/** What reads more: at most so many rows, and why. */
const MORE: [answers: RegExp, most: number, reason: string][] = [
  [/[?&]search/, 8_100, 'no index has parts of words: a search reads what all are called'],
  [
    /request-log\?.*(method|route|status|api_key_id)/,
    2_100,
    'the log, of at most 100,000 requests, has one index: a second one would double what a request costs',
  ],
  [/events\?.*(types|resource)/, 3_100, 'whoever follows the feed reads each event once, also those of other types'],
  [/blog-posts\?.*(brand|status)/, 2_100, 'all posts of an organization, of which there are hundreds'],
  [/questions.*[?&]curriculum_level_id/, 4_100, 'all questions: row-level security lets no index look into arrays'],
  [/sessions\?.*student_id/, 1_100, 'all lessons of the student'],
  [/tutors\/\{tutor_id\}\/earnings/, 1_600, 'what the tutor has earned in the period'],
  [/tutors\?.*subject/, 1_800, 'those who teach the subject'],
  [/coverage\/summary\?.*subject/, 2_600, 'those who teach the subject, and where they live'],
  [/coverage\/summary\?.*postcode/, 7_100, 'the tutors, their profiles, and where they live'],
  [
    /coverage\/gaps$|coverage\/gaps\?min/,
    27_000,
    'the requests of half a year, with where their students live; the tutors; each pair of their places once',
  ],
  [/coverage\/gaps/, 3_400, 'the same of a subject'],
  [
    /recommended-tutors|^portal \/enquiries\/requests\/\{id\}/,
    23_000,
    'those who teach the subject, or all tutors if they are too few: each is given a score',
  ],
  [/^outbox_backlog/, 4_100, 'what waits is counted to 10,000'],
  [/^sample_organization_bytes/, 60_000, 'samples of up to 50,000 pages of the 20 largest tables'],
  [/^mend_turns/, 8_200, 'each turn, and the calls that an endpoint waits for: at most 10'],
  [/^fill_webhooks/, 1_100, 'a thousand events for each endpoint that it looks at'],
  [/GET \/v1\/users/, 2_100, 'those who have not accepted: row-level security lets no index help with what the organization supplied'],
  [/webhook-endpoints|^portal \/webhooks/, 9_100, 'what waits for an endpoint is counted up to a thousand'],
  [/^portal \/(activity|keys\/\{id\}$)/, 1_100, 'the chart is of the whole log, which has at most 100,000 requests: from its one index'],
  [/^portal \/[^?]*download/, 10_000, 'all of the month'],
  [/^portal \/people\/\{id\}\/remove/, 10_000, 'the staff, of whom one may take over, and the open invites of the organization'],
  [/^portal \/people\/\{id\}/, 3_100, 'the open invites of the organization: who made them'],
  [/^portal \/money\/families/, 1_100, 'what the family has paid'],
  [/^portal (\/people|\/money|$)/, 3_300, 'what waits is counted up to a thousand of each kind'],
];

forgetKeyUsage();
const api = await fixture(TestApi.start());
const { make } = api;
const school = await createOrganizationFixture(api, make);
await make.row('questions', { catalogue: 'vcaa', topic: 'Quadratics' });
await make.query(`INSERT INTO places (postcode, suburb, lat, lng) VALUES ('3056', 'Brunswick', -37.77, 144.96) ON CONFLICT DO NOTHING`);
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
  const ways = ['', ...start, ...(listAt(route) ? start.map(() => `cursor=${MIDDLE}`) : [])];
  const queries = [
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

/** A cursor that {@link goTo} has said the place of. */
const MIDDLE = 'm'.repeat(54);

/** Has {@link MIDDLE} name the middle of the route's list. */
async function goTo(route: Route): Promise<void> {
  const { source } = listAt(route)!;
  const middle = sql`SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY ${raw(`${source.alias}.created_at`)}) AS at
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

/** How many rows an answer may read, unless {@link MORE} says more. */
function mostFor(query: string, answer: string): number {
  const filters = query.match(/[?&](?!cursor)\w+=/g) ?? [];
  return Math.max(FOR_EACH * shownIn(answer) + FOR_ANSWER, filters.length > 1 ? FOR_PAIR : 0);
}

const nameWith = (route: Route, query: string) => nameOf(route) + query.replaceAll(/=[^&]*/g, '');

const allowedFor = (name: string, most: number): number => Math.max(most, MORE.find(([answers]) => answers.test(name))?.[1] ?? 0);

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
          if (query.includes(MIDDLE)) await goTo(route);
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
