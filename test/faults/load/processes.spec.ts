import { setTimeout as sleep } from 'node:timers/promises';
import { type Scope, SCOPES } from '@app/access';
import { Random } from '../../support/data/random.js';
import { ACCOUNTS, MAILS } from '../../support/faults/blows.js';
import { PersistentWriters } from '../../support/faults/persistent-writers.js';
import { seedOf } from '../../support/faults/promise.js';
import { type Account, judge, type Mail } from '../../support/faults/wanted-people.js';
import { TestApi } from '../../support/http/api.js';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';
import { freePorts } from '../../support/process/free-ports.js';
import { type Call, TestHook } from '../../support/worker/hook.js';
import { Mailroom } from '../../support/worker/mailroom.js';
import { idOf, verifies } from '../../support/worker/webhook-room.js';
import { WorkerProcess } from '../../support/worker/worker-process.js';

/** How often each of the seven processes is killed. Takes a minute or more for each round. */
const ROUNDS = Number(process.env.ROUNDS ?? 3);
const CLIENTS = 6;
const PATIENCE = { timeout: 120_000, interval: 20 };

/** A process that is killed and started again at its place. */
interface Place {
  now: { kill(): Promise<unknown> };
  start(): Promise<{ kill(): Promise<unknown> }>;
}

await buildOnce();
const room = await fixture(Mailroom.open(true));
const { outbox, smtp } = room;
const { database, make, organizationId } = outbox;
const settings = { ...outbox.settings, WEBHOOK_PRIVATE_NETWORKS: '127.0.0.1/32', APP_URL: 'http://portal.example', RATE_LIMIT_PER_MINUTE: '1000000' };
const [receiver, site] = [await fixture(TestHook.start()), await fixture(TestHook.start())];
/** In this process: for the operator's work alone. */
const api = await fixture(TestApi.start({ ...settings, REDIS_URL: '' }, database));
const portal = await fixture(TestPortal.start({ ...settings, REDIS_URL: '' }, database));
const first = await freePorts(5);
const [apis, portals] = [[0, 1, 2].map((index) => first + index), [3, 4].map((index) => first + index)];

async function place(start: Place['start']): Promise<Place> {
  return { now: await start(), start };
}

const served = (port: number, app: 'api' | 'portal') =>
  place(async () => {
    const url: Record<string, string> =
      app === 'api'
        ? { DATABASE_URL: database.applicationUrl, PORT: String(port) }
        : { PORTAL_DATABASE_URL: database.portalUrl, PORTAL_PORT: String(port) };
    const started = await ApiProcess.start({ ...settings, DATABASE_POOL_SIZE: '5', ...url }, [], app);
    return { kill: () => started.stop() };
  });

const places = [
  ...(await Promise.all(apis.map((port) => served(port, 'api')))),
  ...(await Promise.all([1, 2].map(() => place(() => WorkerProcess.start(settings))))),
  ...(await Promise.all(portals.map((port) => served(port, 'portal')))),
];
afterAll(() => Promise.all(places.map(({ now }) => now.kill())));

let turn = 0;
/** The next of the API processes, dead or alive. */
const servers = { get port() { return apis[turn++ % apis.length]!; } }; // prettier-ignore

/** The status of a request; null if the process is dead. */
const ask = (port: number, path: string, headers: Record<string, string>): Promise<number | null> =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers, redirect: 'manual' }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.status;
    },
    () => null,
  );

