import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { percentile } from '../../support/data/percentile.js';
import { createFixtures } from '../../support/data/fixtures.js';
import { reached } from '../../support/faults/promise.js';
import { TestApi } from '../../support/http/api.js';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { requestOf } from '../../support/load/load.js';
import { TestNginx } from '../../support/load/nginx.js';
import { bytesOf } from '../../support/http/raw-http.js';
import type { SlowClients, SlowReport } from '../../support/load/slow-attack.js';
import { SteadyTraffic } from '../../support/load/steady-traffic.js';
import { fixture, inTest } from '../../support/process/fixture.js';
import { freePorts } from '../../support/process/free-ports.js';

/** Promise 29: slow clients cannot hold the service. Takes about four minutes. */
const SECONDS = Number(process.env.SECONDS ?? 60);
const CLIENTS = Number(process.env.CLIENTS ?? 1_000);
const MOST_SLOWDOWN = 2;
/** Rate of the ordinary requests, and how long they run alone. */
const PER_SECOND = 50;
const ALONE_SECONDS = 30;
/** Node's own limits for headers and for whole requests, without a proxy, and the tolerance (s). */
const LIMITS = [10, 60];
const SLACK = 3;
/** More than the kernel's buffers hold of an answer. */
const ANSWER_BYTES = 5_000_000;
const PROGRAM = fileURLToPath(new URL('../../support/load/slow-attack.ts', import.meta.url));
/** Servers that wait forever, as Node's do with its timeouts set to 0. */
const PLANTED = `data:text/javascript,import { Server } from 'node:http';
  for (const name of ['headersTimeout', 'requestTimeout']) Object.defineProperty(Server.prototype, name, { get: () => 0, set() {} });`;

await buildOnce();
const api = await fixture(TestApi.start());
const fixtures = await createFixtures(api);
const dataDir = mkdtempSync(join(tmpdir(), 'tutoring-slow-'));
await fixtures.make.query(
  `INSERT INTO homework (id, assigned_by, title, homework_type, scope, student_id, classroom_id, description, organization_id)
     SELECT gen_random_uuid(), assigned_by, title, homework_type, 'classroom', student_id, classroom_id, repeat('x', ${ANSWER_BYTES / 100}), organization_id
     FROM homework CROSS JOIN generate_series(1, 100) WHERE classroom_id = $1`,
  [fixtures.a.path.classroom_id],
);
const folder = join(dataDir, 'media', 'organization', fixtures.a.id);
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'large.png'), randomBytes(ANSWER_BYTES));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const start = (flags: string[] = []) =>
  ApiProcess.start({ DATABASE_URL: api.database.applicationUrl, LOG_LEVEL: 'error', DATA_DIR: dataDir, TRUST_PROXY: 'true' }, flags); // prettier-ignore

/** Runs slow clients in their own process. */
async function attack(port: number, groups: SlowClients[], seconds: number): Promise<SlowReport[]> {
  const clients = fork(PROGRAM, { execArgv: [] });
  clients.send({ port, groups });
  await sleep(seconds * 1_000);
  clients.send('report');
  const [reports] = (await once(clients, 'message')) as [SlowReport[]];
  clients.kill('SIGKILL');
  return reports;
}

/** Slow headers, and half a body. */
const senders = (path: string, headers: [string, string][], count: number): SlowClients[] => [
  { bytes: `GET ${path} HTTP/1.1\r\nHost: a\r\nX-A: `, reads: false, count },
  { bytes: bytesOf(path, { method: 'POST', headers: [['Content-Length', '1000'], ...headers], body: '{' }), reads: false, count }, // prettier-ignore
];

async function groupsFor(organizationId: string, count: number): Promise<SlowClients[]> {
  const key = await api.key(organizationId, { scopes: ['read', 'accounts:write'] });
  const answers = ['/v1/homework?limit=100', `/media/organization/${organizationId}/large.png`];
  return [
    ...senders('/v1/invites', [['Authorization', `Token token=${key}`], ['Content-Type', 'application/json']], count),
    ...answers.map((path) => ({ bytes: requestOf(path, key), reads: true, count: count / 10 })),
  ]; // prettier-ignore
}

