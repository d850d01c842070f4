import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BELONGS } from '../../../apps/portal/src/web/access.decorators.js';
import type { Route } from '../../../apps/portal/src/web/route-table.js';
import type { Membership } from '../../../apps/portal/src/web/sessions.js';
import { someOf } from '../../support/fuzz/hostile-client.js';
import { DatabaseProxy } from '../../support/database/database-proxy.js';
import { type Someone, TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const NOBODY = '018cc251-0000-7000-8000-000000000000';

/** Values for path parameters that are not ids. */
const PARAMETERS: Record<string, string> = { secret: 'x'.repeat(43), code: 'AAAAAAAAAA' };

/** Every route that needs no session. Add new ones here, and say why. */
const PUBLIC = [
  'GET /sign-in', 'POST /sign-in', 'POST /sign-out', 'POST /sign-in/passkey', 'POST /sign-in/passkey/options',
  // Programs that have the secret address of a calendar.
  'GET /calendar/:address',
  // Whoever opens these has forgotten their password.
  'GET /forgot-password', 'POST /forgot-password', 'GET /password/:secret', 'POST /password/:secret',
  // The link at the end of a mail.
  'GET /mails/:token', 'POST /mails/:token',
]; // prettier-ignore

/** Headers that a browser may send, or leave out, with a form from another site. */
const CROSS_SITE: Record<string, string>[] = [
  { 'Sec-Fetch-Site': 'cross-site' },
  { 'Sec-Fetch-Site': 'same-site' },
  { 'Sec-Fetch-Site': 'none' },
  { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://evil.example' },
  { Origin: 'https://evil.example' },
  { Origin: 'null' },
  {},
];

let routes: Route[];
let owner: Someone;

const portal = await fixture(TestPortal.start());

beforeAll(async () => {
  routes = portal.routes().filter(({ access }) => access !== 'probe');
  owner = await portal.someone('owner');
});

const nameOf = ({ method, path }: Route) => `${method} ${path}`;

const pathOf = ({ path }: Route, slug = owner.organization.slug) =>
  path.replaceAll(/:([^/]+)/g, (_, name: string) => (name === 'slug' ? slug : (PARAMETERS[name] ?? NOBODY)));

interface Answer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** Sends exactly these headers. */
function send(route: Route, headers: Record<string, string> = {}, at = portal, slug?: string): Promise<Answer> {
  const { port } = at.app.getHttpServer().address() as AddressInfo;
  const options = { host: '127.0.0.1', port, method: route.method, path: pathOf(route, slug), headers, agent: false };
  return new Promise((resolve, reject) => {
    const sent = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part));
      response.on('end', () => {
        resolve({ status: response.statusCode!, headers: response.headers as Record<string, string>, text });
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

const SAME_ORIGIN = { 'Sec-Fetch-Site': 'same-origin' };

describe('every route', () => {
  it('declares who may open it, and is public only if listed here', () => {
    expect(routes.filter(({ access }) => access === undefined).map(nameOf)).toEqual([]);
    const open = routes.filter(({ access }) => access === 'public').map(nameOf);
    const join = open.filter((name) => /^(GET|POST) \/join(\/|$)/.test(name));
    expect(open.filter((name) => !join.includes(name)).sort()).toEqual(PUBLIC.sort());
  });

  it('has the organization in its path if and only if it is for those who belong: below /o for owners and admins, below /my for others', () => {
    const belong = (access: Route['access']) => (access === 'managers' ? 'o' : access && access in BELONGS ? 'my' : undefined);
    for (const route of routes) {
      const [, below] = /^\/(o|my)\/:slug(?:\/|$)/.exec(route.path) ?? [];
      expect([nameOf(route), below]).toEqual([nameOf(route), belong(route.access)]);
    }
  });

  it('redirects to the sign-in without a session', async () => {
    const pages = new Set(routes.filter(({ method }) => method === 'GET').map((route) => pathOf(route)));
    for (const route of routes.filter(({ access }) => access !== 'public')) {
      const { status, headers } = await send(route, SAME_ORIGIN);
      const { pathname, searchParams } = new URL(headers.location!, 'http://portal.invalid');
      expect([nameOf(route), status, pathname]).toEqual([nameOf(route), 303, '/sign-in']);
      const next = searchParams.get('next')!;
      // A form's page has the same path or one above it, unless the route names another.
      if (route.method === 'GET') expect(next).toBe(pathOf(route));
      else expect([nameOf(route), next, pages.has(next)]).toEqual([nameOf(route), next, true]);
      if (!route.confirmation?.form) expect(pathOf(route).startsWith(next)).toBe(true);
    }
  });

  it('for owners and admins returns 403 to tutors and students, and 404 to strangers', async () => {
    const slug = owner.organization.slug;
    const [admin, tutor, student, stranger] = [
      await portal.someone('admin', { organization: owner.organization }),
      await portal.someone('tutor', { organization: owner.organization }),
      await portal.someone('student', { organization: owner.organization }),
      await portal.someone('owner'),
    ];
    for (const route of routes.filter(({ access }) => access === 'managers')) {
      for (const { cookie } of [tutor, student]) {
        const { status, text } = await send(route, { ...SAME_ORIGIN, Cookie: cookie });
        expect([nameOf(route), status, text.includes('Only owners and admins')]).toEqual([nameOf(route), 403, true]);
      }
      const { text } = await send(route, { ...SAME_ORIGIN, Cookie: admin.cookie });
      expect([nameOf(route), text.includes('Only owners and admins')]).toEqual([nameOf(route), false]);
      const foreign = await send(route, { ...SAME_ORIGIN, Cookie: stranger.cookie }, portal, slug);
      const absent = await send(route, { ...SAME_ORIGIN, Cookie: stranger.cookie }, portal, 'no-such-school');
      expect([nameOf(route), foreign.status, foreign.text]).toEqual([nameOf(route), 404, absent.text]);
    }
  });

  it('for some who belong is 403 to the others, and 404 to strangers', async () => {
    const { organization } = owner;
    const stranger = await portal.someone('owner');
    const parent = await portal.make.parent(organization.id, { children: [(await portal.make.student(organization.id)).id] });
    const those = {
      tutor: await portal.someone('tutor', { organization }),
      student: await portal.someone('student', { organization }),
      parent: { cookie: await portal.session(parent.id) },
    };
    for (const route of routes.filter(({ path }) => path.startsWith('/my/'))) {
      for (const [role, { cookie }] of Object.entries(those)) {
        const { status, text } = await send(route, { ...SAME_ORIGIN, Cookie: cookie });
        const may = BELONGS[route.access as keyof typeof BELONGS]({ role, isParent: role === 'parent' } as Membership);
        expect([nameOf(route), role, status === 403 && text.includes('can open this page')]).toEqual([nameOf(route), role, !may]);
      }
      const foreign = await send(route, { ...SAME_ORIGIN, Cookie: stranger.cookie }, portal, organization.slug);
      const absent = await send(route, { ...SAME_ORIGIN, Cookie: stranger.cookie }, portal, 'no-such-school');
      expect([nameOf(route), foreign.status, foreign.text]).toEqual([nameOf(route), 404, absent.text]);
    }
  });

  it('refuses forms from other sites', async () => {
    // Mail programs switch mails off without a page.
    for (const [number, route] of routes.filter(({ method, path }) => method !== 'GET' && path !== '/mails/:token').entries()) {
      for (const headers of someOf(CROSS_SITE, number, CROSS_SITE.length, 2)) {
        const { status, text } = await send(route, { ...headers, Cookie: owner.cookie });
        expect([nameOf(route), headers, status]).toEqual([nameOf(route), headers, 403]);
        expect(text).toContain('This form was not sent from here');
      }
    }
    expect((await portal.get('/account', owner.cookie)).status).toBe(200);
  });

  it('accepts forms from a browser that sends only Origin', async () => {
    const { port } = portal.app.getHttpServer().address() as AddressInfo;
    const route = routes.find(({ path }) => path === '/account/sessions/end-others')!;
    const own = { Origin: `http://127.0.0.1:${port}`, Cookie: owner.cookie };
    expect((await send(route, own)).status).toBe(303);
  });

  it('refuses forms from its own host over http when it is served over https', async () => {
    const secure = await TestPortal.start({ TRUST_PROXY: 'true' }, portal.database);
    const host = `127.0.0.1:${(secure.app.getHttpServer().address() as AddressInfo).port}`;
    try {
      for (const route of someOf(
        routes.filter(({ method }) => method !== 'GET'),
        1,
        1_000,
        10,
      )) {
        const from = (scheme: string) => send(route, { Origin: `${scheme}://${host}`, 'X-Forwarded-Proto': 'https' }, secure);
        expect([nameOf(route), (await from('http')).status]).toEqual([nameOf(route), 403]);
        expect([nameOf(route), (await from('https')).status]).not.toEqual([nameOf(route), 403]);
      }
    } finally {
      await secure.stop();
    }
  });

  it('forbids framing, caching, inline scripts and referrers', async () => {
    for (const route of routes) {
      // Some routes end the session.
      for (const cookie of ['', await portal.session(owner.user.id)]) {
        const { headers, text, status } = await send(route, { ...SAME_ORIGIN, Cookie: cookie });
        expect([nameOf(route), status < 500]).toEqual([nameOf(route), true]);
        expect([nameOf(route), headers]).toEqual([
          nameOf(route),
          expect.objectContaining({
            'cache-control': 'no-store',
            'referrer-policy': 'no-referrer',
            'x-content-type-options': 'nosniff',
            'x-frame-options': 'DENY',
            'x-robots-tag': 'noindex, nofollow',
            'content-security-policy':
              "default-src 'none';script-src 'self';style-src 'self';img-src 'self';connect-src 'self';base-uri 'none';form-action 'self';frame-ancestors 'none'",
          }),
        ]);
        expect([nameOf(route), /<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|javascript:/i.exec(text)]).toEqual([nameOf(route), null]);
        expect([nameOf(route), Buffer.byteLength(text) < 60_000]).toEqual([nameOf(route), true]);
      }
    }
  });

  it('returns 503 with a page of its own while the database is unavailable', async () => {
    const proxy = await DatabaseProxy.open(portal.database.portalUrl);
    const cut = await TestPortal.start({ PORTAL_DATABASE_URL: proxy.url, REQUEST_DEADLINE_SECONDS: '2' }, portal.database);
    try {
      proxy.fate = 'drop';
      for (const route of routes.filter(({ method }) => method === 'GET')) {
        const { status, text, headers } = await send(route, { Cookie: owner.cookie }, cut);
        expect([nameOf(route), status]).toEqual([nameOf(route), 503]);
        expect(text).toContain('Back in a moment');
        expect(headers['retry-after']).toBe('10');
      }
      expect((await cut.get('/health/live')).status).toBe(200);
      await vi.waitFor(async () => expect((await cut.get('/health/ready')).status).toBe(503));
    } finally {
      await cut.stop();
      await proxy.close();
    }
  });
});

describe('a slow database', () => {
  const PATIENCE = { REQUEST_DEADLINE_SECONDS: '1' };

  it('ends every page at its deadline', async () => {
    const proxy = await DatabaseProxy.open(portal.database.portalUrl);
    // Hung connections are replaced only after the responses, so a small pool would run out.
    const settings = { ...PATIENCE, PORTAL_DATABASE_URL: proxy.url, DATABASE_POOL_SIZE: '100' };
    const hung = await TestPortal.start(settings, portal.database);
    try {
      proxy.fate = 'stall';
      const waiting = routes.filter(({ access }) => access !== 'public');
      // Each takes a second.
      while (waiting.length > 0) {
        const some = waiting.splice(0, 24).map(async (route) => {
          const { status, text } = await send(route, { ...SAME_ORIGIN, Cookie: owner.cookie }, hung);
          expect([nameOf(route), status]).toEqual([nameOf(route), 503]);
          expect(text).toContain('Back in a moment');
        });
        await Promise.all(some);
      }
    } finally {
      await hung.stop();
      await proxy.close();
    }
  });

  it('has one deadline for all the queries of a page', async () => {
    const proxy = await DatabaseProxy.open(portal.database.portalUrl);
    const slow = await TestPortal.start({ ...PATIENCE, PORTAL_DATABASE_URL: proxy.url }, portal.database);
    const base = `/o/${owner.organization.slug}`;
    const cookie = await portal.session(owner.user.id);
    try {
      for (const path of ['/account', `${base}/people`, `${base}/keys`, `${base}/activity`]) {
        proxy.delay = 0;
        // On a busy machine, a page may take longer than its second for other reasons.
        await vi.waitFor(async () => expect([path, (await slow.get(path, cookie)).status]).toEqual([path, 200]));
        // Only the session is found in time.
        proxy.delay = 700;
        expect([path, (await slow.get(path, cookie)).status]).toEqual([path, 503]);
      }
    } finally {
      await slow.stop();
      await proxy.close();
    }
  });
});

describe('malformed requests', () => {
  const HOSTS = [
    ' ', 'a b', '[', '[]', '[::', '[:::::]', ':', ':80', 'a:b', 'a:99999', 'a:1:2', 'user@a', 'a/b', 'a?b', 'a#b', 'a\\b',
    '<a>', '"', '%', '%00', '999.999.999.999', 'ä.example', '\u00a0', 'a'.repeat(256), 'a'.repeat(8_000),
  ]; // prettier-ignore

  it.each(HOSTS.map((host, number) => [host, number] as const))('%j as a Host header is refused', async (host, number) => {
    for (const route of someOf(routes, number, HOSTS.length, 8)) {
      const { status, text } = await send(route, { ...SAME_ORIGIN, Cookie: owner.cookie, Host: host });
      expect([nameOf(route), status]).toEqual([nameOf(route), 400]);
      expect(text).toContain('This request cannot be read');
    }
  });

  it.each(['localhost', 'LOCALHOST:3001', 'my_host', 'a.example.', '127.0.0.1:80', '[::1]:3001', 'a:'])(
    '%j as a Host header is accepted',
    async (host) => {
      const options = routes.find(({ path }) => path === '/sign-in/passkey/options')!;
      expect((await send(options, { ...SAME_ORIGIN, Host: host })).status).toBeLessThan(300);
    },
  );

  it.each([
    ['an unknown page', '/nothing/here', 404],
    ['a path that does not decode', '/o/%E0%A4%A', 404],
    ['a malformed id', '/account/sessions/abc/end', 404],
  ])('%s gets a 404 page', async (_what, path, status) => {
    const { cookie } = await portal.someone('owner');
    const answer = path.startsWith('/account') ? await portal.post(path, {}, cookie) : await portal.get(path, cookie);
    expect(answer.status).toBe(status);
    expect(answer.text).toContain('Page not found');
  });
});
