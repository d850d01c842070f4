import { Agent, type ClientRequest, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { Database } from '@app/database';
import { MOST_WAITING, WaitingReaders } from '../../../apps/api/src/areas/integrations/waiting-readers.js';
import { Fairness } from '../../../apps/api/src/http/request/fairness.js';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { quietOrganization, type ShownEvent, tell } from '../../support/data/told.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

const TURNS = 6;

await buildOnce();
const api = await fixture(TestApi.start({ DATABASE_POOL_SIZE: String(TURNS), RATE_LIMIT_PER_MINUTE: '2000', REQUEST_LOG: 'true' }));
const { make } = api;
const [readers, fairness, db] = [api.app.get(WaitingReaders), api.app.get(Fairness), api.app.get(Database)];
const agent = new Agent({ keepAlive: false });

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: { data: ShownEvent[]; meta: { next_cursor: string; has_more: boolean; count: number } };
}

const pending = new Set<ClientRequest>();

function ask(key: string, query: string, port = (api.server.address() as AddressInfo).port): { answer: Promise<Answer>; leave: () => void } {
  const sent = send({ host: '127.0.0.1', port, path: `/v1/events?${query}`, headers: { Authorization: `Token token=${key}` }, agent });
  pending.add(sent);
  const answer = new Promise<Answer>((resolve, reject) => {
    sent.on('error', reject).on('close', () => pending.delete(sent));
    sent.on('response', (response) => {
      let text = '';
      response.on('data', (part: Buffer) => (text += part.toString()));
      response.on('end', () => {
        resolve({ status: response.statusCode!, headers: response.headers as Record<string, string>, body: JSON.parse(text) as Answer['body'] });
      });
    });
  });
  answer.catch(() => undefined);
  sent.end();
  return { answer, leave: () => sent.destroy() };
}

async function someone(): Promise<{ school: string; key: string; cursor: string }> {
  const school = await quietOrganization(make);
  const key = await api.key(school);
  const { body } = await ask(key, 'cursor=now').answer;
  return { school, key, cursor: body.meta.next_cursor };
}

const waiting = (count: number) => vi.waitFor(() => expect(readers.count).toBe(count), { timeout: 30_000 });

afterEach(async () => {
  for (const sent of pending) sent.destroy();
  await waiting(0);
  await vi.waitFor(() => expect([fairness.turns.held, fairness.turns.waiting]).toEqual([0, 0]));
});

describe('a reader who waits', () => {
  it('is answered when something happens, also without a worker, and counts as one request', async () => {
    const { school, key, cursor } = await someone();
    const { answer } = ask(key, `cursor=${cursor}&wait=20`);
    await waiting(1);
    await make.subject(school);
    const { status, headers, body } = await answer;
    expect([status, body.data.map(({ type }) => type), body.meta.has_more]).toEqual([200, ['subject.created'], false]);
    // One for the cursor, one for this.
    expect(Number(headers['x-ratelimit-remaining'])).toBe(2000 - 2);
  });

  it('is answered at once when there is something, with an empty page and the same cursor when the time is over', async () => {
    const { school, key, cursor } = await someone();
    expect((await ask(key, `cursor=${cursor}&wait=1`).answer).body).toEqual({
      data: [],
      meta: { limit: 20, count: 0, next_cursor: cursor, has_more: false },
    });
    const [id] = await tell(make, school, ['session.created']);
    const { body } = await ask(key, `cursor=${cursor}&wait=20`).answer;
    expect(body.data.map((event) => event.id)).toEqual([id]);
  });

  it('sleeps on while only others, or what it does not want, happens', async () => {
    const { school, key, cursor } = await someone();
    const other = await someone();
    const { answer } = ask(key, `cursor=${cursor}&wait=20&types=session.completed`);
    const [elsewhere, anything] = [ask(other.key, `cursor=${other.cursor}&wait=20`), ask(key, `cursor=${cursor}&wait=20`)];
    await waiting(3);
    await tell(make, school, ['session.created']);
    expect((await anything.answer).body.meta.count).toBe(1);
    await waiting(2);
    const [wanted] = await tell(make, school, ['session.completed']);
    expect((await answer).body.data.map(({ id }) => id)).toEqual([wanted]);
    await waiting(1);
    elsewhere.leave();
  });

  it('sees nothing any more once its key is revoked', async () => {
    const { school, key, cursor } = await someone();
    const { answer } = ask(key, `cursor=${cursor}&wait=20`);
    await waiting(1);
    await make.query('UPDATE api_keys SET revoked_at = now() WHERE organization_id = $1', [school]);
    await tell(make, school, ['session.created']);
    expect(await answer).toMatchObject({ status: 401, body: { error: { code: 'revoked_api_key' } } });
  });

  it('is forgotten when it leaves', async () => {
    const { key, cursor } = await someone();
    const { leave } = ask(key, `cursor=${cursor}&wait=20`);
    await waiting(1);
    leave();
    await waiting(0);
  });

  it('does not count as a slow request, but the log tells how long it took', async () => {
    const { key, cursor } = await someone();
    api.logged.length = 0;
    await ask(key, `cursor=${cursor}&wait=1`).answer;
    const line = await vi.waitFor(() => {
      const found = api.logged
        .map((text) => JSON.parse(text) as { route?: string; ms: number })
        .find(({ route, ms }) => route === '/v1/events' && ms > 900);
      expect(found).toBeDefined();
      return found!;
    });
    expect(line.ms).toBeLessThan(20_000);
    const metrics = (await api.get('/metrics')).text;
    const bucket = (le: string) =>
      Number(new RegExp(`http_request_duration_seconds_bucket\\{le="${le}"[^}]*route="/v1/events"[^}]*\\} (\\d+)`).exec(metrics)![1]);
    expect(bucket('0.5')).toBe(bucket('\\+Inf'));
  });
});

