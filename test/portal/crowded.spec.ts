import { connect, type Socket } from 'node:net';
import { SignIn } from '@app/accounts';
import { Database } from '@app/database';
import { Admission, BodyBudget } from '@app/serving';
import { Assets } from '../../apps/portal/src/web/assets.js';
import { Templates } from '../../apps/portal/src/web/templates.js';
import { bytesOf, exchange, type RawAnswer, type RawRequest } from '../support/http/raw-http.js';
import { TestPortal } from '../support/portal/portal.js';
import { fixture } from '../support/process/fixture.js';

/** One network cannot crowd out others, and requests beyond the limits get a page that says when to retry. */
const MOST = 8;
const [HOSTILE, OTHER] = ['198.51.100.1', '198.51.100.2'];
const FORM = 'application/x-www-form-urlencoded';
const LONGEST = 32_768;

const sockets = new Set<Socket>();

const portal = await fixture(TestPortal.start({ MAX_REQUESTS_IN_FLIGHT: String(MOST), TRUST_PROXY: 'true' }));
afterEach(async () => {
  vi.restoreAllMocks();
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await vi.waitFor(() => expect(portal.app.get(Admission).inFlight).toBe(0));
  await vi.waitFor(() => expect(portal.app.get(BodyBudget).state).toEqual({ bytes: 0, owners: 0 }));
});

type Headers = [name: string, value: string][];

const formHeaders = (length: number): Headers => [
  ['Sec-Fetch-Site', 'same-origin'],
  ['Content-Type', FORM],
  ['Content-Length', String(length)],
];

function ask(path: string, from: string, { method = 'GET', headers = [] as Headers, body = '' } = {}): Promise<RawAnswer> {
  return exchange(portal.port, bytesOf(path, { method, headers: [['X-Forwarded-For', from], ...headers], body }));
} // prettier-ignore

const post = (path: string, from: string, body: string) =>
  ask(path, from, { method: 'POST', headers: formHeaders(body.length), body });

/** Sends the first part of a form and stops. */
function beginForm(from: string, length = LONGEST, port = portal.port): void {
  const head = bytesOf('/sign-in', {
    method: 'POST',
    headers: [['X-Forwarded-For', from], ...formHeaders(length)],
    body: 'email=',
  });
  const socket = connect(port, '127.0.0.1', () => socket.write(head));
  sockets.add(socket.on('error', () => undefined));
}

function expectBusy(answer: RawAnswer, what = ''): void {
  expect([what, answer.status, answer.headers['retry-after']]).toEqual([what, 503, '5']);
  expect(answer.body).toContain('Very busy right now');
  expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'x-frame-options': 'DENY', 'x-request-id': expect.any(String) as string }); // prettier-ignore
}

/** Runs `work` while this many requests of each network wait for the database. */
async function whileHeld<T>(networks: string[], each: number, work: () => Promise<T>): Promise<T> {
  const release = Promise.withResolvers<undefined>();
  const lookUp = Reflect.get<Database, 'lookUp'>(Database.prototype, 'lookUp');
  const held = vi.spyOn(Database.prototype, 'lookUp').mockImplementation(async function (this: Database, ...args) {
    await release.promise;
    return lookUp.apply(this, args);
  });
  const secret = Buffer.alloc(32).toString('base64url');
  const answers = networks.flatMap((from) =>
    Array.from({ length: each }, () => ask('/sign-in', from, { headers: [['Cookie', `session=${secret}`]] })),
  );
  await vi.waitFor(() => expect(held).toHaveBeenCalledTimes(answers.length));
  held.mockImplementation(function (this: Database, ...args) {
    return lookUp.apply(this, args);
  });
  try {
    return await work();
  } finally {
    release.resolve(undefined);
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(answers.map(() => 200));
  }
}

