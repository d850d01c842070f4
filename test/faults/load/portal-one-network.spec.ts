import { randomBytes, randomInt } from 'node:crypto';
import { reached } from '../../support/faults/promise.js';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { beside } from '../../support/load/beside.js';
import { requestOf, type Traffic } from '../../support/load/load.js';
import { type Someone, TestPortal } from '../../support/portal/portal.js';
import { fixture, inTest } from '../../support/process/fixture.js';

/** Promise 43 for the portal: the worst that one network can send, and its effect on an owner in another one. */
const SECONDS = Number(process.env.SECONDS ?? 30);
const TIMING = { quiet: SECONDS / 6, attacked: SECONDS / 2, rounds: 2 };
const ABUSER = '198.51.100.1';
/** The longest form. */
const FORM_BYTES = 32_000;

await buildOnce();
const portal = await fixture(TestPortal.start());
const [owner, abuser] = [await portal.someone('owner'), await portal.someone('owner')];

function bytes(path: string, network: string, headers: [string, string][], form?: string): string {
  const type: [string, string][] = form === undefined ? [] : [['Content-Type', 'application/x-www-form-urlencoded']];
  const all: [string, string][] = [['X-Forwarded-For', network], ['Sec-Fetch-Site', 'same-origin'], ...type, ...headers]; // prettier-ignore
  return requestOf(path, null, { method: form === undefined ? 'GET' : 'POST', headers: all }) + (form ?? '');
}

const form = (path: string, body: string, length = body.length) => bytes(path, ABUSER, [['Content-Length', String(length)]], body); // prettier-ignore
const page = ({ organization, cookie }: Someone, network: string) => bytes(`/o/${organization.slug}/keys`, network, [['Cookie', cookie]]); // prettier-ignore
const many = (make: () => string) => Array.from({ length: 2_000 }, make);
const unknown = () => `email=${randomBytes(5).toString('hex')}@example.org&password=wrong`;

/** The letters and digits of codes. */
const ALPHABET = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';
const code = () => Array.from({ length: 12 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');

const ATTACKS: { name: string; attack: () => Traffic; statuses: number[] }[] = [
  {
    name: 'sign-ins to unknown addresses',
    attack: () => ({ connections: 50, requests: many(() => form('/sign-in', unknown())) }),
    statuses: [303, 401, 422],
  },
  {
    name: 'guessed codes',
    attack: () => ({ connections: 50, requests: many(() => bytes(`/join/${code()}`, ABUSER, [])) }),
    statuses: [303, 404],
  },
  {
    name: '300 half-sent forms',
    attack: () => ({ connections: 300, requests: [form('/sign-in', `email=${'a'.repeat(FORM_BYTES / 2)}`, FORM_BYTES)] }),
    statuses: [0, 408],
  },
  {
    name: 'pages on 300 connections',
    attack: () => ({ connections: 300, requests: [page(abuser, ABUSER)] }),
    statuses: [],
  },
  { name: 'nonsense', attack: () => ({ connections: 50, requests: ['nonsense\r\n\r\n'] }), statuses: [400] },
]; // prettier-ignore

it.each(ATTACKS)('an owner in another network hardly notices $name', async ({ name, attack, statuses }) => {
  const settings = { PORTAL_DATABASE_URL: portal.database.portalUrl, TRUST_PROXY: 'true', LOG_LEVEL: 'error' };
  const target = await inTest(ApiProcess.start(settings, [], 'portal'));
  const usual = { requests: [page(owner, '203.0.113.1')], connections: 20, rate: 20 };
  const checks = [{ requests: [bytes('/health/ready', ABUSER, [])], connections: 8, rate: 2 }];
  // Warms up: the first requests and the first refusals run code for the first time.
  await beside(target.port, { usual, attack: [attack()] }, { quiet: 1, attacked: 3, rounds: 1 });
  const result = await beside(target.port, { usual, checks, attack: [attack()], statuses }, TIMING);
  reached(43, `portal, ${name}: ${String(result)}`);
  expect(result.breaches).toEqual([]);
  expect([target.ended, target.stderr]).toEqual([null, '']);
});
