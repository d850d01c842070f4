import { TestApi } from '../../support/http/api.js';
import { allRoutes, documentOf, keyedReads, nameOf, type Route, send, templateOf } from '../../support/http/routes.js';
import { someOf } from '../../support/fuzz/hostile-client.js';
import { createFixtures, pathOf } from '../../support/data/fixtures.js';

/** Without CONNECT, which makes Node close the connection. PROPFIND stands for all unsupported methods. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];

const api = await TestApi.shared();
const fixtures = await createFixtures(api);
const document = await documentOf(api);
const authorization = { Authorization: `Token token=${fixtures.a.key}` };

/** The routes by path. */
function methodsByPath(): Map<string, Route[]> {
  const paths = new Map<string, Route[]>();
  for (const route of allRoutes(api)) paths.set(route.path, [...(paths.get(route.path) ?? []), route]);
  return paths;
}

/** The methods documented for the path; undocumented paths are probes and metrics, which are read with GET. */
function documentedMethods([route]: Route[]): string[] {
  const operations = document.paths[templateOf(route!)];
  const methods = operations ? Object.keys(operations).map((method) => method.toUpperCase()) : ['GET'];
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort();
}

describe('every path', () => {
  it('is in the OpenAPI document, except those that need no key', () => {
    const documented = [...methodsByPath().values()].filter(([route]) => route!.access?.public !== true);
    expect(documented.map(([route]) => templateOf(route!)).sort()).toEqual(Object.keys(document.paths).sort());
    for (const routes of documented) {
      const methods = routes.map(({ method }) => method);
      expect([...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort()).toEqual(documentedMethods(routes));
    }
  });

  it('answers its methods, returns 204 for OPTIONS, and 405 with Allow for all others, with or without a key', async () => {
    const wrong: string[] = [];
    let cells = 0;
    // What hangs from a record first: later the record may be gone.
    const paths = [...methodsByPath().values()].sort(([a], [b]) => b!.path.split('/').length - a!.path.split('/').length);
    for (const [number, routes] of paths.entries()) {
      const allowed = documentedMethods(routes);
      for (const method of METHODS) {
        // What is not allowed is refused before anybody asks for a key.
        const keys = [authorization, {}];
        for (const headers of allowed.includes(method) ? keys : someOf(keys, number, 2, 1)) {
          const answer = await send(api, method, pathOf(routes[0]!, fixtures.a), headers);
          const name = `${method} ${routes[0]!.path} ${answer.status}`;
          cells++;
          if (allowed.includes(method)) {
            const closed = routes[0]!.access?.public !== true && !('Authorization' in headers);
            if (closed ? answer.status !== 401 : [401, 404, 405].includes(answer.status)) wrong.push(name);
          } else if (method === 'OPTIONS') {
            if (answer.status !== 204 || answer.text !== '') wrong.push(name);
          } else {
            const message = `This path does not support ${method}. It supports ${allowed.join(', ')}.`;
            const right = { code: 'method_not_allowed', message, status: 405, details: { allowed } };
            if (answer.status !== 405 || answer.headers.allow !== allowed.join(', ')) wrong.push(name);
            if (method === 'HEAD') expect(answer.text).toBe('');
            else expect(JSON.parse(answer.text)).toEqual({ error: right });
          }
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(cells).toBeGreaterThan(methodsByPath().size * METHODS.length);
  });

  it('answers HEAD as GET without a body', async () => {
    // Headers that differ between answers.
    const counters = ['date', 'x-request-id', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'ratelimit'];
    const known = (headers: Record<string, string>) =>
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, counters.includes(name) ? '' : value]));
    for (const [number, route] of keyedReads(api).entries()) {
      for (const school of someOf([fixtures.a, fixtures.b], number, 2, 1)) {
        const path = pathOf(route, school);
        const [get, head] = [await send(api, 'GET', path, authorization), await send(api, 'HEAD', path, authorization)];
        expect([nameOf(route), head.status, head.text]).toEqual([nameOf(route), get.status, '']);
        expect([nameOf(route), known(head.headers)]).toEqual([nameOf(route), known(get.headers)]);
        expect(Number(head.headers['content-length'])).toBe(Buffer.byteLength(get.text));
      }
    }
  });

  it('has exactly one spelling', async () => {
    const wrong: string[] = [];
    for (const [number, route] of allRoutes(api).entries()) {
      const path = pathOf(route, fixtures.a);
      const spellings = [
        path.replace('/v1/', '/V1/'),
        path.replace(/[a-z](?=[^/]*$)/, (letter) => letter.toUpperCase()),
        `${path}/`,
        `/${path}`,
        path.replace(/\/([^/]+)$/, '//$1'),
        `${path}//`,
        `${path};x=1`,
        `${path}%20`,
        `${path}.json`,
      ].filter((spelling) => spelling !== path);
      for (const spelling of someOf(spellings, number, 9, 3)) {
        const answer = await send(api, 'GET', spelling, authorization);
        // A hexadecimal id is the same in upper case.
        const sameId = spelling.toLowerCase() === path && answer.status === 200 && /[0-9a-f]{12}$/i.test(path);
        // A path segment in place of an id may match an operation that is not a GET.
        const otherMethod = route.method !== 'GET' && route.path.endsWith('_id') && answer.status === 405;
        if (!sameId && !otherMethod && answer.status !== 404) wrong.push(`${spelling} ${answer.status}`);
        if (answer.status === 404) expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'not_found' } });
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe('a page or a file', () => {
  const GUIDES = ['errors', 'idempotency', 'pagination', 'rate-limits', 'build-hooks', 'versioning'];
  const FILES = ['docs.js', 'style.css', 'icon.svg', 'rapidoc.js', ...GUIDES].map((name) => `/docs/${name}`);
  const MEDIA = '/media/organization/unheard-of/unheard-of.jpg';
  const PATHS = ['/', '/docs', '/docs/', ...FILES, '/openapi.json', '/openapi.yaml', MEDIA];

  it.each(PATHS)('%s answers GET and HEAD, and returns 405 with Allow for other methods', async (path) => {
    for (const method of METHODS) {
      const answer = await send(api, method, path, authorization);
      if (['GET', 'HEAD'].includes(method)) {
        expect([method, answer.status]).toEqual([method, path === MEDIA ? 404 : path === '/docs/' ? 308 : 200]);
      } else if (method === 'OPTIONS') {
        expect([method, answer.status]).toEqual([method, 204]);
      } else {
        expect([method, answer.status, answer.headers.allow]).toEqual([method, 405, 'GET, HEAD']);
        expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'method_not_allowed', details: { allowed: ['GET', 'HEAD'] } } });
      }
    }
  });

  it('/docs/ redirects to /docs, also under a prefix', async () => {
    const { headers } = await send(api, 'GET', '/docs/');
    for (const prefix of ['', '/tutoring']) {
      expect(new URL(headers.location!, `http://this.host${prefix}/docs/`).pathname).toBe(`${prefix}/docs`);
    }
  });
});

describe('an unknown path', () => {
  const PATHS = ['//', '/v1', '/v1/', '/v2/ping', '/v1/unheard-of', '/v1/ping/more', '/index.html', '/.env', '/v1/%00', '/%'];

  it.each(PATHS)('%s returns 404 for every method, with or without a key', async (path) => {
    for (const method of METHODS.filter((name) => name !== 'OPTIONS')) {
      for (const headers of [authorization, {}]) {
        const answer = await send(api, method, path, headers);
        expect([method, answer.status]).toEqual([method, 404]);
        expect(answer.headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
        if (method === 'HEAD') continue;
        expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
        expect(JSON.parse(answer.text)).toEqual({
          error: { code: 'not_found', message: 'There is nothing at this path.', status: 404, details: {} },
        });
      }
    }
  });
});
