import { hashPassword, SignIn } from '@app/people';
import { reached } from '../../support/faults/promise.js';
import { TestPortal } from '../../support/portal/portal.js';
import { Visitor } from '../../support/portal/visitor.js';
import { fixture } from '../../support/process/fixture.js';

const PAIRS = Number(process.env.ADDRESS_PAIRS ?? 300);
/** The first answers compile code and open connections. */
const WARM_UP = 10;
/** The largest ratio of the medians: a few hundred answers could reveal more. */
const MOST = 1.1;
/** Milliseconds that the promise allows in any case: less than the network's own noise. */
const MOST_MS = 0.5;
const SETTINGS = { SMTP_URL: 'smtp://127.0.0.1:1', TRUST_PROXY: 'true' };

let known: string[];

const portal = await fixture(TestPortal.start(SETTINGS));

beforeAll(async () => {
  // With the cost of real passwords.
  const hash = await hashPassword('a password that nobody guesses');
  known = [];
  for (let index = 0; index < PAIRS; index++) {
    const { user } = await portal.someone('tutor', { user: { email: `known${index}@example.org` } });
    await portal.make.query('INSERT INTO credentials (user_id, password_hash) VALUES ($1, $2)', [user.id, hash]);
    known.push(user.email);
  }
});

const FORMS: Record<string, (email: string) => [path: string, fields: Record<string, string>]> = {
  'the sign-in': (email) => ['/sign-in', { email, password: 'not the password' }],
  'a forgotten password': (email) => ['/forgot-password', { email }],
};

/** Median times for known and unknown addresses, asked alternately, each from its own network. */
async function medians(form: string, at: TestPortal): Promise<{ known: number; unknown: number; answers: Set<string> }> {
  const times: { known: number[]; unknown: number[] } = { known: [], unknown: [] };
  const answers = new Set<string>();
  for (const [index, address] of known.entries()) {
    const pair = [['known', address], ['unknown', `unknwn${index}@example.org`]] as const; // prettier-ignore
    for (const [kind, email] of index % 2 ? pair : pair.toReversed()) {
      const [path, fields] = FORMS[form]!(email);
      const visitor = new Visitor(at);
      const started = performance.now();
      const { status, text } = await visitor.post(path, fields);
      if (index >= WARM_UP) times[kind].push(performance.now() - started);
      answers.add(`${status} ${text.replaceAll(email, '…')}`);
    }
  }
  const median = (values: number[]) => values.sort((one, other) => one - other)[Math.floor(values.length / 2)]!;
  return { known: median(times.known), unknown: median(times.unknown), answers };
}

const ratio = ({ known: one, unknown: other }: { known: number; unknown: number }) => Math.max(one, other) / Math.min(one, other);
const reveals = (measured: { known: number; unknown: number }) => ratio(measured) > MOST && Math.abs(measured.known - measured.unknown) > MOST_MS;

describe('known and unknown addresses', () => {
  it.each(Object.keys(FORMS))('%s gives both the same answer in the same time', async (form) => {
    const measured = await medians(form, portal);
    const words = `${measured.known.toFixed(2)} and ${measured.unknown.toFixed(2)} ms`;
    reached(15, `${form}, known and unknown addresses: ${words} (${ratio(measured).toFixed(3)}x) in ${PAIRS} pairs`);
    expect(measured.answers.size).toBe(1);
    expect([words, reveals(measured)]).toEqual([words, false]);
  });

  it('catches a sign-in that hashes no password for unknown addresses', async () => {
    const leaky = await TestPortal.start(SETTINGS, portal.database);
    try {
      const signIn = leaky.app.get(SignIn, { strict: false });
      const right = signIn.withPassword.bind(signIn);
      signIn.withPassword = (email, password) => (email.startsWith('unknwn') ? Promise.resolve(null) : right(email, password));
      const measured = await medians('the sign-in', leaky);
      expect([measured, reveals(measured)]).toEqual([measured, true]);
    } finally {
      await leaky.stop();
    }
  });
});
