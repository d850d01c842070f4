import { randomBytes, randomInt } from 'node:crypto';
import { plantedBug } from '../support/faults/planted-bug.js';
import { reached } from '../support/faults/promise.js';
import { ApiProcess, buildOnce } from '../support/http/api-process.js';
import { type Comparison, compare, tell } from '../support/http/beside.js';
import type { Lane } from '../support/http/load.js';
import { bytesOf } from '../support/http/raw-http.js';
import { type Someone, TestPortal } from '../support/portal/portal.js';

/** Promise 43 for the portal: the worst that one network can do, and its effect on an owner in another one. */
const SECONDS = Number(process.env.SECONDS ?? 60);
const WARM_UP_SECONDS = 4;
const MOST_SLOWDOWN = 2;
/** What the abuser's network carries (bytes a second). Unlimited, copying its bytes would take both processors here. */
const GIGABIT = 125e6;
const REFUSED_MS = 50;
const ABUSER = '198.51.100.1';
/** The longest form, and half of it. */
const FORM_BYTES = 32_000;

type Abuse = Omit<Lane, 'seconds' | 'abandons'>;

let portal: TestPortal;
let owner: Someone;
let abuser: Someone;
let abuses: Record<string, Abuse>;

beforeAll(async () => {
  await buildOnce();
  portal = await TestPortal.start();
  [owner, abuser] = [await portal.someone('owner'), await portal.someone('owner')];
  abuses = {
    'sign-ins to unknown addresses': { connections: 50, requests: many(() => signIn(ABUSER)) },
    'guessed codes': { connections: 50, requests: many(() => bytes(`/join/${code()}`, 'GET', ABUSER, [])) },
    '300 half-sent forms': {
      connections: 300,
      requests: [form('/sign-in', `email=${'a'.repeat(FORM_BYTES / 2)}`, ABUSER, FORM_BYTES)],
    },
    'pages of a signed-in owner': { connections: 50, requests: [page(abuser, ABUSER)] },
    'pages on 300 connections': { connections: 300, requests: [page(abuser, ABUSER)] },
    nonsense: { connections: 50, requests: ['nonsense\r\n\r\n'] },
  };
}, 300_000);

afterAll(() => portal.stop());

/** The letters and digits of codes. */
const ALPHABET = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';
const code = () => Array.from({ length: 12 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
const letters = () => randomBytes(5).toString('hex').toUpperCase();
const many = (make: () => string) => Array.from({ length: 2_000 }, make);

/** The bytes of a request on a keep-alive connection. */
function bytes(path: string, method: string, network: string, headers: [string, string][], body = ''): string {
  const all: [string, string][] = [['X-Forwarded-For', network], ['Sec-Fetch-Site', 'same-origin'], ...headers];
  return bytesOf(path, { method, headers: all, body }).replace('Connection: close\r\n', '');
}

function form(path: string, body: string, network: string, length = body.length): string {
  const headers: [string, string][] = [
    ['Content-Type', 'application/x-www-form-urlencoded'],
    ['Content-Length', String(length)],
  ];
  return bytes(path, 'POST', network, headers, body);
}

const signIn = (network: string) => form('/sign-in', `email=${letters()}@example.org&password=wrong`, network);

const page = ({ organization, cookie }: Someone, network: string) =>
  bytes(`/o/${organization.slug}/keys`, 'GET', network, [['Cookie', cookie]]);

async function beside(abuse: Abuse, seconds: number, more: Record<string, string> = {}): Promise<Comparison> {
  const settings = {
    PORTAL_DATABASE_URL: portal.database.portalUrl,
    ENCRYPTION_KEY: randomBytes(32).toString('hex'),
    TRUST_PROXY: 'true',
    LOG_LEVEL: 'error',
  };
  const target = await ApiProcess.start({ ...settings, ...more }, [], 'portal');
  try {
    // Limits are per network. A single one could not send enough requests for a p99.
    const networks = Array.from({ length: 6 }, (_, n) => `203.0.113.${n}`);
    const usual = { requests: networks.map((network) => page(owner, network)), connections: 4, rate: 40, seconds: 0 };
    const lane = { ...abuse, seconds: 0, abandons: true, bytesPerSecond: GIGABIT };
    await compare(target.port, usual, [lane], WARM_UP_SECONDS, 1);
    // The warm-up has used up what a network may attempt.
    await portal.make.query('DELETE FROM sign_in_attempts');
    const result = await compare(target.port, usual, [lane], seconds);
    expect([target.ended, target.stderr]).toEqual([null, '']);
    return result;
  } finally {
    await target.stop();
  }
}

it.each([
  'sign-ins to unknown addresses',
  'guessed codes',
  '300 half-sent forms',
  'pages of a signed-in owner',
  'pages on 300 connections',
  'nonsense',
])('an owner in another network hardly notices %s', async (kind) => {
  const result = await beside(abuses[kind]!, SECONDS);
  const refused = result.probes.with(429, 503);
  reached(43, `portal, ${kind}: ${tell(result)}; the abuser ${result.others[0]!.statuses}, ${refused.count} of ${result.probes.count} probes refused, p95 ${refused.percentile(0.95)} ms`); // prettier-ignore
  expect(result.beside.without(200).count).toBe(0);
  expect(result.others[0]!.with(429, 503).untold).toBe(0);
  expect(refused.percentile(0.95)).toBeLessThanOrEqual(REFUSED_MS);
  expect(result.slowdown).toBeLessThanOrEqual(MOST_SLOWDOWN);
});

it('catches a portal that hashes all passwords at once', async () => {
  let network = 0;
  const requests = many(() => signIn(`198.18.${(network >> 8) & 255}.${network++ & 255}`));
  const bug = plantedBug(
    '../../portal/src/web/password-work.js',
    'module.PasswordWork.prototype.run = (network, work) => work();',
  );
  const result = await beside({ connections: 200, requests }, Math.min(SECONDS, 20), bug);
  reached(43, `portal, planted, all passwords at once: ${tell(result)}`);
  expect(result.slowdown).toBeGreaterThan(MOST_SLOWDOWN);
});
