import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Scope, SCOPES } from '@app/accounts';
import { TestApi } from '../support/http/api.js';
import { ApiProcess, buildOnce } from '../support/http/api-process.js';
import { compare, tell } from '../support/http/beside.js';
import { Factories } from '../support/data/factories.js';
import { image } from '../support/data/images.js';
import { type Lane, requestOf } from '../support/http/load.js';
import { plantedBug } from '../support/faults/planted-bug.js';
import { reached } from '../support/faults/promise.js';
import { MULTIPART, multipart, part } from '../support/http/uploads.js';

/** Promise 43: the worst that one key can do, one minute per kind, and its effect on another organization. */
const SECONDS = Number(process.env.SECONDS ?? 60);
const ROWS = Number(process.env.ROWS ?? 1_000_000);
const WARM_UP_SECONDS = 4;
const MOST_SLOWDOWN = 2;
/** What the abuser's network carries (bytes a second). Unlimited, copying its bytes would take both processors here. */
const GIGABIT = 125e6;
const REFUSED_MS = 50;

type Abuse = Omit<Lane, 'seconds'> & {
  name: string;
  /** Statuses the abuser may get. 0: it was cut off or gave up. */
  statuses: number[];
};

let api: TestApi;
let make: Factories;
let others: string[];
let abusive: string;
let abuses: Record<string, Abuse>;
let dataDir: string;

beforeAll(async () => {
  await buildOnce();
  api = await TestApi.start();
  make = await Factories.connect(api.database);
  dataDir = mkdtempSync(join(tmpdir(), 'tutoring-one-key-'));
  const school = async () => {
    const { id } = await make.organization();
    return { id, tutor: (await make.tutor(id)).id };
  };
  const usual = await school();
  for (let n = 0; n < 50; n++) await make.homework(usual.tutor, {}, usual.id);
  // Limits are per key. A single key could not send enough requests for a p99.
  others = await Promise.all(Array.from({ length: 6 }, () => api.key(usual.id)));
  const { id, tutor } = await school();
  abusive = await api.key(id, { scopes: Object.keys(SCOPES) as Scope[], platformBlog: true });
  await make.homework(tutor, {}, id);
  await make.withoutTriggers(`
    INSERT INTO homework (id, assigned_by, title, homework_type, scope, student_id, organization_id, created_at)
    SELECT gen_random_uuid(), assigned_by, title, homework_type, scope, student_id, organization_id,
      now() - n * interval '1 second'
    FROM (SELECT * FROM homework WHERE organization_id = '${id}' LIMIT 1) h, generate_series(1, ${ROWS}) n`);
  await make.query('ANALYZE homework');
  const content = 'x'.repeat(190_000);
  for (let n = 0; n < 200; n++) await make.post(id, { content });
  abuses = await abusesOf(abusive);
}, 900_000);

afterAll(async () => {
  await make.close();
  await api.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function abusesOf(key: string): Promise<Record<string, Abuse>> {
  const upload = multipart(part(await image('jpeg', { width: 8_192, height: 6_144 })));
  const headers: [string, string][] = [['Content-Type', MULTIPART], ['Content-Length', String(upload.length)]]; // prettier-ignore
  const picture = requestOf('/v1/blog-images', key, { method: 'POST', headers }) + upload.toString('latin1');
  const long = 3 * 1_048_576;
  const half = requestOf('/v1/blog-posts', key, { method: 'POST', headers: [['Content-Type', 'application/json'], ['Content-Length', String(long)]] }) + ' '.repeat(long / 2); // prettier-ignore
  const unknown = Array.from({ length: 2_000 }, () => requestOf('/v1/ping', `tk_live_${randomBytes(32).toString('hex')}`)); // prettier-ignore
  const usual = [200, 201, 429, 503];
  return {
    offsets: { name: 'the deepest offsets', requests: [requestOf(`/v1/homework?limit=100&offset=${ROWS - 100}`, key)], connections: 50, statuses: usual }, // prettier-ignore
    pages: { name: 'the largest pages', requests: [requestOf('/v1/blog-posts?limit=200', key)], connections: 50, statuses: usual }, // prettier-ignore
    images: { name: 'the heaviest images', requests: [picture], connections: 12, statuses: [422, ...usual] },
    bodies: { name: '300 half-sent bodies', requests: [half], connections: 300, statuses: [0, 400, 408, ...usual] },
    keys: { name: 'unknown keys', requests: unknown, connections: 50, statuses: [401, ...usual] },
  };
}

async function beside(
  { name: _, statuses: __, ...abuse }: Abuse,
  more: Record<string, string> = {},
  seconds = SECONDS,
) {
  const target = await ApiProcess.start(
    // Uses production's default limits. Both share an address: failures count against it, but a valid key still works.
    { DATABASE_URL: api.database.applicationUrl, DATA_DIR: dataDir, LOG_LEVEL: 'error', RATE_LIMIT_PER_MINUTE: '', AUTH_FAILURES_PER_MINUTE: '', ...more },
  ); // prettier-ignore
  try {
    const usual = {
      requests: others.map((key) => requestOf('/v1/homework', key)),
      connections: 4,
      rate: 40,
      seconds: 0,
    };
    const lane = { ...abuse, seconds: 0, abandons: true, bytesPerSecond: GIGABIT };
    // Warms up: the first requests and the first refusals run code for the first time.
    await compare(target.port, usual, [lane], WARM_UP_SECONDS, 1);
    return await compare(target.port, usual, [lane], seconds);
  } finally {
    await target.stop();
  }
}

it.each(['offsets', 'pages', 'images', 'bodies', 'keys'])('another organization hardly notices %s', async (kind) => {
  const abuse = abuses[kind]!;
  const result = await beside(abuse);
  const [abuser] = result.others;
  const refused = abuser!.with(429, 503);
  const probed = result.probes.with(429, 503);
  reached(43, `${abuse.name}: ${tell(result)}; the abuser ${abuser!.statuses}, ${probed.count} of ${result.probes.count} probes refused, p95 ${probed.percentile(0.95)} ms`); // prettier-ignore
  expect(result.beside.without(200).count).toBe(0);
  expect(abuser!.without(...abuse.statuses).statuses).toBe('');
  expect(refused.replies.filter(({ retryAfter }) => !retryAfter)).toEqual([]);
  // The abuser's own process is too busy to measure how fast it is refused.
  expect(probed.percentile(0.95)).toBeLessThanOrEqual(REFUSED_MS);
  expect(result.slowdown).toBeLessThanOrEqual(MOST_SLOWDOWN);
});

it('catches a process that serves first come, first served', async () => {
  const result = await beside(
    abuses.offsets!,
    {
      RATE_LIMIT_PER_MINUTE: '1000000',
      ...plantedBug(
        '../../../libs/concurrency/src/fair-semaphore.js',
        `module.FairSemaphore.prototype.fits = function (owner, share, reserve) { return this.free > 0; };`,
      ),
    },
    Math.min(SECONDS, 20),
  );
  reached(43, `planted, no share: ${tell(result)}`);
  expect(result.slowdown).toBeGreaterThan(MOST_SLOWDOWN);
});