/** Ordinary requests through nginx, alone and beside slow clients. */
async function behindNginx(seconds: number, connections?: number) {
  const target = await inTest(start());
  const port = await freePorts(1);
  await inTest(TestNginx.start(port, [target.port], connections));
  const key = await api.key(fixtures.b.id, { scopes: ['read', 'accounts:write'] });
  const traffic = await inTest(Promise.resolve(new SteadyTraffic(port, key, PER_SECOND)));
  await sleep(5_000);
  traffic.reset();
  await sleep((ALONE_SECONDS * 1_000 * seconds) / 60);
  const alone = percentile(traffic.times, 0.99);
  const failed = traffic.failures.length;
  traffic.reset();
  const reports = await attack(port, await groupsFor(fixtures.a.id, CLIENTS), seconds);
  await traffic.stop();
  return { alone, failed, beside: percentile(traffic.times, 0.99), traffic, reports };
}

it('nginx keeps slow clients away from the API', async () => {
  const { alone, failed, beside, traffic, reports } = await behindNginx(SECONDS);
  const held = reports.map(({ open }) => open.length).join(' + ');
  reached(29, `behind nginx, ${held} slow clients after ${SECONDS} s: p99 ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside them; ${traffic.failures.length} of ${traffic.times.length} failed`); // prettier-ignore
  expect(failed).toBe(0);
  expect(traffic.failures).toEqual([]);
  expect(beside).toBeLessThanOrEqual(MOST_SLOWDOWN * alone);
});

it('catches an nginx with too few connections', async () => {
  const { traffic } = await behindNginx(10, CLIENTS);
  console.log(`row 29, planted bug: ${traffic.failures.length} requests failed`);
  expect(traffic.failures.length).toBeGreaterThan(0);
});

it("without a proxy, the API and the portal disconnect slow senders after Node's own limits", async () => {
  const headers: [string, string][] = [['Authorization', `Token token=${await api.key(fixtures.a.id, { scopes: ['accounts:write'] })}`], ['Content-Type', 'application/json']]; // prettier-ignore
  const form: [string, string][] = [['Sec-Fetch-Site', 'same-origin'], ['Content-Type', 'application/x-www-form-urlencoded']]; // prettier-ignore
  const portal = await inTest(ApiProcess.start({ PORTAL_DATABASE_URL: api.database.portalUrl, LOG_LEVEL: 'error' }, [], 'portal'));
  const victims = { api: await inTest(start()), portal };
  const count = CLIENTS / 10;
  const reports = await Promise.all([
    attack(victims.api.port, senders('/v1/invites', headers, count), LIMITS[1]! + 2 * SLACK),
    attack(portal.port, senders('/sign-in', form, count), LIMITS[1]! + 2 * SLACK),
  ]);
  for (const [index, app] of Object.keys(victims).entries()) {
    const longest = reports[index]!.map(({ closed, open }) => Math.max(...closed, ...open));
    reached(29, `the ${app} alone: headers cut after at most ${longest[0]!.toFixed(0)} s, bodies after ${longest[1]!.toFixed(0)} s`); // prettier-ignore
    for (const [kind, limit] of LIMITS.entries()) {
      expect(longest[kind]).toBeLessThanOrEqual(limit + SLACK);
      expect(reports[index]![kind]!.closed.length).toBeGreaterThanOrEqual(count);
    }
    expect(reports[index]!.flatMap(({ statuses }) => statuses)).toEqual(['408', '408']);
  }
});

it('catches a server without limits', async () => {
  const target = await inTest(start(['--import', PLANTED]));
  const [headers] = await attack(target.port, senders('/v1/invites', [], 20), LIMITS[0]! + SLACK);
  expect(headers!.closed).toEqual([]);
});
