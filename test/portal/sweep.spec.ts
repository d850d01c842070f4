import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Route } from '../../apps/portal/src/web/route-table.js';
import { DatabaseProxy } from '../support/database/database-proxy.js';
import { type Someone, TestPortal } from '../support/portal/portal.js';

const NOBODY = '018cc251-0000-7000-8000-000000000000';

/** What stands for a parameter of a path, beside ids. */
const PARAMETERS: Record<string, string> = { secret: 'x'.repeat(43), code: 'AAAAAAAAAA' };

/** Every route that needs nobody to be signed in. Whoever adds one adds it here, and says why. */
const PUBLIC = [
  'GET /sign-in', 'POST /sign-in', 'POST /sign-out', 'POST /sign-in/passkey', 'POST /sign-in/passkey/options',
  // Whoever opens these has forgotten their password.
  'GET /forgot-password', 'POST /forgot-password', 'GET /password/:secret', 'POST /password/:secret',
]; // prettier-ignore

/** What a page of another site cannot prevent a browser from saying, and what it may be without. */
const CROSS_SITE: Record<string, string>[] = [
  { 'Sec-Fetch-Site': 'cross-site' },
  { 'Sec-Fetch-Site': 'same-site' },
  { 'Sec-Fetch-Site': 'none' },
  { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://evil.example' },
  { Origin: 'https://evil.example' },
  { Origin: 'null' },
  {},
];

let portal: TestPortal;
let routes: Route[];
let owner: Someone;

beforeAll(async () => {
  portal = await TestPortal.start();
  routes = portal.routes().filter(({ access }) => access !== 'probe');
  owner = await portal.someone('owner');
});
afterAll(() => portal.stop());

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
  it('declares who may open it, and is public only where that is meant', () => {
    expect(routes.filter(({ access }) => access === undefined).map(nameOf)).toEqual([]);
    const open = routes.filter(({ access }) => access === 'public').map(nameOf);
    const join = open.filter((name) => /^(GET|POST) \/join(\/|$)/.test(name));
    expect(open.filter((name) => !join.includes(name)).sort()).toEqual(PUBLIC.sort());
  });

  it('of owners and admins has the organization in its path, and no other has', () => {
    for (const route of routes)
      expect([nameOf(route), /^\/o\/:slug(\/|$)/.test(route.path)]).toEqual([
        nameOf(route),
        route.access === 'managers',
      ]);
  });

  it('leads to the sign-in without a session', async () => {
    for (const route of routes.filter(({ access }) => access !== 'public')) {
      const { status, headers } = await send(route, SAME_ORIGIN);
      const { pathname, searchParams } = new URL(headers.location!, 'http://portal.invalid');
      expect([nameOf(route), status, pathname]).toEqual([nameOf(route), 303, '/sign-in']);
      const next = searchParams.get('next')!;
      // The page of a form is the one itself or one above it.
      if (route.method === 'GET') expect(next).toBe(pathOf(route));
      else expect(pathOf(route).startsWith(next)).toBe(true);
    }
  });

  it('of owners and admins refuses tutors and students, and hides itself from strangers', async () => {
    const slug = owner.organization.slug;
    const [tutor, student, stranger] = [
      await portal.someone('tutor', { organization: owner.organization }),
      await portal.someone('student', { organization: owner.organization }),
      await portal.someone('owner'),
    ];
    for (const route of routes.filter(({ access }) => access === 'managers')) {
      for (const { cookie } of [tutor, student]) {
        const { status, text } = await send(route, { ...SAME_ORIGIN, Cookie: cookie });
        expect([nameOf(route), status, text.includes('Only owners and admins')]).toEqual([nameOf(route), 403, true]);
      }
      const foreign = await send(route, { ...SAME_ORIGIN, Cookie: stranger.cookie }, portal, slug);
      const absent = await send(route, { ...SAME_ORIGIN, Cookie: stranger.cookie }, portal, 'no-such-school');
      expect([nameOf(route), foreign.status, foreign.text]).toEqual([nameOf(route), 404, absent.text]);
    }
  });

  it('refuses forms of other sites', async () => {
    for (const route of routes.filter(({ method }) => method !== 'GET')) {
      for (const headers of CROSS_SITE) {
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

  it('refuses forms of the same host over http when it is served over https', async () => {
    const secure = await TestPortal.start({ TRUST_PROXY: 'true' }, portal.database);
    const host = `127.0.0.1:${(secure.app.getHttpServer().address() as AddressInfo).port}`;
    try {
      for (const route of routes.filter(({ method }) => method !== 'GET')) {
        const from = (scheme: string) =>
          send(route, { Origin: `${scheme}://${host}`, 'X-Forwarded-Proto': 'https' }, secure);
        expect([nameOf(route), (await from('http')).status]).toEqual([nameOf(route), 403]);
        expect([nameOf(route), (await from('https')).status]).not.toEqual([nameOf(route), 403]);
      }
    } finally {
      await secure.stop();
    }
  });

  it('is framed by nobody, kept by no cache, runs nothing inline and tells no other site its address', async () => {
    for (const route of routes) {
      // Some of them sign out.
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
        expect([nameOf(route), /<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|javascript:/i.exec(text)]).toEqual([
          nameOf(route),
          null,
        ]);
        expect([nameOf(route), Buffer.byteLength(text) < 60_000]).toEqual([nameOf(route), true]);
      }
    }
  });

  it('says on a page of its own that the database is away', async () => {
    const proxy = await DatabaseProxy.open(portal.database.portalUrl);
    const cut = await TestPortal.start(
      { PORTAL_DATABASE_URL: proxy.url, REQUEST_DEADLINE_SECONDS: '2' },
      portal.database,
    );
    try {
      proxy.fate = 'drop';
      for (const route of routes.filter(({ method }) => method === 'GET')) {
        const { status, text, headers } = await send(route, { Cookie: owner.cookie }, cut);
        expect([nameOf(route), status]).toEqual([nameOf(route), 503]);
        expect(text).toContain('Back in a moment');
        expect(headers['retry-after']).toBe('10');
      }
      expect((await cut.get('/health/live')).status).toBe(200);
      expect((await cut.get('/health/ready')).status).toBe(503);
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
    // Connections that hang are replaced behind the answers: a small pool would be short of them.
    const settings = { ...PATIENCE, PORTAL_DATABASE_URL: proxy.url, DATABASE_POOL_SIZE: '100' };
    const hung = await TestPortal.start(settings, portal.database);
    try {
      proxy.fate = 'stall';
      const waiting = routes.filter(({ access }) => access !== 'public');
      // Each takes a second.
      while (waiting.length > 0) {
        const some = waiting.splice(0, 8).map(async (route) => {
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

  it('has one deadline for all that a page asks it', async () => {
    const proxy = await DatabaseProxy.open(portal.database.portalUrl);
    const slow = await TestPortal.start({ ...PATIENCE, PORTAL_DATABASE_URL: proxy.url }, portal.database);
    const base = `/o/${owner.organization.slug}`;
    const cookie = await portal.session(owner.user.id);
    try {
      for (const path of ['/account', `${base}/people`, `${base}/keys`, `${base}/activity`]) {
        proxy.delay = 0;
        expect([path, (await slow.get(path, cookie)).status]).toEqual([path, 200]);
        // The session is found in time, and nothing else.
        proxy.delay = 700;
        expect([path, (await slow.get(path, cookie)).status]).toEqual([path, 503]);
      }
    } finally {
      await slow.stop();
      await proxy.close();
    }
  });
});

describe('what nobody asked for properly', () => {
  it.each([
    ' ', 'a b', '[', '[]', '[::', '[:::::]', ':', ':80', 'a:b', 'a:99999', 'a:1:2', 'user@a', 'a/b', 'a?b', 'a#b', 'a\\b',
    '<a>', '"', '%', '%00', '999.999.999.999', 'ä.example', '\u00a0', 'a'.repeat(256), 'a'.repeat(8_000),
  ])('%j as a Host is refused by every route', async (host) => {
    for (const route of routes) {
      const { status, text } = await send(route, { ...SAME_ORIGIN, Cookie: owner.cookie, Host: host });
      expect([nameOf(route), status]).toEqual([nameOf(route), 400]);
      expect(text).toContain('This request cannot be read');
    }
  }); // prettier-ignore

  it.each(['localhost', 'LOCALHOST:3001', 'my_host', 'a.example.', '127.0.0.1:80', '[::1]:3001', 'a:'])(
    '%j as a Host is answered',
    async (host) => {
      const options = routes.find(({ path }) => path === '/sign-in/passkey/options')!;
      expect((await send(options, { ...SAME_ORIGIN, Host: host })).status).toBeLessThan(300);
    },
  );

  it.each([
    ['an unknown page', '/nothing/here', 404],
    ['a path that does not decode', '/o/%E0%A4%A', 404],
    ['an id that is none', '/account/sessions/abc/end', 404],
  ])('%s has a page', async (_what, path, status) => {
    const { cookie } = await portal.someone('owner');
    const answer = path.startsWith('/account') ? await portal.post(path, {}, cookie) : await portal.get(path, cookie);
    expect(answer.status).toBe(status);
    expect(answer.text).toContain('Page not found');
  });

  it.each([
    ['a field twice', 'email=a&email=b&password=c'],
    ['a NUL', 'email=a%00b&password=c'],
    ['half of a surrogate pair', 'email=%ED%A0%80&password=c'],
    ['a thousand fields', Array.from({ length: 1_000 }, (_, index) => `f${index}=1`).join('&')],
    ['names of prototypes', '__proto__[a]=1&constructor=2&email=&password='],
  ])('a form with %s is refused, never failed', async (_what, body) => {
    const answer = await portal.post('/sign-in').send(body);
    expect([400, 413, 422]).toContain(answer.status);
  });

  it('a body that is too long or of another kind is refused', async () => {
    expect((await portal.post('/sign-in', { email: 'a'.repeat(40_000) })).status).toBe(413);
    const json = await portal.post('/sign-in').type('json').send('{"email":');
    expect(json.status).toBe(400);
    expect((await portal.post('/sign-in').type('text/plain').send('email=a')).status).toBe(422);
  });
});

describe('style and script', () => {
  it('have names that change with them, and are kept for ever', async () => {
    const page = (await portal.get('/sign-in')).text;
    const urls = [...page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, url]) => url!);
    expect(urls.length).toBeGreaterThanOrEqual(4);
    for (const url of urls) {
      const { status, headers } = await portal.get(url);
      expect([url, status, headers['cache-control']]).toEqual([url, 200, 'public, max-age=31536000, immutable']);
    }
    expect((await portal.get('/assets/portal.css')).status).toBe(404);
  });
});
