import { once } from 'node:events';
import { Agent, request as send } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { TestApi } from '../../support/http/api.js';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { waitsFor } from '../../support/database/lock-waits.js';
import { bytesOf } from '../../support/http/raw-http.js';
import { SteadyTraffic } from '../../support/load/steady-traffic.js';
import { WatchingProxy } from '../../support/database/watching-proxy.js';
import { createFixtures } from '../../support/data/fixtures.js';
import { fixture } from '../../support/process/fixture.js';

/** Shutdown of the process on a signal. `test/faults/load/rolling-restarts.spec.ts` tests it at length, behind nginx. */
await buildOnce();
const api = await fixture(TestApi.start());
const fixtures = await createFixtures(api);
let process: ApiProcess;
let agent: Agent;

async function start(settings: Record<string, string> = {}): Promise<void> {
  process = await ApiProcess.start({ DATABASE_URL: api.database.applicationUrl, REQUEST_DEADLINE_SECONDS: '60', ...settings });
  agent = new Agent({ keepAlive: true });
}

afterEach(async () => {
  agent.destroy();
  await process.stop();
});

type Answer = { status: number; connection: string | undefined };

function ask(path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Token token=${fixtures.b.key}` };
    const sent = send({ host: '127.0.0.1', port: process.port, path, headers, agent }, (response) => {
      response.resume().on('end', () => resolve({ status: response.statusCode!, connection: response.headers.connection }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

const PING = () => bytesOf('/v1/ping', { headers: [['Authorization', `Token token=${fixtures.b.key}`]] }).replace('close', 'keep-alive');

/** Opens a connection that stays open and collects what arrives. */
async function open(): Promise<{ socket: Socket; said: { text: string }; closed: Promise<unknown> }> {
  const socket = connect(process.port, '127.0.0.1').on('error', () => undefined);
  const said = { text: '' };
  socket.setEncoding('latin1').on('data', (text: string) => (said.text += text));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await once(socket, 'connect');
  return { socket, said, closed };
}

/** Tries to connect. @returns the error code, if any */
function knock(): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(process.port, '127.0.0.1', () => {
      resolve(undefined);
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  });
}

describe('SIGTERM', () => {
  it('fails readiness and closes each connection after its answer, while still serving everyone', async () => {
    await start({ SHUTDOWN_DELAY_SECONDS: '300' });
    const kept = await open();
    kept.socket.write(PING());
    await vi.waitFor(() => expect(kept.said.text).toContain('"ok"'));
    expect(kept.said.text).toMatch(/^Connection: keep-alive\r$/im);
    expect(await ask('/health/ready')).toMatchObject({ status: 200, connection: 'keep-alive' });
    process.signal('SIGTERM');
    await vi.waitFor(async () => expect((await ask('/health/ready')).status).toBe(503));
    // A connection from before, and new ones.
    kept.said.text = '';
    kept.socket.write(PING());
    await kept.closed;
    expect(kept.said.text).toMatch(/^HTTP\/1\.1 200 /);
    for (const path of ['/v1/ping', '/v1/homework', '/health/live', '/v1/nothing']) {
      expect(await ask(path)).toEqual({ status: path === '/v1/nothing' ? 404 : 200, connection: 'close' });
    }
    expect(process.ended).toBeNull();
  });

  it('lets requests in flight finish, accepts no new ones, and does not wait for idle connections', async () => {
    await start();
    // Connections that are idle, have sent nothing, or stopped in the middle of their headers.
    expect(await Promise.all([ask('/v1/ping'), ask('/v1/ping')])).toMatchObject([{ status: 200 }, { status: 200 }]);
    await open();
    const partial = await open();
    partial.socket.write('GET /v1/ping HT');
    const lock = new pg.Client({ connectionString: api.database.adminUrl });
    await lock.connect();
    await lock.query('BEGIN; LOCK TABLE homework IN ACCESS EXCLUSIVE MODE');
    const inFlight = Array.from({ length: 5 }, () => ask('/v1/homework'));
    await vi.waitFor(async () => {
      const { rows } = await lock.query(waitsFor('homework'));
      expect(rows.length).toBeGreaterThanOrEqual(5);
    });

    process.signal('SIGTERM');
    await vi.waitFor(async () => expect(await knock()).toBe('ECONNREFUSED'));
    expect(process.ended).toBeNull();
    await lock.end();
    expect(await Promise.all(inFlight)).toEqual(Array(5).fill({ status: 200, connection: 'close' }));
    expect(await process.exit).toBe(0);
    expect(process.stderr).toBe('');
    // Key usage recorded in memory is written before the exit.
    const [key] = await fixtures.make.query<{ used: boolean }>(
      `SELECT last_used_at = date_trunc('minute', last_used_at) AND last_used_at > now() - interval '3 minutes' AS used
       FROM api_keys WHERE organization_id = $1 AND last_used_at IS NOT NULL`,
      [fixtures.b.id],
    );
    expect(key).toEqual({ used: true });
  }); // prettier-ignore

  it('answers what has arrived by then, on idle and not yet accepted connections', async () => {
    await start();
    const idle = await Promise.all(Array.from({ length: 20 }, open));
    for (const { socket } of idle) socket.write(PING());
    await vi.waitFor(() => expect(idle.filter(({ said }) => said.text.includes('"ok"'))).toHaveLength(20));
    for (const { said } of idle) said.text = '';
    // To a process that is stopped, all of this happens at the same moment.
    process.signal('SIGSTOP');
    process.signal('SIGTERM');
    const fresh = await Promise.all(Array.from({ length: 20 }, open));
    for (const { socket } of [...idle, ...fresh]) socket.write(PING());
    await sleep(100);
    process.signal('SIGCONT');
    await Promise.all([...idle, ...fresh].map(({ closed }) => closed));
    const statuses = (group: typeof idle) => group.map(({ said }) => said.text.slice(9, 12));
    expect([statuses(idle), statuses(fresh)]).toEqual([Array(20).fill('200'), Array(20).fill('200')]);
    expect(await process.exit).toBe(0);
  });

  it('fails no request behind a proxy that watches readiness while two processes are replaced', async () => {
    // Long enough for the proxy to notice in time, even on a busy machine.
    const settings = { SHUTDOWN_DELAY_SECONDS: '5' };
    const proxy = await WatchingProxy.start();
    await start(settings);
    let old = process;
    await proxy.add(old.port);
    await start(settings);
    await proxy.add(process.port);
    // A low rate, because a busy machine refuses what is too much, and that would not be a failure of the restart.
    const traffic = new SteadyTraffic(proxy.port, await api.key(fixtures.a.id, { scopes: ['read', 'accounts:write'] }), 10);
    try {
      for (let restart = 0; restart < 2; restart++) {
        const before = traffic.times.length;
        await vi.waitFor(() => expect(traffic.times.length).toBeGreaterThan(before + 10));
        old.signal('SIGTERM');
        expect(await old.exit).toBe(0);
        proxy.remove(old.port);
        old = process;
        await start(settings);
        await proxy.add(process.port);
      }
    } finally {
      await traffic.stop();
      await old.stop();
      await proxy.stop();
    }
    expect(traffic.failures).toEqual([]);
  }); // prettier-ignore
});

it('SIGINT ends the process without the delay', async () => {
  await start({ SHUTDOWN_DELAY_SECONDS: '300' });
  process.signal('SIGINT');
  expect(await process.exit).toBe(0);
});
