import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bodyKindOf } from '../../../apps/api/src/http/validation/declared.js';
import { longBodies, type Position } from './long-bodies.js';
import { HEADER_TEXTS, manyOf, PART_TEXTS, textOf, URL_TEXTS } from './long-texts.js';
import type { Parameter } from './query-values.js';
import { bytesOf } from '../http/raw-http.js';
import { nameOf, type Route } from '../http/routes.js';
import { MULTIPART } from '../http/uploads.js';
import { pathOf, type OrganizationFixture } from '../data/fixtures.js';

/** Node accepts 16 KiB of headers, including the request line. */
const MOST_HEADERS = 14_500;
const MOST_UPLOAD = 10_485_760;

const API = fileURLToPath(new URL('../../../apps/api/src', import.meta.url));

/** Headers that Node, Express and its middleware read. */
const READ_BY_LIBRARIES = [
  'Accept', 'Access-Control-Request-Headers', 'Access-Control-Request-Method', 'Cookie', 'Forwarded', 'If-None-Match', 'If-Modified-Since',
  'If-Range', 'Origin', 'Range', 'TE', 'Upgrade', 'Via', 'X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Unknown',
]; // prettier-ignore

/** Headers named in the API's sources. */
function headersOfSources(): string[] {
  const files = readdirSync(API, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const found = files.flatMap((file) => {
    const text = readFileSync(join(API, file), 'utf8');
    const single = [...text.matchAll(/headers(?:Distinct)?(?:\.|\[')([a-z][a-z-]+)\b(?!\()/g)].map((match) => match[1]!);
    const several = [...text.matchAll(/const \{ ([a-z, ]+) \} = \w+\.headers;/g)].flatMap((m) => m[1]!.split(', '));
    return [...single, ...several];
  });
  // Long bodies cover these two.
  return [...new Set(found)].filter((name) => !['content-length', 'transfer-encoding'].includes(name));
}

/** Every such position in requests to these routes. @param school its key must have every scope */
export function positionsOf(routes: Route[], parameters: Parameter[], school: OrganizationFixture): Position[] {
  const keyed: [string, string][] = [['Authorization', `Token token=${school.key}`]];
  const uploads = routes.filter(({ handler }) => bodyKindOf(handler) === 'upload');
  return [
    ...routes.flatMap((route) => longBodies(route, school, keyed)),
    ...routes.flatMap((route) => longQueries(route, parameters, school, keyed)),
    ...routes.flatMap((route) => longPaths(route, keyed)),
    ...['GET', 'POST', 'PATCH', 'OPTIONS'].flatMap((method) => longHeaders(method, routes, school)),
    ...uploads.flatMap((route) => longUploads(route, keyed)),
  ];
}

type Written = [what: string, bytes: (size: number) => string];
type Headers = [name: string, value: string][];

function longQueries(route: Route, parameters: Parameter[], school: OrganizationFixture, headers: Headers): Position[] {
  const names = parameters.filter((parameter) => parameter.route === route).map(({ name }) => name);
  const queries: Written[] = [
    ['unknown names', (size) => manyOf((n) => n.toString(36), size, '&')],
    ['one unknown name, again and again', (size) => manyOf(() => 'x=1', size, '&')],
    ['nothing', (size) => '&'.repeat(size)],
    ['broken escapes', (size) => manyOf((n) => `%${n.toString(36)}`, size, '&')],
    ...URL_TEXTS.map((kind): Written => [`one name of ${kind.name}`, (size) => textOf(kind, size)]),
    ...names.flatMap((name): Written[] => [
      [`${name}, again and again`, (size) => manyOf(() => `${name}=1`, size, '&')],
      ...URL_TEXTS.map((kind): Written => [`${name} of ${kind.name}`, (size) => `${name}=${textOf(kind, size)}`]),
    ]),
  ];
  return queries.map(([what, of]) => ({
    family: 'query',
    name: `${nameOf(route)} ?${what}`,
    most: MOST_HEADERS,
    request: (size) => bytesOf(`${pathOf(route, school)}?${of(size)}`, { method: route.method, headers }),
  }));
}

function longPaths(route: Route, headers: Headers): Position[] {
  if (!route.path.includes(':')) return [];
  const kinds = [...URL_TEXTS, { name: 'segments', unit: 'a/' }, { name: 'steps back', unit: '../' }];
  return kinds.flatMap((kind) =>
    // The second is the absolute form, as sent to proxies.
    ['', 'http://a'].map((origin) => ({
      family: 'path',
      name: `${nameOf(route)} ${origin} ${kind.name}`,
      most: MOST_HEADERS,
      request: (size: number) =>
        bytesOf(origin + route.path.replaceAll(/:[^/]+/g, () => textOf(kind, size / route.path.split(':').length)), {
          method: route.method,
          headers,
        }),
    })),
  );
}

function longHeaders(method: string, routes: Route[], school: OrganizationFixture): Position[] {
  // Prefers routes with a record in their path, because only those support conditional headers.
  const fitting = routes.filter((route) => method === 'OPTIONS' || route.method === method);
  const route = fitting.find(({ path }) => path.includes(':')) ?? fitting[0]!;
  const target = pathOf(route, school);
  const body = method === 'GET' || method === 'OPTIONS' ? '' : '{}';
  const usual: Headers = [
    ['Authorization', `Token token=${school.key}`],
    ...(body === '' ? [] : ([['Content-Type', 'application/json'], ['Content-Length', String(body.length)]] as Headers)),
  ]; // prettier-ignore
  const ask = (more: Headers) => {
    const replaced = new Set(more.map(([name]) => name.toLowerCase()));
    const headers = [...usual.filter(([name]) => !replaced.has(name.toLowerCase())), ...more];
    return bytesOf(target, { method, headers, body, ...(replaced.has('host') && { host: null }) });
  };
  const pairs = (line: (index: number) => string) => (size: number) =>
    ask(manyOf(line, size, '\n').split('\n').map((pair) => pair.split(':') as [string, string])); // prettier-ignore
  const many: Written[] = [
    ['many headers', pairs((n) => `X${n}:a`)],
    ['one header, again and again', pairs(() => 'X-Unknown:a')],
    ['the key, again and again', pairs(() => 'Authorization:a')],
  ];
  const long = [...headersOfSources(), ...READ_BY_LIBRARIES].flatMap((name) =>
    HEADER_TEXTS.map((kind): Written => [`${name} of ${kind.name}`, (size) => ask([[name, textOf(kind, size)]])]),
  );
  return [...many, ...long].map(([what, request]) => ({ family: 'header', name: `${method}: ${what}`, most: MOST_HEADERS, request }));
}

type Upload = [what: string, most: number, bytes: (size: number) => string];

function longUploads(route: Route, keyed: Headers): Position[] {
  const upload = (body: string, type = MULTIPART) =>
    bytesOf(route.path, { method: route.method, headers: [...keyed, ['Content-Type', type], ['Content-Length', String(body.length)]], body });
  const boundary = `--${MULTIPART.split('boundary=')[1]!}`;
  const part = (more: { head?: string; field?: string; name?: string; content?: string }) => {
    const { head = '', field = 'file', name = 'a.jpg', content = 'a' } = more;
    const disposition = `Content-Disposition: form-data; name="${field}"; filename="${name}"`;
    return `${boundary}\r\n${disposition}\r\n${head}\r\n${content}\r\n`;
  };
  const body = (more: Parameters<typeof part>[0]) => upload(`${part(more)}${boundary}--\r\n`);
  // The limits are 16 KiB of headers per part and 64 KiB for everything except the file.
  const shapes: Upload[] = [
    ...PART_TEXTS.flatMap((kind): Upload[] => [
      [`a file name of ${kind.name}`, 15_000, (size) => body({ name: textOf(kind, size) })],
      [`too long a file name of ${kind.name}`, 200_000, (size) => body({ name: textOf(kind, size) })],
      [`a part's name of ${kind.name}`, 15_000, (size) => body({ field: textOf(kind, size) })],
    ]),
    ...HEADER_TEXTS.map((kind): Upload => [
      `the type of a part of ${kind.name}`,
      15_000,
      (size) => body({ head: `Content-Type: ${textOf(kind, size)}\r\n` }),
    ]),
    ['headers of a part', 200_000, (size) => body({ head: manyOf((n) => `X${n}: a\r\n`, size, '') })],
    ['one header of a part, folded', 200_000, (size) => body({ head: `X: a${'\r\n a'.repeat(size / 4)}\r\n` })],
    ['parts', MOST_UPLOAD, (size) => upload(manyOf(() => part({}), size, ''))],
    ['parts without a name', MOST_UPLOAD, (size) => upload(manyOf(() => `${boundary}\r\n\r\n\r\n`, size, ''))],
    ['fields', MOST_UPLOAD, (size) => upload(manyOf(() => part({}).replace(/; filename="[^"]*"/, ''), size, ''))],
    ['a preamble', MOST_UPLOAD, (size) => upload('a'.repeat(size))],
    ['a preamble of almost boundaries', MOST_UPLOAD, (size) => upload(`\r\n${boundary.slice(0, -1)}`.repeat(size / boundary.length))],
    ['an epilogue', MOST_UPLOAD, (size) => upload(`${part({})}${boundary}--\r\n${'a'.repeat(size)}`)],
    ['a file that is no image', MOST_UPLOAD, (size) => body({ content: 'a'.repeat(size) })],
    ['a file of line breaks', MOST_UPLOAD, (size) => body({ content: '\r\n'.repeat(size / 2) })],
    ['a boundary', MOST_HEADERS, (size) => upload(`\r\n--${'a'.repeat(size - 1)}`.repeat(8), `multipart/form-data; boundary=${'a'.repeat(size)}`)],
  ]; // prettier-ignore
  const chunked = (size: number) =>
    bytesOf(route.path, {
      method: route.method,
      headers: [...keyed, ['Content-Type', MULTIPART], ['Transfer-Encoding', 'chunked']],
      body: `${'1\r\na\r\n'.repeat(size)}0\r\n\r\n`,
    });
  const positions = shapes.map(([what, most, request]): Position => ({ family: 'upload', name: `${nameOf(route)} ${what}`, most, request })); // prettier-ignore
  const name = `${nameOf(route)} chunks of a byte`;
  return [...positions, { family: 'upload', name, most: MOST_UPLOAD / 4, request: chunked, reframed: true }];
}
