import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../support/data/percentile.js';
import { Random } from '../support/data/random.js';
import { inReport, reached, seedOf } from '../support/faults/promise.js';
import { buildOnce } from '../support/http/api-process.js';
import { inTest } from '../support/process/fixture.js';
import { type Call, TestHook } from '../support/worker/hook.js';
import { idOf, verifies, WebhookRoom } from '../support/worker/webhook-room.js';
import { WorkerProcess } from '../support/worker/worker-process.js';

/** What happens to workers amid deliveries, and to those who wait beside dead receivers. In full, both take a quarter of an hour. */
const KILLS = Number(process.env.KILLS ?? inReport(100, 4));
const DELIVERIES = Number(process.env.DELIVERIES ?? inReport(5_000, 200));
const ENDPOINTS = 10;
const DEAD = Number(process.env.DEAD ?? inReport(100, 10));
const P95_MS = inReport(5_000, 12_000);
const SEED = seedOf();
const random = new Random(SEED);

/** Workers run in production, where receivers on this machine have to be admitted. */
const SETTINGS = { WEBHOOK_PRIVATE_NETWORKS: '127.0.0.0/8' };

/** Workers make codes, which are events, too. */
const LESSONS = { event_types: ['session.*'] };

/** Whatever has been due the longest, as many at a time as there are lanes. */
const OLDEST_FIRST = `
  CREATE OR REPLACE FUNCTION claim_webhook(worker text, lanes integer, lease interval) RETURNS SETOF outbox
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, maintenance, pg_temp AS $$
    UPDATE outbox o SET leased_by = worker, leased_until = now() + lease, due_at = now() + lease, attempts = o.attempts + 1
    WHERE o.id = (SELECT id FROM outbox WHERE topic = 'webhook' AND status IN ('queued', 'failed') AND due_at <= now()
      ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING o.*
  $$`;

async function open() {
  await buildOnce();
  const room = await inTest(WebhookRoom.open(SETTINGS));
  const hire = () => WorkerProcess.start(room.outbox.settings);
  /** As if the pauses of what waits for its next try, and the leases of killed workers, were over. */
  const pass = () =>
    room.outbox.make.query(`UPDATE outbox SET due_at = now() - interval '1 second', leased_until = NULL WHERE topic = 'webhook'
      AND status IN ('queued', 'failed') AND (leased_by IS NULL OR leased_by NOT LIKE $1)`, [alive]); // prettier-ignore
  let alive = '';
  return { room, hire, pass, working: (worker: WorkerProcess | null) => (alive = worker?.leases ?? '') };
}

/** A receiver that fails, hangs, answers slowly, redirects and closes early. */
function moody(call: Call): ReturnType<TestHook['answer']> {
  const mood = random.integer(100);
  if (mood < 10) return { status: 500 };
  if (mood < 14) return 'close';
  if (mood < 18) return { status: 302, headers: { location: `http://127.0.0.1:1/${idOf(call)}` } };
  if (mood < 20) return null;
  return { status: 200, waitMs: random.integer(mood < 60 ? 5 : 150) };
}

