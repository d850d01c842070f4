import pg from 'pg';
import { Fairness } from '../../../apps/api/src/http/request/fairness.js';
import { waitsFor } from '../../support/database/lock-waits.js';
import { TestApi } from '../../support/http/api.js';
import { createListFixture, listRows, rowsAt } from '../../support/data/list-rows.js';
import { Random } from '../../support/data/random.js';
import { forgetKeyUsage, type Statement, statementsFor } from '../../support/database/read-statements.js';
import { documentOf, filtersOf, keyedReads, nameOf, queryOf, type Route, sampleOf } from '../../support/http/routes.js';
import { createFixtures } from '../../support/data/fixtures.js';
import { fixture } from '../../support/process/fixture.js';

forgetKeyUsage();
const api = await fixture(TestApi.start());
const fixtures = await createFixtures(api);
const document = await documentOf(api);
const random = new Random(11);
for (const { insert } of listRows(api).values()) {
  const stage = await createListFixture(fixtures.make, new Date());
  await insert(fixtures.make, stage, rowsAt(Array<string>(50).fill('2026-05-01T00:00:00Z'), random));
}
// Makes all pages visible to index-only scans; VACUUM skips those that an older transaction may not see yet.
await fixtures.make.query('VACUUM ANALYZE');
await fixtures.make.query(`UPDATE pg_class SET relallvisible = relpages WHERE relkind = 'r'`);
/** Connected as the application's role, under row-level security. */
const client = new pg.Client({ connectionString: api.database.applicationUrl });
await client.connect();
// The tables are small here; what matters is whether an index can serve the query.
for (const way of ['seqscan', 'bitmapscan', 'sort']) await client.query(`SET enable_${way} = off`);

afterAll(() => client.end());

/** No longer than the staff of one organization, of whom most pages show all. */
const SHORT = ['/v1/coverage/tutors'];

/** A number is one invoice's, a reference that of few payments; a search reads what people are called, as no index has parts of words. */
const SHALLOW = ['invoice_number', 'reference', 'search'];

const lists = (): Route[] => keyedReads(api).filter((route) => queryOf(document, route).has('offset') && !SHORT.includes(route.path));

/** Deep pages of the list: without filters, with each filter, and with each pair. */
function deepQueries(route: Route): string[] {
  const filters = [...filtersOf(document, route)]
    .filter(([name]) => !SHALLOW.includes(name))
    .map(([name, schema]) => `${name}=${sampleOf(name, schema, fixtures.a)}`);
  const pairs = filters.flatMap((first, index) => filters.slice(index + 1).map((second) => `${first}&${second}`));
  return ['', ...filters, ...pairs].map((filter) => `?offset=100&${filter}`.replace(/&$/, ''));
}

type PlanNode = { 'Node Type': string; 'Relation Name'?: string; 'Subplan Name'?: string; Plans?: PlanNode[] };

async function planOf({ text, values }: Statement): Promise<PlanNode> {
  await client.query('BEGIN READ ONLY');
  try {
    await client.query(`SELECT set_config('app.organization_id', $1, true)`, [fixtures.a.id]);
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>({ text: `EXPLAIN (FORMAT JSON) ${text}`, values });
    return rows[0]!['QUERY PLAN'][0].Plan;
  } finally {
    await client.query('ROLLBACK');
  }
}

/** Nodes that read tables. */
function scansIn(node: PlanNode): string[] {
  const own = / Scan/.test(node['Node Type']) && node['Relation Name'] ? [node['Node Type']] : [];
  return [...own, ...(node.Plans ?? []).flatMap(scansIn)];
}

/** The scans that skip rows: everything below the LIMIT, and what finds all rows for a total that no counter has. */
function skippingScans(node: PlanNode): string[] {
  if (node['Node Type'] === 'Limit' || node['Subplan Name'] === 'CTE matching') return scansIn(node);
  return (node.Plans ?? []).flatMap(skippingScans);
}

describe('a deep page', () => {
  it('is found by an index-only scan with any filters under row-level security', async () => {
    const wrong: string[] = [];
    let looked = 0;
    for (const route of lists()) {
      for (const query of deepQueries(route)) {
        const [page] = await statementsFor(api, route, fixtures.a, { query });
        const scans = skippingScans(await planOf(page!));
        looked++;
        if (scans.length === 0 || scans.some((scan) => scan !== 'Index Only Scan')) {
          wrong.push(`${nameOf(route)}${query}: ${scans.join(', ')}`);
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(looked).toBeGreaterThan(50);
  });

  it('shows the same conversations as walking the list from the start', async () => {
    const { id: school } = await fixtures.make.organization();
    const { id: tutor } = await fixtures.make.tutor(school);
    for (let n = 0; n < 130; n++) await fixtures.make.conversation({ participants: [tutor] });
    const key = await api.key(school);
    const idsAt = async (query: string) => {
      const page = await api.get(`/v1/conversations?${query}`, key);
      return (page.body as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    const walked: string[] = [];
    for (let offset = 0; offset < 130; offset += 13) walked.push(...(await idsAt(`limit=13&offset=${offset}`)));
    expect(new Set(walked).size).toBe(130);
    expect(await idsAt('limit=100&offset=30')).toEqual(walked.slice(30));
  });

  it('is read while no other is', async () => {
    const admin = new pg.Client({ connectionString: api.database.adminUrl });
    await admin.connect();
    const { deepPages } = api.app.get(Fairness);
    try {
      await admin.query('BEGIN; LOCK TABLE homework IN ACCESS EXCLUSIVE MODE');
      const answers = Array.from({ length: 5 }, () => api.get('/v1/homework?offset=20000', fixtures.a.key).then());
      await vi.waitFor(() => expect([deepPages.held, deepPages.waiting]).toEqual([1, 4]));
      expect((await admin.query(waitsFor('homework'))).rows).toHaveLength(1);
      await admin.query('ROLLBACK');
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(5).fill(200));
    } finally {
      await admin.end();
    }
  });

  it('that takes too long suggests cursors if the list has them', async () => {
    const admin = new pg.Client({ connectionString: api.database.adminUrl });
    await admin.connect();
    // Exceeds the statement timeout with a single row.
    const slow = (table: string) => `CREATE POLICY slow ON ${table} AS RESTRICTIVE USING (pg_sleep(10) IS NOT NULL)`;
    for (const table of ['homework', 'organization_conversations']) await admin.query(slow(table));
    try {
      const paths = ['/v1/homework?offset=100', '/v1/homework', '/v1/homework?cursor=start', '/v1/conversations?offset=100'];
      const answers = await Promise.all(paths.map((path) => api.get(path, fixtures.a.key)));
      expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
      expect(answers.map(({ headers }) => headers['retry-after'])).toEqual(['1', '1', '1', '1']);
      const told = answers.map(({ body }) => /cursor=start/.test((body as { error: { message: string } }).error.message));
      expect(told).toEqual([true, false, false, false]);
    } finally {
      await admin.query('DROP POLICY slow ON homework');
      await admin.query('DROP POLICY slow ON organization_conversations');
      await admin.end();
    }
  });
});
