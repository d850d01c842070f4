import pg from 'pg';
import { TestApi } from '../../support/http/api.js';
import { lengthenTexts } from '../../support/data/longest-rows.js';
import { forgetKeyUsage, FRAME, type Statement, statementsFor, statementsOf } from '../../support/database/read-statements.js';
import { call, filtersOf, documentOf, keyedReads, nameOf, queryOf, type Route, sampleOf } from '../../support/http/routes.js';
import { createFixtures, type OrganizationFixture } from '../../support/data/fixtures.js';
import { fixture } from '../../support/process/fixture.js';

/** A statement that the application sent for a request of school A. */
interface Sent extends Statement {
  by: string;
}

forgetKeyUsage();
const api = await fixture(TestApi.start());
const fixtures = await createFixtures(api);
/** The application's role, bound by row-level security, and a superuser, who is not. */
const held = new pg.Client({ connectionString: api.database.applicationUrl });
const free = new pg.Client({ connectionString: api.database.adminUrl });
await Promise.all([held.connect(), free.connect()]);
/** May read all: the codes that let people in are shown to keys with `accounts:write` only. */
const key = await api.key(fixtures.a.id, { scopes: ['read', 'accounts:write', 'webhooks:write'], platformBlog: true });
/** All but one that says the same to everybody. */
const routes = keyedReads(api).filter((route) => nameOf(route) !== 'GET /v1/event-types');
const sent = await statementsOfEveryRead();
// Pages too large to be rendered at once are read by row id.
await lengthenTexts(fixtures.make);
sent.push(...(await statementsOfEveryRead()).filter(({ text }) => text.includes('WITH ORDINALITY')));

afterAll(() => Promise.all([held.end(), free.end()]));

/** How the transaction of a read begins; faults-of-reads.spec.ts proves that it holds. */
const READ_ONLY = /^SELECT .*set_config\('transaction_read_only', 'on', true\), enter_home\(false\)$/;

async function statementsOfEveryRead(): Promise<Sent[]> {
  const found = new Map<string, Sent>();
  const document = await documentOf(api);
  for (const route of routes) {
    for (const search of searchesOf(route)) {
      const statements = await statementsFor(api, route, fixtures.a, { query: search, key });
      for (const statement of statements) found.set(statement.text, { by: `${nameOf(route)}${search}`, ...statement });
    }
  }
  return [...found.values()];

  function searchesOf(route: Route): string[] {
    const filters = [...filtersOf(document, route)].map(([name, schema]) => `${name}=${sampleOf(name, schema, fixtures.a)}`);
    const parameters = queryOf(document, route);
    const paged = [
      ...(parameters.has('offset') ? ['?offset=100'] : []),
      ...(parameters.has('cursor') ? [`?cursor=${String(parameters.get('cursor')!.examples![0])}`] : []),
    ];
    return ['', ...filters.map((filter) => `?${filter}`), ...paged];
  }
}

/** `x.organization_id = $2`, or `o.id = $1` of the organizations themselves. */
const PREDICATE = /\b(?:\w+\.)?(organization_id|id) = \$(\d+)/g;

/** The predicates that bind the statement to the organization. */
function predicates({ text, values }: Sent, organizationId: string): string[] {
  return [...text.matchAll(PREDICATE)]
    .filter(([, column, position]) => {
      return values[Number(position) - 1] === organizationId && (column === 'organization_id' || /organizations o\b/.test(text));
    })
    .map(([predicate]) => predicate);
}

/** The statement as it would be if its author had forgotten the organization. */
function forgetful(statement: Sent, organizationId: string): Sent {
  let { text } = statement;
  for (const predicate of predicates(statement, organizationId)) {
    text = text.replace(new RegExp(`${predicate.replaceAll(/[.$]/g, '\\$&')}(?!\\d)`), `(${predicate} OR true)`);
  }
  return { ...statement, text };
}

/** The same statement with the ids of another school. */
function swapped(statement: Sent, from: OrganizationFixture, to: OrganizationFixture): Sent {
  const ids = new Map([[from.id, to.id]]);
  for (const name of Object.keys(from.path)) ids.set(from.path[name]!, to.path[name]!);
  for (const name of Object.keys(from.query)) ids.set(from.query[name]!, to.query[name]!);
  return { ...statement, values: statement.values.map((value) => ids.get(value as string) ?? value) };
}

async function run(client: pg.Client, tenant: OrganizationFixture, { text, values }: Sent): Promise<string> {
  try {
    await client.query(
      `BEGIN READ ONLY; SELECT set_config('app.organization_id', '${tenant.id}', true), set_config('app.platform_blog', 'on', true)`,
    );
    const { rows } = await client.query({ text, values });
    return JSON.stringify(rows);
  } finally {
    await client.query('ROLLBACK');
  }
}

const idsIn = (text: string, school: OrganizationFixture): string[] => [school.id, ...school.ids].filter((id) => text.includes(id));

describe('every statement of a read', () => {
  it('names the caller’s organization', () => {
    expect(sent.length).toBeGreaterThan(30);
    const forgotten = sent.filter((statement) => predicates(statement, fixtures.a.id).length === 0);
    expect(forgotten.map(({ by, text }) => `${by}: ${text}`)).toEqual([]);
  });

  it('never shows the application another organization, even if it forgets the predicate', async () => {
    const leaks: string[] = [];
    let real = 0;
    for (const statement of sent) {
      const mutant = forgetful(statement, fixtures.a.id);
      const theirs = swapped(mutant, fixtures.a, fixtures.b);
      for (const asked of [mutant, theirs, swapped(mutant, fixtures.a, fixtures.c)]) {
        const answer = await run(held, fixtures.a, asked);
        const shown = [...idsIn(answer, fixtures.b), ...idsIn(answer, fixtures.c)];
        if (shown.length > 0) leaks.push(`${statement.by} shows ${shown.join(', ')}: ${mutant.text}`);
      }
      if (idsIn(await run(free, fixtures.a, theirs), fixtures.b).length > 0) real++;
    }
    expect(leaks).toEqual([]);
    expect(real).toBeGreaterThan(sent.length / 2);
  });

  it('runs in a transaction that cannot write', async () => {
    expect((await api.get('/v1/ping', key)).status).toBe(200);
    const query = vi.spyOn(pg.Client.prototype, 'query');
    for (const route of routes) {
      query.mockClear();
      await call(api, route, fixtures.a, { key });
      const batches = query.mock.calls.map(([first]) => statementsOf(first).map(({ text }) => text.trim()));
      // One batch for the page, and one for each part of a large page. Besides, readiness looks every second.
      const reads = batches.filter((statements) => statements.some((text) => !FRAME.test(text)));
      expect([nameOf(route), reads.filter(([first]) => !READ_ONLY.test(first!))]).toEqual([nameOf(route), []]);
      expect(reads.length).toBeGreaterThan(0);
      // The key is looked up in the first of them.
      expect([nameOf(route), reads[0]![1]]).toEqual([nameOf(route), expect.stringContaining('api_key_by_hash')]);
    }
    query.mockRestore();
  });
});
