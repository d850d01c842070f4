import { randomBytes } from 'node:crypto';
import { SignIn } from '@app/people';
import { bytesOf, exchange, type RawAnswer } from '../../support/http/raw-http.js';
import { JoinFixture, registration } from '../../support/portal/join-fixture.js';
import { cookieOf, PASSWORD, type Someone, type TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

/** What people and browsers send appears in no log, and secrets neither in the database nor on error pages. */
const CANARY = /(?:stored|sent)canary/i;
const [STORED, SENT] = ['StoredCanary', 'SentCanary'];

interface Line {
  msg: string;
  request_id?: string;
  route?: string;
  status?: number;
}

let portal: TestPortal;
let owner: Someone;
/** Every secret, by its kind. */
const secrets = new Map<string, string>([['password', PASSWORD]]);
const answers: RawAnswer[] = [];
/** The database while a new key waits for the page that shows it. */
let onItsWay: string;
const expected: { id: string; route: string; status: number }[] = [];

const joining = await fixture(JoinFixture.open({ LOG_LEVEL: 'trace' }));

beforeAll(async () => {
  ({ portal } = joining);
  owner = await portal.someone('owner', { user: { firstName: STORED, lastName: STORED, email: `${STORED}@example.org` } });
  await portal.make.query(`UPDATE organizations SET name = $1 WHERE id = $2`, [STORED, owner.organization.id]);
}); // prettier-ignore

const base = () => `/o/${owner.organization.slug}`;
const everything = async () => {
  const tables = await portal.make.query<{ name: string }>(
    `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind IN ('r', 'p', 'm') AND relnamespace = 'public'::regnamespace`,
  );
  return JSON.stringify(await Promise.all(tables.map(({ name }) => portal.make.query(`SELECT t::text FROM ${name} t`))));
};
const valueOf = (cookie: string) => cookie.slice(cookie.indexOf('=') + 1);
const lines = () => portal.logged.map((line) => JSON.parse(line) as Line);

it('the portal creates and accepts every kind of secret', async () => {
  secrets.set('session', valueOf(owner.cookie));
  const provisioning = await joining.provisioning();
  const token = await joining.invite(provisioning, { scope: 'organization', role: 'student', email: `${STORED}2@example.org` });
  secrets.set('invite', token);
  const visitor = joining.visitor();
  await visitor.get(`/join/${token}?proof=${randomBytes(32).toString('hex')}`);
  expect((await visitor.post(`/join/${token}`, registration())).status).toBe(303);
  secrets.set('session of a new person', visitor.cookies.get('session')!);

  await portal.setPassword(owner.user.id);
  await portal.post('/forgot-password', { email: owner.user.email });
  const [mail] = await portal.mailsTo(owner.user.email);
  const link = new URL(mail!.joinUrl!).pathname;
  secrets.set('password link', link.split('/').at(-1)!);
  await portal.get(link);
  const wrong = 'a wrong password of somebody';
  secrets.set('wrong password', wrong);
  expect((await portal.post('/sign-in', { email: owner.user.email, password: wrong })).status).toBe(422);
  const signedIn = await portal.post('/sign-in', { email: owner.user.email, password: PASSWORD });
  owner.cookie = cookieOf(signedIn)!;
  secrets.set('session after signing in', valueOf(owner.cookie));

  const form = { form_token: crypto.randomUUID(), name: STORED, access: 'read', expires: 'never' };
  const made = await portal.post(`${base()}/keys`, form, owner.cookie);
  onItsWay = await everything();
  const shown = await portal.get(made.headers.location!, owner.cookie);
  secrets.set('key', /[a-z0-9]+_live_[0-9a-f]{64}/.exec(shown.text)![0]);
  const hook = await portal.post(`${base()}/build-hook/add`, { url: `https://build.example.org/${SENT}` }, owner.cookie);
  secrets.set('hook secret', /id="secret"[^>]*value="([0-9a-f]{64})"/.exec(hook.text)![1]!);
  expect(secrets.size).toBe(9);
}); // prettier-ignore

async function ask(method: string, path: string, { route = 'none', headers = [] as [string, string][], body = '' } = {}): Promise<void> {
  const id = `request-${expected.length}`;
  const form: [string, string][] = [['Content-Type', 'application/x-www-form-urlencoded'], ['Content-Length', String(body.length)]]; // prettier-ignore
  const all: [string, string][] = [['X-Request-Id', id], ...(body ? form : []), ...headers];
  const answer = await exchange(portal.port, bytesOf(path, { method, headers: all, body }));
  answers.push(answer);
  expected.push({ id, route, status: answer.status });
}

it('each request on each route logs one line with its id, route template and status, and nothing it sent', async () => {
  const word = encodeURIComponent(`${SENT} mia@example.org\r\n{"msg":"request","request_id":"forged"}`);
  const personal: [string, string][] = [
    ['User-Agent', SENT],
    ['Referer', `https://x.example/?${SENT}`],
    ['X-Forwarded-For', `${SENT}, 198.51.100.77`],
  ];
  const own: [string, string] = ['Sec-Fetch-Site', 'same-origin'];
  const form = `email=${word}&password=${word}&code=${word}&first_name=${word}&url=${word}&name=${word}&${word}=${word}`;
  for (const { method, path, access } of portal.routes()) {
    if (access === 'probe') continue;
    const route = path;
    const odd = path.replaceAll(/:[^/]+/g, word);
    const real = path.replace(':slug', owner.organization.slug).replaceAll(/:[^/]+/g, word);
    const body = method === 'GET' ? '' : form;
    await ask(method, `${odd}?${word}=${word}&next=${word}`, { route, headers: [own, ...personal], body });
    await ask(method, odd, { route, headers: [own, ['Cookie', `session=${SENT}; flash=${SENT}; join=${SENT}`]], body });
    // These end the session.
    if (!/sign-out|sessions|password|passkey/.test(path)) await ask(method, real, { route, headers: [own, ['Cookie', owner.cookie]], body }); // prettier-ignore
    if (method !== 'GET') await ask(method, odd, { route, headers: [['Origin', `https://${SENT}.example`]], body });
    if (method !== 'GET') await ask(method, odd, { route, headers: [own], body: `${form}${'a'.repeat(40_000)}` });
    await ask('PROPFIND', odd, { headers: personal });
  }
  await ask('GET', `/${word}/${SENT}`);
  await ask('GET', `/sign-in?next=%`, { route: '/sign-in' });
  expect(answers.filter(({ status }) => status >= 500 || status === 0)).toEqual([]);
  // Refused before they reach the application.
  for (const bytes of [`GET /${SENT} HTTP/1.1\r\nX-A : ${SENT}\r\n\r\n`, bytesOf(`/join/${SENT.repeat(2_000)}`)]) {
    answers.push(await exchange(portal.port, bytes));
  }
  const said = lines().filter(({ msg }) => msg === 'request');
  for (const { id, route, status } of expected) {
    const found = said.filter(({ request_id }) => request_id === id);
    expect([id, found.map((line) => [line.route, line.status])]).toEqual([id, [[route, status]]]);
  }
  const allowed = ['level', 'time', 'msg', 'request_id', 'organization_id', 'method', 'route', 'status', 'ms', 'fault'];
  expect([...new Set(said.flatMap((line) => Object.keys(line)))].filter((field) => !allowed.includes(field))).toEqual([]);
}); // prettier-ignore

it('a failure reveals no personal data on the page or in the log', async () => {
  const failing = vi.spyOn(SignIn.prototype, 'withPassword').mockImplementation((email, password) => {
    const quoting = { code: '23505', detail: `Key (email)=(${email}) exists`, where: password, routine: '_bt_check_unique' };
    return Promise.reject(Object.assign(new Error(`${email} ${password}`), quoting));
  });
  const answer = await portal.post('/sign-in', { email: `${SENT}@example.org`, password: PASSWORD });
  failing.mockRestore();
  expect(answer.status).toBe(500);
  expect(answer.text).not.toMatch(CANARY);
  expect(portal.logged.join('')).toContain('_bt_check_unique');
}); // prettier-ignore

it('the log contains no personal data and no secret', () => {
  expect(portal.logged.length).toBeGreaterThan(200);
  expect(portal.logged.filter((line) => CANARY.test(line))).toEqual([]);
  const log = portal.logged.join('');
  for (const [what, secret] of secrets) expect([what, log.includes(secret)]).toEqual([what, false]);
  expect(lines().filter(({ request_id }) => request_id === 'forged')).toEqual([]);
});

it('error pages contain nothing that was sent, and no secret', () => {
  const errors = answers.filter(({ status }) => status >= 400 && status !== 422);
  expect(errors.length).toBeGreaterThan(100);
  for (const { body } of errors) {
    expect(body).not.toMatch(/sentcanary/i);
    for (const [what, secret] of secrets) expect([what, body.includes(secret)]).toEqual([what, false]);
  }
});

it('the database contains no secret in any encoding', async () => {
  const later = await everything();
  expect(later).toContain(STORED);
  expect(await portal.make.query('SELECT FROM api_key_handovers')).toEqual([]);
  for (const [what, secret] of secrets) {
    const bytes = Buffer.from(secret);
    const encoded = [bytes.toString('hex'), bytes.toString('base64'), Buffer.from(secret, 'base64url').toString('hex')];
    const written = [secret, secret.slice(-64), ...encoded];
    expect([what, written.filter((text) => later.includes(text) || onItsWay.includes(text))]).toEqual([what, []]);
  }
});