it('three APIs, two workers and two portals, each killed in turn, lose, double and let through nothing', async () => {
  const random = new Random(seedOf());
  const key = await api.key(organizationId, { scopes: Object.keys(SCOPES) as Scope[] });
  const authorization = { Authorization: `Token token=${key}` };
  const made = await fetch(`http://127.0.0.1:${apis[0]}/v1/webhook-endpoints`, {
    method: 'POST',
    headers: { ...authorization, 'Content-Type': 'application/json' },
    body: JSON.stringify({ url: receiver.url, event_types: ['student.created'] }),
  });
  const { secret } = (await made.json()) as { secret: string };
  await outbox.setHook(site.url, 'secret of the site');
  const owner = await portal.someone('owner', {
    organization: (await make.query<never>('SELECT * FROM organizations WHERE id = $1', [organizationId]))[0]!,
  });

  const writers = new PersistentWriters(servers, random, Array<string>(CLIENTS).fill(key), { rows: [1, 5], atOnce: 2, mortal: true });
  const reader = { stopped: false };
  const pages = new Map<number | null, number>();
  const reading = (async () => {
    for (let count = 0; !reader.stopped; count++) {
      const status = await ask(portals[count % 2]!, `/o/${owner.organization.slug}`, { Cookie: owner.cookie });
      pages.set(status, (pages.get(status) ?? 0) + 1);
      await sleep(20);
    }
  })();
  let afterRevocation = 0;
  const through: (number | null)[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const it of places) {
      const done = writers.successes.length;
      await vi.waitUntil(() => writers.successes.length > done + CLIENTS, PATIENCE);
      await sleep(random.integer(100));
      await it.now.kill();
      const revoked = await api.keys.create(organizationId, { name: 'revoked' });
      const headers = { Authorization: `Token token=${revoked.key}` };
      for (const port of apis) await ask(port, '/v1/ping', headers);
      await api.keys.revokeOf(organizationId, revoked.id);
      const answers = await Promise.all(apis.map((port) => ask(port, '/v1/ping', headers)));
      afterRevocation += answers.filter((status) => status !== null).length;
      through.push(...answers.filter((status) => status !== null && status !== 401));
      it.now = await it.start();
    }
    await outbox.rebuild();
  }
  await writers.stop();
  reader.stopped = true;
  await reading;
  const differing = await writers.repeat();
  const kills = ROUNDS * places.length;
  const ofWorkers = ROUNDS * 2;

  // As if the leases of killed workers had ended.
  const unsent = () => outbox.rows(`status <> 'sent'`);
  await vi.waitFor(
    async () => {
      await outbox.pass('2 minutes');
      expect((await unsent()).map(({ topic, status, last_error: why }) => [topic, status, why])).toEqual([]);
    },
    { timeout: 180_000, interval: 2_000 },
  );

  const [accounts, mails] = await Promise.all([make.query<Account>(ACCOUNTS), make.query<Mail>(MAILS)]);
  const known = new Set([owner.user.id]);
  const verdict = judge(writers.wanted, accounts.filter(({ id }) => !known.has(id)), mails); // prettier-ignore
  const mailed = Map.groupBy(smtp.received, ({ to, headers }) => `${to} ${headers['message-id']}`);
  const recipients = new Set(smtp.received.map(({ to }) => to.toLowerCase()));
  const unmailed = mails.filter(({ recipient }) => !recipients.has(recipient.toLowerCase()));
  const mailsTwice = smtp.received.length - mailed.size;
  const events = await make.query<{ id: string; resource_id: string }>(`SELECT id, resource_id FROM events WHERE type = 'student.created'`);
  const students = await make.query<{ id: string }>(`SELECT DISTINCT user_id AS id FROM members WHERE role = 'student'`);
  const calls = Map.groupBy(receiver.calls.filter((call) => verifies(secret, call)), eventOf); // prettier-ignore
  const unheard = events.filter(({ id }) => !calls.has(id));
  const callsTwice = [...calls.values()].reduce((sum, { length }) => sum + length - 1, 0);
  console.log(
    `${kills} kills, ${writers.writes.length} writes of ${writers.wanted.length} people by ${CLIENTS} clients, each sent twice, ${writers.doneUntold} done untold: ` +
      `${verdict.duplicates} doubled, ${verdict.losses} lost, ${differing.length} replays differ; ${mailed.size} mails, ${unmailed.length} lost, ${mailsTwice} twice; ` +
      `${events.length} events of ${students.length} students, ${unheard.length} without a call, ${callsTwice} calls twice; ${site.calls.length} rebuilds of ${ROUNDS}; ` +
      `${through.length} of ${afterRevocation} requests let through after a revocation; pages ${JSON.stringify([...pages])}`,
  );
  expect(verdict).toEqual({ duplicates: 0, losses: 0, mailsTwice: 0, mailsLost: 0 });
  expect([differing, writers.unexpected, through, unmailed, unheard]).toEqual([[], [], [], [], []]);
  expect(new Set(events.map(({ resource_id: id }) => id)).size).toBe(events.length);
  expect(events.length).toBe(students.length);
  // Whoever is killed after a mail or a call and before it is settled cannot know: at most what it had in hand.
  expect(mailsTwice).toBeLessThanOrEqual(ofWorkers);
  expect(callsTwice).toBeLessThanOrEqual(ofWorkers * 8);
  expect(site.calls.length).toBeGreaterThanOrEqual(1);
  expect(site.calls.length).toBeLessThanOrEqual(ROUNDS + ofWorkers);
  expect([...pages.keys()].filter((status) => status !== 200 && status !== null)).toEqual([]);
  expect(afterRevocation).toBeGreaterThan(kills);
});

const eventOf = (call: Call): string => (JSON.parse(call.body) as { id?: string }).id ?? idOf(call);
