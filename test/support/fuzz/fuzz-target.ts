import { fileURLToPath } from 'node:url';
import { type Scope, SCOPES } from '@app/access';
import { AnswerCheck } from '../http/answer-check.js';
import { TestApi } from '../http/api.js';
import { ApiProcess, buildOnce } from '../http/api-process.js';
import { FuzzRequests } from './fuzz-requests.js';
import { fuzz, type FuzzReport, type Judge } from './fuzz-run.js';
import type { Cost } from '../load/metered.js';
import { parametersOfReads } from './query-values.js';
import { Random } from '../data/random.js';
import { isUpload, operationOf, recordFor, validWrites, type ValidWrite, WHOLE, writesOf } from '../http/record-for.js';
import { allRoutes, type Route } from '../http/routes.js';
import { createFixtures, pathOf, type OrganizationFixture, type Fixtures } from '../data/fixtures.js';
import { reached } from '../faults/promise.js';

/** Statuses of the guards that every run has to meet. */
const GUARDS = [400, 401, 404, 405, 417, 431];

const METER = fileURLToPath(new URL('../load/meter.js', import.meta.url));

type Parameters = Awaited<ReturnType<typeof parametersOfReads>>;

/** An API process on a filled database, and generated requests for it. */
export class FuzzTarget {
  private constructor(
    readonly api: TestApi,
    readonly fixtures: Fixtures,
    readonly check: AnswerCheck,
    private readonly target: ApiProcess,
    private readonly routes: Route[],
    private readonly parameters: Parameters,
    private readonly schools: OrganizationFixture[],
    private readonly keys: string[],
    private readonly writes: Map<OrganizationFixture, ValidWrite[]>,
  ) {}

  static async open(): Promise<FuzzTarget> {
    await buildOnce();
    const api = await TestApi.start();
    const fixtures = await createFixtures(api);
    // Excludes uploads, which have their own runs, and metrics, which are not JSON.
    const routes = allRoutes(api).filter((route) => route.path !== '/metrics' && !isUpload(route) && operationOf(route) !== WHOLE);
    const { applicationUrl } = api.database;
    // A busy machine answers late, but it answers.
    const settings = { SMTP_URL: 'smtp://127.0.0.1:9', REQUEST_DEADLINE_SECONDS: '60' };
    const target = await ApiProcess.start({ DATABASE_URL: applicationUrl, ...settings }, ['--import', METER]);
    const revoked = await api.keys.create(fixtures.a.id, { name: 'revoked' });
    await api.keys.revokeOf(fixtures.a.id, revoked.id);
    const keys = [await api.key(fixtures.a.id, { expiresAt: new Date(0) }), revoked.key, fixtures.a.platformKey];
    const all = { scopes: Object.keys(SCOPES) as Scope[], platformBlog: true };
    const schools: OrganizationFixture[] = [];
    for (const school of [fixtures.a, fixtures.b]) schools.push({ ...school, key: await api.key(school.id, all) });
    await warmUp(target, schools);
    const parameters = await parametersOfReads(api);
    const writing = writesOf(api).filter((route) => !isUpload(route));
    const writes = new Map<OrganizationFixture, ValidWrite[]>();
    for (const school of schools) writes.set(school, await validWrites(writing, fixtures.make, school));
    return new FuzzTarget(api, fixtures, new AnswerCheck(routes), target, routes, parameters, schools, keys, writes);
  }

  /** The sequence of requests for this seed. Each deletion takes a record of its own, of which one in 250 requests is enough. */
  private async requests(seed: number, most: number): Promise<FuzzRequests> {
    const { make, a: school } = this.fixtures;
    const spare = new Map<string, string[]>();
    for (const route of this.routes.filter(({ method }) => method === 'DELETE')) {
      const paths: string[] = [];
      for (let count = 0; count < most / 250; count++) {
        paths.push(pathOf(route, { ...school, path: await recordFor(route, make, school) }));
      }
      spare.set(operationOf(route), paths);
    }
    const { routes, parameters, schools, keys, writes } = this;
    return new FuzzRequests(new Random(seed), routes, parameters, schools, keys, writes, spare);
  }

