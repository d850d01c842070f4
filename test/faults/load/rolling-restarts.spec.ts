import { TestApi } from '../../support/http/api.js';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { TestNginx } from '../../support/load/nginx.js';
import { reached } from '../../support/faults/promise.js';
import { SteadyTraffic } from '../../support/load/steady-traffic.js';
import { fixture, inTest } from '../../support/process/fixture.js';
import { freePorts } from '../../support/process/free-ports.js';
import { Mailroom } from '../../support/worker/mailroom.js';

/**
 * Promise 33: two processes behind nginx, which retries nothing, are restarted alternately under traffic. Takes about nine
 * minutes.
 */
const RESTARTS = Number(process.env.RESTARTS ?? 50);
const PER_SECOND = Number(process.env.PER_SECOND ?? 200);
const MOST_SECONDS = 10;

await buildOnce();
const api = await fixture(TestApi.start());
const { id } = await api.organizations.create({ name: 'Rolling', slug: 'rolling' });
const key = await api.key(id, { scopes: ['read', 'accounts:write'] });

async function restart(count: number, settings: Record<string, string> = {}) {
  const front = await freePorts(3);
  const ports = [front + 1, front + 2];
  const start = (port: number) =>
    ApiProcess.start({
      DATABASE_URL: api.database.applicationUrl,
      PORT: String(port),
      TRUST_PROXY: 'true',
      LOG_LEVEL: 'error',
      // The default; ApiProcess sets 0.
      SHUTDOWN_DELAY_SECONDS: '',
      ...settings,
    });
  const processes = await Promise.all(ports.map((port) => inTest(start(port))));
  const nginx = await inTest(TestNginx.start(front, ports));
  await nginx.until(ports);
  const traffic = await inTest(Promise.resolve(new SteadyTraffic(nginx.port, key, PER_SECOND)));
  const exits: (number | string)[] = [];
  let slowest = 0;
  for (let index = 0; index < count; index++) {
    const which = index % 2;
    const began = performance.now();
    processes[which]!.signal('SIGTERM');
    exits.push(await processes[which]!.exit);
    slowest = Math.max(slowest, (performance.now() - began) / 1_000);
    processes[which] = await inTest(start(ports[which]!));
    await nginx.until(ports);
  }
  await traffic.stop();
  return { answered: traffic.times.length, failures: traffic.failures, complaints: nginx.complaints, exits, slowest };
}

it('rolling restarts fail no request', async () => {
  const began = performance.now();
  const { answered, failures, complaints, exits, slowest } = await restart(RESTARTS);
  const rate = answered / ((performance.now() - began) / 1_000);
  const failed = exits.filter((exit) => exit !== 0).length;
  reached(33, `${failures.length} of ${answered} requests failed in ${exits.length} restarts at ${rate.toFixed(0)} requests/s; ${failed} exits other than 0, the slowest after ${slowest.toFixed(1)} s`); // prettier-ignore
  expect([[...new Set(failures)], complaints]).toEqual([[], []]);
  expect(exits).toEqual(Array(RESTARTS).fill(0));
  expect(slowest).toBeLessThanOrEqual(MOST_SECONDS);
  expect(rate).toBeGreaterThan(PER_SECOND / 2);
});

it('catches a process that closes its port at once', async () => {
  const { failures } = await restart(4, { SHUTDOWN_DELAY_SECONDS: '0' });
  console.log(`row 33, planted bug: ${failures.length} requests failed in 4 restarts, ${new Set(failures).size} ways`);
  expect(failures.length).toBeGreaterThan(0);
});

it('a worker told to stop finishes what it can and releases the rest', async () => {
  const room = await inTest(Mailroom.open());
  const { smtp } = room;
  // The server stalls on some recipients and is quick with the others.
  smtp.atRecipient = (address) => ({ waitMs: /[024]0@/.test(address) ? 60_000 : 50 });
  const mails = await room.queue('mail', 60);
  const worker = await room.hire();
  await vi.waitUntil(() => smtp.received.length > 5, 30_000);
  const began = performance.now();
  worker.signal('SIGTERM');
  const [code] = (await worker.exit) as [number | null];
  const seconds = (performance.now() - began) / 1_000;
  const leases = await room.leasedBy(worker);
  reached(33, `a worker ended with ${code} after ${seconds.toFixed(1)} s, ${smtp.received.length} of 60 mails sent, ${leases} leases left`);
  expect([code, leases]).toEqual([0, 0]);
  expect(seconds).toBeLessThanOrEqual(MOST_SECONDS);
  smtp.atRecipient = () => undefined;
  await room.hire();
  await room.becomes({ sent: 60 }, 60_000);
  expect(room.arrived(mails)).toEqual({ lost: 0, doubled: 0, wrong: [] });
});