describe('requests', () => {
  it('beyond the limit get a page on every route, and probes still work', async () => {
    await whileHeld(['198.51.100.3', '198.51.100.4', '198.51.100.5', '198.51.100.6'], MOST / 4, async () => {
      const { calls } = vi.spyOn(Database.prototype, 'lookUp').mock;
      const before = calls.length;
      for (const { method, path, access } of portal.routes()) {
        if (access === 'probe') continue;
        const at = path.replaceAll(/:[^/]+/g, 'x');
        expectBusy(await ask(at, OTHER, { method, headers: [['Sec-Fetch-Site', 'same-origin']] }), `${method} ${path}`);
      }
      expect(calls.length).toBe(before);
      expect((await ask('/health/live', OTHER)).status).toBe(200);
      expect((await ask('/health/ready', OTHER)).status).toBe(200);
    });
    const told = portal.logged.map((line) => JSON.parse(line) as { route: string; status: number });
    const refused = new Set(told.flatMap(({ route, status }) => (status === 503 ? [route] : [])));
    const paths = portal.routes().flatMap(({ path, access }) => (access === 'probe' ? [] : [path]));
    expect([...refused].sort()).toEqual([...new Set(paths)].sort());
  }); // prettier-ignore

  it('of one network get at most a quarter of the capacity', async () => {
    await whileHeld([HOSTILE], MOST / 4, async () => {
      expectBusy(await ask('/sign-in', HOSTILE));
      // Addresses before the proxy's own entry are ignored.
      expectBusy(await ask('/sign-in', `${OTHER}, ${HOSTILE}`));
      expect((await ask('/sign-in', OTHER)).status).toBe(200);
    });
  });

  it('over IPv6 are counted per /64 network', async () => {
    await whileHeld(['2001:db8:1:1::1'], MOST / 4, async () => {
      expectBusy(await ask('/sign-in', '2001:db8:1:1:ffff::2'));
      expect((await ask('/sign-in', '2001:db8:1:2::1')).status).toBe(200);
    });
  });
});

describe('half-sent forms', () => {
  it('do not count as requests in flight', async () => {
    for (let count = 0; count < 3 * MOST; count++) beginForm(HOSTILE, 100);
    await vi.waitFor(() => expect(portal.app.get(BodyBudget).state.bytes).toBe(3 * MOST * 100));
    expect(portal.app.get(Admission).inFlight).toBe(0);
    expect((await post('/sign-in', HOSTILE, 'email=&password=')).status).toBe(422);
  });

  it('of one network use at most 16 MiB, and other networks are still served', async () => {
    for (let count = 0; count < 512; count++) beginForm(HOSTILE);
    await vi.waitFor(() => expect(portal.app.get(BodyBudget).state.bytes).toBe(512 * LONGEST));
    expectBusy(await post('/sign-in', HOSTILE, 'email=&password='));
    expect((await post('/sign-in', OTHER, 'email=&password=')).status).toBe(422);
    expect((await ask('/sign-in', HOSTILE)).status).toBe(200);
  });

  it('cost no page when their clients leave', async () => {
    const rendered = vi.spyOn(Templates.prototype, 'render');
    const told = portal.logged.length;
    for (let count = 0; count < 20; count++) beginForm(HOSTILE);
    await vi.waitFor(() => expect(portal.app.get(BodyBudget).state.bytes).toBe(20 * LONGEST));
    for (const socket of sockets) socket.destroy();
    await vi.waitFor(() =>
      expect(
        portal.logged
          .slice(told)
          .join('')
          .match(/"status":499/g),
      ).toHaveLength(20),
    );
    expect(rendered).not.toHaveBeenCalled();
  });
});

it('hashing for one network does not delay others, and excess sign-ins are refused', async () => {
  const release = Promise.withResolvers<undefined>();
  const wide = await TestPortal.start({ TRUST_PROXY: 'true' });
  try {
    const hashed = vi.spyOn(SignIn.prototype, 'withPassword').mockImplementation(async () => {
      await release.promise;
      return null;
    });
    const signIn = (from: string, index: number) => {
      const body = `email=person-${index}%40example.org&password=wrong-password`;
      const headers: Headers = [['X-Forwarded-For', from], ...formHeaders(body.length)];
      return exchange(wide.port, bytesOf('/sign-in', { method: 'POST', headers, body }));
    };
    const refused: RawAnswer[] = [];
    const flood = Array.from({ length: 50 }, async (_, index) => {
      const answer = await signIn(HOSTILE, index);
      if (answer.status === 503) refused.push(answer);
      return answer;
    });
    await vi.waitFor(() => expect(refused).toHaveLength(10));
    for (const answer of refused) expectBusy(answer);
    expect(hashed).toHaveBeenCalledTimes(1);
    const other = signIn(OTHER, 51);
    await vi.waitFor(() => expect(hashed).toHaveBeenCalledTimes(2));
    release.resolve(undefined);
    expect((await other).status).toBe(422);
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 422)).toHaveLength(40);
    expect(statuses.filter((status) => status === 503)).toHaveLength(10);
  } finally {
    release.resolve(undefined);
    await wide.stop();
  }
});