it(`a worker killed ${KILLS} times amid ${DELIVERIES} deliveries loses none, and repeats only with the same webhook-id`, async () => {
  const { room, hire, pass, working } = await open();
  const { make } = room.outbox;
  const receivers = await Promise.all(
    Array.from({ length: ENDPOINTS }, async (_, index) => {
      const { id: organizationId } = index % 2 === 0 ? await make.organization() : { id: room.organizationId };
      const hook = await inTest(TestHook.start());
      hook.answer = (_index, call) => moody(call);
      return { hook, organizationId, made: await room.endpoint(hook.url, { organizationId, ...LESSONS }), wanted: new Set<string>(), former: [] as { secret: string; calls: number }[] };
    }),
  ); // prettier-ignore
  const organizations = [...new Set(receivers.map(({ organizationId }) => organizationId))];
  const received = () => receivers.reduce((sum, { hook }) => sum + hook.calls.length, 0);
  let made = 0;
  const happen = async (until: number) => {
    while (made < until) {
      const organizationId = organizations[random.integer(organizations.length)]!;
      const listening = receivers.filter((one) => one.organizationId === organizationId);
      const ids = await room.events(1 + random.integer(4), { organizationId });
      for (const { wanted } of listening) ids.forEach((id) => wanted.add(id));
      made += ids.length * listening.length;
    }
  };
  let landed = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const worker = await hire();
    working(worker);
    const before = received();
    await happen(Math.round((DELIVERIES * (kill + 1)) / KILLS));
    await vi.waitUntil(() => received() > before + random.integer(DELIVERIES / KILLS), { timeout: 5_000, interval: 5 }).catch(() => undefined);
    await sleep(random.integer(50));
    await worker.kill();
    if ((await room.deliveries(`leased_by LIKE '${worker.leases}'`)).length > 0) landed++;
    working(null);
    await pass();
    const one = receivers[random.integer(ENDPOINTS)]!;
    // Its secret is replaced, and the former one expires, while nobody signs.
    one.former.push({ secret: one.made.secret, calls: one.hook.calls.length });
    one.made.secret = await room.as(() => room.rules.rotateSecret(one.organizationId, one.made.id), one.organizationId);
    await make.query(`UPDATE webhook_endpoints SET previous_until = now() - interval '1 second' WHERE id = $1`, [one.made.id]);
  }
  for (const { hook } of receivers) hook.answer = () => ({ status: 200 });
  const last = await hire();
  working(last);
  const done = async () => {
    await pass();
    const [row] = await make.query<{ n: number }>(`SELECT count(*)::integer AS n FROM outbox WHERE topic = 'webhook' AND status = 'sent'`);
    return row!.n >= made;
  };
  await vi.waitUntil(done, { timeout: 300_000, interval: 500 });
  await last.stop();
  const lost = receivers.flatMap(({ hook, wanted }) => {
    const got = new Set(hook.calls.map(idOf));
    return [...wanted].filter((id) => !got.has(id));
  });
  const wrong = receivers.flatMap(({ hook, wanted }) =>
    hook.calls.filter((call) => !wanted.has(idOf(call)) || (JSON.parse(call.body) as { id: string }).id !== idOf(call)),
  );
  const expired = receivers.flatMap(({ hook, former }) =>
    former.flatMap(({ secret, calls }) => hook.calls.slice(calls).filter((call) => verifiesAt(secret, call))),
  );
  const unsigned = receivers.flatMap(({ hook, made: { secret }, former }) =>
    hook.calls.filter((call) => ![secret, ...former.map((one) => one.secret)].some((one) => verifiesAt(one, call))),
  ); // prettier-ignore
  const repeats = received() - receivers.reduce((sum, { hook }) => sum + new Set(hook.calls.map(idOf)).size, 0);
  reached(
    59,
    `${lost.length} of ${made} lost, ${repeats} repeats, ${expired.length} signed with an expired secret, in ${KILLS} kills (${landed} amid deliveries)`,
    SEED,
  );
  expect(landed).toBeGreaterThanOrEqual(KILLS * 0.5);
  expect({ lost, wrong, expired, unsigned }).toEqual({ lost: [], wrong: [], expired: [], unsigned: [] });
});

/** The package compares with the present time alone: a call that is older than five minutes is verified as of its own time. */
function verifiesAt(secret: string, call: Call): boolean {
  vi.setSystemTime(call.at);
  try {
    return verifies(secret, call);
  } finally {
    vi.useRealTimers();
  }
}

/** @returns how long each event took to arrive at endpoints of organizations that also have a dead one (ms) */
async function besideDead(planted: string | null): Promise<number[]> {
  const { room, hire } = await open();
  const { make } = room.outbox;
  if (planted) await make.query(planted);
  const [dead, hook] = [await inTest(TestHook.start()), await inTest(TestHook.start())];
  dead.answer = () => null;
  const organizations: string[] = [];
  for (let count = 0; count < DEAD; count++) {
    const { id: organizationId } = await make.organization();
    organizations.push(organizationId);
    await room.endpoint(dead.url, { organizationId, ...LESSONS });
  }
  // Each has deliveries that hang already.
  for (const organizationId of organizations) await room.events(20, { organizationId });
  const worker = await hire();
  await vi.waitUntil(() => dead.calls.length >= Math.min(DEAD, 100), { timeout: 60_000, interval: 50 });
  const { id: quiet } = await make.organization();
  for (const organizationId of [quiet, ...organizations]) await room.endpoint(hook.url, { organizationId, ...LESSONS });
  const asked = new Map<string, number>();
  for (let round = 0; round < inReport(5, 2); round++) {
    for (const organizationId of [quiet, ...organizations]) {
      const at = Date.now();
      const [id] = await room.events(1, { organizationId });
      asked.set(id!, at);
    }
    await sleep(inReport(4_000, 500));
  }
  await vi.waitUntil(() => new Set(hook.calls.map(idOf)).size >= asked.size, { timeout: 60_000, interval: 50 }).catch(() => undefined);
  await worker.kill();
  const arrived = new Map(hook.calls.map((call) => [idOf(call), call.at]));
  return [...asked].map(([id, at]) => (arrived.get(id) ?? Infinity) - at);
}

it(`beside ${DEAD} organizations with a dead endpoint each, others get their events within ${P95_MS} ms`, async () => {
  const times = await besideDead(null);
  reached(
    60,
    `p95 ${percentile(times, 0.95)} ms, longest ${Math.max(...times)} ms of ${times.length} deliveries beside ${DEAD} dead endpoints`,
    SEED,
  );
  expect(percentile(times, 0.95)).toBeLessThanOrEqual(P95_MS);
});

it.each(inReport([OLDEST_FIRST], []))('they would not if deliveries were claimed by their age alone', async (planted) => {
  expect(percentile(await besideDead(planted), 0.95)).toBeGreaterThan(P95_MS);
});
