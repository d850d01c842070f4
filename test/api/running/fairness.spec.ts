import { connect, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import supertest from 'supertest';
import { Database } from '@app/database';
import { Fairness } from '../../../apps/api/src/http/request/fairness.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

const TURNS = 6;

const api = await fixture(TestApi.start({ DATABASE_POOL_SIZE: String(TURNS), TRUST_PROXY: 'true' }));
const fairness = api.app.get(Fairness);
const [{ id: many }, { id: few }] = [await api.make.organization(), await api.make.organization()];
const [busy, quiet] = [await api.key(many, { scopes: ['read', 'write'] }), await api.key(few)];
const sockets: Socket[] = [];

beforeEach(async () => {
  for (const key of [busy, quiet]) expect((await api.get('/v1/ping', key)).status).toBe(200);
  // Nobody is present any more.
  await sleep(250);
});

afterEach(async () => {
  vi.restoreAllMocks();
  for (const socket of sockets.splice(0)) socket.destroy();
  await vi.waitFor(() => {
    const { turns, strangers, budget } = fairness;
    expect([turns.held, turns.waiting, strangers.held, budget.bytes]).toEqual([0, 0, 0, 0]);
  });
});

/** Runs the work while whoever needs this table waits. */
async function whileLocked(table: string, work: () => Promise<void>): Promise<void> {
  const admin = new pg.Client({ connectionString: api.database.adminUrl });
  await admin.connect();
  await admin.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  try {
    await work();
  } finally {
    await admin.query('ROLLBACK');
    await admin.end();
  }
}

const from = (address: string, path: string, authorization?: string) => {
  const request = api.get(path).set('X-Forwarded-For', address);
  return authorization ? request.set('Authorization', authorization) : request;
};
const unknown = () => `Token token=tk_live_${'0'.repeat(64)}`;
const statusesOf = async (requests: PromiseLike<{ status: number }>[]) => (await Promise.all(requests)).map(({ status }) => status);

/** Sends the head of a request whose body never comes, and perhaps a piece of it. */
async function sendHead(key: string, path: string, length: number, piece = ''): Promise<Socket> {
  const socket = connect((api.server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  await once(socket, 'connect');
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Token token=${key}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${length}\r\n\r\n${piece}`,
  );
  return socket;
}

describe('an organization whose requests all wait', () => {
  it('is served as far as there is room, and leaves turns to the others', async () => {
    await whileLocked('payments', async () => {
      for (let n = 0; n < 40; n++) api.get('/v1/payments', busy).end();
      await vi.waitFor(() => expect(fairness.turns.waiting).toBe(40 - (TURNS - 2)));
      for (let n = 0; n < 5; n++) expect((await api.get('/v1/students', quiet)).status).toBe(200);
      expect((await api.get('/health/ready')).status).toBe(200);
      expect((await api.get('/metrics')).status).toBe(200);
    });
  });

  it('keeps its turns until the work has ended, even if its clients have left', async () => {
    await whileLocked('payments', async () => {
      for (let round = 0; round < 4; round++) {
        const requests = Array.from({ length: TURNS }, () => api.get('/v1/payments', busy));
        for (const request of requests) request.end();
        await vi.waitFor(() => expect(fairness.turns.held).toBe(TURNS - 2));
        for (const request of requests) request.abort();
        await vi.waitFor(() => expect(fairness.turns.waiting).toBe(0));
      }
      expect((await api.get('/v1/students', quiet)).status).toBe(200);
    });
  });

  it('gets 503 with Retry-After when the queue is full, under whatever spelling of its keys', async () => {
    const second = await api.key(many);
    expect((await api.get('/v1/ping', second)).status).toBe(200);
    const spellings = [`Token token=${busy}`, `token   token="${busy}"`, `TOKEN token=${second}`];
    await whileLocked('payments', async () => {
      const answers = Array.from({ length: 300 }, (_, n) =>
        api
          .get('/v1/payments')
          .set('Authorization', spellings[n % spellings.length]!)
          .then((answer) => answer),
      );
      const refused = await Promise.race(answers);
      expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
      expect(await statusesOf(Array.from({ length: 5 }, () => api.get('/v1/students', quiet)))).toEqual(Array(5).fill(200));
    });
  });

  it('gives back the turns of duplicates that wait for the first request', async () => {
    const writer = await api.key(many, { scopes: ['read', 'accounts:write'] });
    const post = () =>
      supertest(api.server)
        .post('/v1/invites')
        .set({ Authorization: `Token token=${writer}`, 'Idempotency-Key': 'once' })
        .send({ scope: 'organization', role: 'tutor' })
        .then(({ status }) => status);
    await whileLocked('invites', async () => {
      const duplicates = Array.from({ length: 5 }, post);
      await vi.waitFor(() => expect(fairness.turns.held).toBe(1), { timeout: 1_500 });
      expect((await Promise.all(duplicates)).filter((status) => status === 409)).toHaveLength(4);
    });
  });
});

/** Makes each look-up of a key take a while, as on a busy machine. */
function slowLookUps(also: () => void = () => undefined): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its `this`
  const original = Database.prototype.lookUp;
  vi.spyOn(Database.prototype, 'lookUp').mockImplementation(async function (this: Database, ...args) {
    also();
    await sleep(5);
    return original.apply(this, args);
  });
}

describe('strangers', () => {
  it('of any number share one turn, and nobody with a key notices', async () => {
    let most = 0;
    slowLookUps(() => (most = Math.max(most, fairness.strangers.held)));
    const strangers = Array.from({ length: 100 }, (_, n) => from(`10.0.0.${n}`, '/v1/students', unknown()));
    const reads = Array.from({ length: 20 }, () => api.get('/v1/students', quiet));
    expect(await statusesOf(reads)).toEqual(Array(20).fill(200));
    expect(new Set(await statusesOf(strangers))).toEqual(new Set([401]));
    expect(most).toBe(1);
  });

  it('from one network do not keep a new key of another one waiting for long', async () => {
    const fresh = await api.key(few);
    slowLookUps();
    const order: string[] = [];
    const flood = Array.from({ length: 100 }, () => from('10.0.0.1', '/v1/students', unknown()).then(({ status }) => order.push(`flood ${status}`)));
    await vi.waitFor(() => expect(fairness.strangers.waiting).toBeGreaterThan(20));
    await from('10.0.0.2', '/v1/students', `Token token=${fresh}`).then(({ status }) => order.push(`new ${status}`));
    expect(order.indexOf('new 200')).toBeLessThan(60);
    await Promise.all(flood);
  });
});

describe('a body', () => {
  it('counts only once it arrives, and holds no turn until then', async () => {
    for (let n = 0; n < 30; n++) await sendHead(busy, '/v1/blog-posts', 3_000_000);
    await sleep(200);
    await vi.waitFor(() => expect([fairness.turns.held, fairness.budget.bytes]).toEqual([0, 0]));
    expect((await api.get('/v1/students', quiet)).status).toBe(200);
  });

  it('that has arrived in part is refused when its organization holds the most', async () => {
    const writer = await api.key(many, { scopes: ['read', 'blog:write'] });
    expect((await api.get('/v1/ping', writer)).status).toBe(200);
    const socket = await sendHead(writer, '/v1/blog-posts', 3_000_000, ' '.repeat(1_000_000));
    await vi.waitFor(() => expect(fairness.budget.bytes).toBe(1_000_000));
    const others = fairness.budget.open(few);
    fairness.budget.add(others, 900_000);
    const rest = fairness.budget.open('');
    rest.kept = true;
    const answer = once(socket, 'data') as Promise<[Buffer]>;
    fairness.budget.add(rest, 63 * 1_048_576 - 100_000);
    expect(others.signal.aborted).toBe(false);
    expect(String((await answer)[0])).toContain('HTTP/1.1 503');
    for (const holding of [others, rest]) fairness.budget.release(holding);
  });
});

describe('a refusal', () => {
  it('waits a little before it is sent, and not afterwards', async () => {
    const slow = await TestApi.start({ RATE_LIMIT_PER_MINUTE: '1' }, api.database);
    await slow.get('/v1/ping', quiet);
    const began = performance.now();
    expect((await slow.get('/v1/ping', quiet)).status).toBe(429);
    expect(performance.now() - began).toBeGreaterThanOrEqual(19);
    await slow.stop();
  });
});