describe('oversized requests', () => {
  it.each([
    ['a cookie', '/sign-in', [['Cookie', `session=${'a'.repeat(20_000)}`]] as Headers],
    ['a query', `/sign-in?next=${'a'.repeat(20_000)}`, []],
  ])('%s gets a page that says what to do', async (_what, path, headers) => {
    const answer = await ask(path, OTHER, { headers });
    expect([answer.status, answer.headers.connection]).toEqual([431, 'close']);
    expect(answer.body).toContain('Delete the cookies of this site');
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
  });

  it.each([
    [
      'many names',
      Array.from({ length: 10_000 }, (_, index) => index.toString(36))
        .join('&')
        .slice(0, LONGEST),
      413,
    ],
    ['one name, again and again', 'email=a&'.repeat(LONGEST / 8).slice(0, LONGEST), 413],
    ['one name, 200 times', Array(200).fill('email=a').join('&'), 400],
    ['a compressed one', '\x1f\x8b\x08', 400],
  ])('a form is refused: %s', async (what, body, status) => {
    const encoding: Headers = what === 'a compressed one' ? [['Content-Encoding', 'gzip']] : [];
    const headers = [...formHeaders(body.length), ...encoding];
    const answer = await ask('/sign-in', OTHER, { method: 'POST', headers, body });
    expect([answer.status, answer.headers['content-type']]).toEqual([status, 'text/html; charset=utf-8']);
  });

  it('a chunked form that is too long is refused', async () => {
    const headers: Headers = [['Sec-Fetch-Site', 'same-origin'], ['Content-Type', FORM], ['Transfer-Encoding', 'chunked']];
    const chunk = `${(40_000).toString(16)}\r\n${'a'.repeat(40_000)}\r\n0\r\n\r\n`;
    expect((await ask('/sign-in', OTHER, { method: 'POST', headers, body: chunk })).status).toBe(413);
  }); // prettier-ignore
});

describe('a network that sends too many requests', async () => {
  const BURST = 3;
  const limited = await fixture(
    TestPortal.start({ TRUST_PROXY: 'true', PORTAL_REQUESTS_PER_MINUTE: String(20 * BURST) }, portal.database),
  );

  /** Sends requests until one is refused. @returns the statuses before, and the refusal */
  async function untilRefused(
    network: string,
    path = '/sign-in',
    options: Omit<RawRequest, 'headers'> & { headers?: Headers } = {},
  ) {
    const { headers = [], ...rest } = options;
    const bytes = bytesOf(path, { ...rest, headers: [['X-Forwarded-For', network], ...headers] });
    const answers: RawAnswer[] = [];
    do answers.push(await exchange(limited.port, bytes));
    while (answers.at(-1)!.status !== 429);
    const refusal = answers.pop()!;
    expect(answers.length).toBeGreaterThanOrEqual(BURST);
    return { statuses: [...new Set(answers.map(({ status }) => status))], refusal };
  }

  it('is refused before anything else is done, while others and health checks are served', async () => {
    const { statuses, refusal } = await untilRefused(HOSTILE);
    expect([statuses, refusal.headers['retry-after']]).toEqual([[200], '5']);
    expect(refusal.body).toContain('Too many attempts');
    const from = (network: string, path: string) =>
      exchange(limited.port, bytesOf(path, { headers: [['X-Forwarded-For', network]] }));
    expect((await from(OTHER, '/sign-in')).status).toBe(200);
    expect((await from(HOSTILE, '/health/ready')).status).toBe(200);
  });

  const fields = 'email=&password=';
  const ASSET = limited.app.get(Assets).urlOf('portal.css');
  it.each([
    ['forms', '/sign-in', { method: 'POST', headers: formHeaders(fields.length), body: fields }, 422],
    [
      'forms of other sites',
      '/sign-in',
      { method: 'POST', headers: formHeaders(fields.length).slice(1), body: fields },
      403,
    ],
    [
      'forms that are too long',
      '/sign-in',
      { method: 'POST', headers: formHeaders(LONGEST + 1), body: 'a'.repeat(LONGEST + 1) },
      413,
    ],
    ['assets asked for with a body', ASSET, { headers: [['Content-Length', '1']] as Headers, body: 'a' }, 200],
    ['missing pages', '/nothing', {}, 404],
    ['assets that do not exist', '/assets/nothing.css', {}, 404],
  ] as const)('%s count', async (what, path, request, status) => {
    const { statuses } = await untilRefused(`203.0.113.${what.length}`, path, request);
    expect(statuses).toEqual([status]);
  });

  it('half-sent forms do not count until they are complete', async () => {
    const network = '203.0.113.1';
    for (let count = 0; count < 3 * BURST; count++) beginForm(network, 100, limited.port);
    await vi.waitFor(() => expect(limited.app.get(BodyBudget).state.bytes).toBe(3 * BURST * 100));
    const { statuses } = await untilRefused(network);
    expect(statuses).toEqual([200]);
  });
});