describe('many who wait', () => {
  it('hold neither a turn nor a connection, and all hear', async () => {
    const schools = await Promise.all(Array.from({ length: 500 / MOST_WAITING }, someone));
    const asked = schools.flatMap(({ key, cursor }) => Array.from({ length: MOST_WAITING }, () => ask(key, `cursor=${cursor}&wait=20`)));
    await waiting(500);
    // The loop uses a connection for a moment five times a second.
    await vi.waitFor(() => expect([fairness.turns.held, fairness.turns.waiting, db.poolState.total - db.poolState.idle]).toEqual([0, 0, 0]));
    const admin = new pg.Client({ connectionString: api.database.adminUrl });
    await admin.connect();
    const { rows } = await admin.query<{ open: number }>(
      `SELECT count(*)::integer AS open FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'tutoring api' AND xact_start < now() - interval '1 second'`,
    );
    await admin.end();
    expect(rows[0]!.open).toBe(0);
    // Others are served as if nobody waited.
    expect((await api.get('/v1/ping', schools[0]!.key)).status).toBe(200);
    for (const { school } of schools) await tell(make, school, ['session.created']);
    const answers = await Promise.all(asked.map(({ answer }) => answer));
    expect(new Set(answers.map(({ status, body }) => `${status} ${JSON.stringify(body).includes('session.created')}`))).toEqual(
      new Set(['200 true']),
    );
  });

  it('are refused beyond a number for each organization', async () => {
    const [{ key, cursor }, other] = [await someone(), await someone()];
    for (let count = 0; count < MOST_WAITING; count++) ask(key, `cursor=${cursor}&wait=20`);
    await waiting(MOST_WAITING);
    const { status, headers, body } = await ask(key, `cursor=${cursor}&wait=20`).answer;
    expect([status, headers['retry-after'], body]).toEqual([
      429,
      '5',
      { error: expect.objectContaining({ code: 'rate_limit_exceeded' }) as unknown },
    ]);
    expect((await ask(key, `cursor=${cursor}`).answer).status).toBe(200);
    ask(other.key, `cursor=${other.cursor}&wait=20`);
    await waiting(MOST_WAITING + 1);
  });
});

it('ends with the process: who waits is answered at once', async () => {
  const { key } = await someone();
  const looking = () =>
    make.query<{ pid: number }>(`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%newest_events%'`);
  const before = (await looking()).map(({ pid }) => pid);
  const process = await ApiProcess.start({ DATABASE_URL: api.database.applicationUrl, SHUTDOWN_DELAY_SECONDS: '0' });
  try {
    const { answer } = ask(key, 'cursor=now&wait=20', process.port);
    await vi.waitFor(async () => expect((await looking()).some(({ pid }) => !before.includes(pid))).toBe(true), { timeout: 15_000 });
    process.signal('SIGTERM');
    expect(await answer).toMatchObject({ status: 200, headers: { connection: 'close' }, body: { data: [], meta: { has_more: false } } });
    expect(await process.exit).toBe(0);
  } finally {
    await process.stop();
  }
});