  /** Sends requests and checks the responses, the log and the process against the promises. */
  async run(seed: number, count: number): Promise<void> {
    const requests = await this.requests(seed, count);
    await this.target.ask('begin');
    const started = Date.now();
    const nameOf = ({ method, path }: Route) => `${method} ${path}`;
    const operations = new Set(this.routes.map(nameOf));
    // What has not succeeded by then is tried until it does.
    const next = (report: FuzzReport) => {
      const left = report.sent > count ? this.routes.filter((route) => !report.succeeded.has(nameOf(route))) : [];
      return requests.next(left.length > 0 ? left : undefined);
    };
    // Proves that requests got through to every route and hit every guard, each of which is left to chance.
    const complete = (report: FuzzReport) =>
      report.succeeded.size === operations.size && GUARDS.every((status) => answered(report, status, status + 1) > 5);
    const report = await fuzz(this.target.port, count, next, this.judge, complete);
    const { hold } = (await this.target.ask('end')) as Cost;
    tell(seed, report, Date.now() - started, hold);
    expect(report.failures).toEqual([]);
    expect(report.sent).toBeGreaterThanOrEqual(count);
    expect([this.target.ended, this.target.stderr]).toEqual([null, '']);
    expect(this.target.lines.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
    expect(report.succeeded).toEqual(operations);
    expect(answered(report, 200, 300)).toBeGreaterThan(count * 0.15);
    expect(answered(report, 422, 423)).toBeGreaterThan(count * 0.15);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    for (const status of GUARDS) expect(answered(report, status, status + 1), String(status)).toBeGreaterThan(5);
    // The promise is 200 ms on a dedicated processor. Other load makes the same work take longer, but not that much.
    expect(hold).toBeLessThan(500);
  }

  async close(): Promise<void> {
    await this.target.stop();
    await this.api.stop();
  }

  /** Checks a success against the schema of the route that the path matches, which may not be the intended one. */
  private readonly judge: Judge = ({ method, path }, answer) => {
    const faults = answer.status >= 500 ? [`status ${answer.status}`] : [];
    return [...faults, ...this.check.faults(answer, this.routeAt(method === 'HEAD' ? 'GET' : method, path))];
  };

  private routeAt(method: string, path: string): string | undefined {
    const fitting = this.routes.filter((route) => route.method === method && new RegExp(`^${route.path.replaceAll(/:[^/]+/g, '[^/]+')}$`).test(path));
    const [route] = fitting.sort((a, b) => a.path.split(':').length - b.path.split(':').length);
    return route && `${method} ${route.path}`;
  }
}

/** Opens the connections to the database, which a stalled machine may refuse a few times. */
async function warmUp({ port, lines }: ApiProcess, schools: OrganizationFixture[]): Promise<void> {
  const ask = ({ key }: OrganizationFixture) => fetch(`http://127.0.0.1:${port}/v1/tutors`, { headers: { Authorization: `Token token=${key}` } });
  await vi.waitFor(async () => {
    const answers = await Promise.all(Array.from({ length: 32 }, (_, index) => ask(schools[index % schools.length]!)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });
  lines.length = 0;
}

/** Counts answers with `from` <= status < `to`. */
function answered({ statuses }: FuzzReport, from: number, to: number): number {
  return [...statuses].reduce((sum, [status, n]) => sum + (status >= from && status < to ? n : 0), 0);
}

function tell(seed: number, { sent, statuses }: FuzzReport, ms: number, hold: number): void {
  const told = [...statuses].sort(([a], [b]) => a - b).map(([status, n]) => `${status}: ${n}`);
  console.log(`${sent} requests in ${Math.round(ms)} ms: ${told.join(', ')}`);
  reached(22, `${sent} requests, longest stall ${Math.round(hold)} ms`, seed);
}
