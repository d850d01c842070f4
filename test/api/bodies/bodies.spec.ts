import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { AddressInfo } from 'node:net';
import { v7 as uuidv7 } from 'uuid';
import { SCOPES, type Scope } from '@app/access';
import { schemaOf } from '../../../apps/api/src/http/validation/body-schema.js';
import { bodyClassOf, bodyKindOf, listFieldOf } from '../../../apps/api/src/http/validation/declared.js';
import { AnswerCheck } from '../../support/http/answer-check.js';
import { TestApi } from '../../support/http/api.js';
import { inLots, someOf } from '../../support/fuzz/hostile-client.js';
import { bytesOf, exchange, type RawAnswer } from '../../support/http/raw-http.js';
import { keyedRoutes, nameOf, type Route } from '../../support/http/routes.js';

const check = new AnswerCheck();
const api = await TestApi.shared();
const { make } = api;
const key = await api.key((await make.organization()).id, { scopes: Object.keys(SCOPES) as Scope[], platformBlog: true });
// Every write that takes JSON or no body.
const routes = keyedRoutes(api).filter(({ method, handler }) => method !== 'GET' && bodyKindOf(handler) !== 'upload');
expect(routes.length).toBeGreaterThanOrEqual(5);

interface Sent {
  body?: string;
  type?: string | null;
  headers?: [string, string][];
  as?: string;
  /** Instead of the body's own length. */
  length?: number | null;
}

/** Sends one request on its own connection to a missing record; each character of the body is one byte. */
async function ask(route: Route, { body = '', type = 'application/json', headers = [], as = key, length }: Sent): Promise<RawAnswer> {
  const { port } = api.server.address() as AddressInfo;
  const path = route.path.replaceAll(/:[^/]+/g, () => uuidv7());
  const all: [string, string][] = [
    ['Authorization', `Token token=${as}`],
    ...(type === null ? [] : [['Content-Type', type] as [string, string]]),
    ...(length === null ? [] : [['Content-Length', String(length ?? body.length)] as [string, string]]),
    ...headers,
  ];
  const answer = await exchange(port, bytesOf(path, { method: route.method, headers: all, body }));
  expect(check.faults(answer), `${nameOf(route)} ${answer.status} ${answer.body.slice(0, 300)}`).toEqual([]);
  return answer;
}

/** Sends the same to every write and returns the unexpected answers. */
async function everywhere(sent: Sent | ((route: Route) => Sent), expected: (answer: RawAnswer) => boolean, among = routes) {
  const wrong: string[] = [];
  await inLots(among, async (route) => {
    const answer = await ask(route, typeof sent === 'function' ? sent(route) : sent);
    if (!expected(answer)) wrong.push(`${nameOf(route)} ${answer.status} ${answer.body.slice(0, 300)}`);
  });
  return wrong;
}

const faulty =
  (type: string, ...at: (string | number)[]) =>
  ({ status, body }: RawAnswer) => {
    if (status !== 422) return false;
    const { detail } = JSON.parse(body) as { detail: { loc: (string | number)[]; type: string }[] };
    return detail.some((fault) => fault.type === type && JSON.stringify(fault.loc) === JSON.stringify(['body', ...at]));
  };
const coded = (status: number, code: string) => (answer: RawAnswer) => answer.status === status && answer.body.includes(`"code":"${code}"`);

const latin1 = (bytes: Buffer) => bytes.toString('latin1');
const takesBody = ({ handler }: Route) => bodyClassOf(handler);

/** Gives each case its share of the writes. */
const numbered = <T extends unknown[]>(cases: T[]) =>
  cases.map((one, number) => [...one, someOf(routes, number, cases.length, 10)] as [...T, Route[]]);

describe('every write refuses a body', () => {
  it.each(numbered<[string, string]>([
    ['malformed', '{"a":'], ['with a trailing comma', '{"a":1,}'], ['in single quotes', "{'a':1}"], ['with a comment', '{}//'],
    ['of two documents', '{}{}'], ['that is a word', 'undefined'], ['that is NaN', 'NaN'], ['of spaces', '   '],
    ['with a byte order mark in the middle', '{\xef\xbb\xbf"a":1}'], ['of a NUL', '\0'],
    ['5,000 deep', '['.repeat(5000) + ']'.repeat(5000)], ['5,000 objects deep', '{"a":'.repeat(5000) + '1' + '}'.repeat(5000)],
    ['33 deep', `{"a":${'['.repeat(32)}${']'.repeat(32)}}`], ['of opening brackets only', '['.repeat(100_000)],
    ['that is not UTF-8', '{"a":"\xff"}'], ['in overlong UTF-8', '{"a":"\xc0\x80"}'], ['with a surrogate in UTF-8', '{"a":"\xed\xa0\x80"}'],
    ['in UTF-16', latin1(Buffer.from('{"a":1}', 'utf16le'))], ['with a raw control character', '{"a":"\x01"}'],
  ]))('%s as invalid JSON', async (_what, body, some) => {
    expect(await everywhere({ body }, faulty('json_invalid'), some)).toEqual([]);
  }); // prettier-ignore

  it.each(numbered<[string]>([['null'], ['"a"'], ['7'], ['true'], ['[]'], ['[{}]'], ['[[{}]]'], ['1e400'], ['-0']]))(
    '%s, not an object',
    async (body, some) => {
      // Some bodies may be the list that is their only field.
      const among = some.filter((route) => !body.startsWith('[') || !listFieldOf(takesBody(route) ?? Object));
      expect(await everywhere({ body }, faulty('dict_type'), among)).toEqual([]);
    },
  );

  it.each(
    numbered<[string]>([
      ['__proto__'],
      ['constructor'],
      ['prototype'],
      ['toString'],
      ['hasOwnProperty'],
      ['id'],
      ['organization_id'],
      ['created_at'],
      [''],
      ['x'],
    ]),
  )('with the unknown field %j, without prototype pollution', async (name, some) => {
    const body = `{${JSON.stringify(name)}:{"polluted":true,"isAdmin":true}}`;
    const among = some.filter((route) => !Object.keys(propertiesOf(route)).includes(name));
    expect(await everywhere({ body }, faulty('extra_forbidden', name), among)).toEqual([]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it.each(numbered<[string, string | null]>([
    ['text/plain', 'text/plain'], ['no type', null], ['a form', 'application/x-www-form-urlencoded'], ['a merge patch', 'application/merge-patch+json'],
    ['multipart', 'multipart/form-data; boundary=x'], ['another JSON', 'application/vnd.api+json'], ['text/json', 'text/json'], ['a list of types', 'application/json, text/plain'],
    ['UTF-16', 'application/json; charset=utf-16'], ['latin-1', 'application/json; charset=iso-8859-1'], ['an unknown charset', 'application/json; charset=foo'],
    ['a parameter', 'application/json; profile=x'], ['an empty type', ''], ['garbage', '/;;='],
  ]))('of the type %s with 415', async (_what, type, some) => {
    expect(await everywhere({ body: '{}', type }, coded(415, 'unsupported_media_type'), some)).toEqual([]);
  }); // prettier-ignore

  it.each(numbered<[string, Buffer]>([
    ['gzip', gzipSync('{}')], ['deflate', deflateSync('{}')], ['br', brotliCompressSync('{}')], ['gzip', Buffer.from('{}')],
    ['gzip', gzipSync(Buffer.alloc(20_000_000, 0x20))], ['gzip, gzip', gzipSync(gzipSync('{}'))], ['x-unknown', Buffer.from('{}')],
  ]))('in the encoding %s with 415', async (encoding, bytes, some) => {
    const sent = { body: latin1(bytes), headers: [['Content-Encoding', encoding]] as [string, string][] };
    expect(await everywhere(sent, coded(415, 'unsupported_media_type'), some)).toEqual([]);
  }); // prettier-ignore

  it('that is one byte too long with 413, but reads one of exactly the limit', async () => {
    const limitOf = ({ handler }: Route) => (bodyKindOf(handler) as { json: number }).json;
    const filled = (length: number) => `{"x":"${'x'.repeat(length - 8)}"}`;
    expect(await everywhere((route) => ({ body: filled(limitOf(route) + 1) }), coded(413, 'payload_too_large'))).toEqual([]);
    expect(await everywhere((route) => ({ body: filled(limitOf(route)) }), faulty('extra_forbidden', 'x'))).toEqual([]);
  });

  it('that is missing where one is required', async () => {
    const among = routes.filter((route) => takesBody(route) && requiredOf(route).length > 0);
    expect(await everywhere({}, faulty('missing'), among)).toEqual([]);
    expect(await everywhere({ length: null, type: null }, faulty('missing'), among)).toEqual([]);
  });
});

function requiredOf(route: Route): string[] {
  return (schemaOf(takesBody(route)!).required ?? []) as string[];
}

function propertiesOf(route: Route): Record<string, unknown> {
  const shape = takesBody(route);
  return shape ? (schemaOf(shape).properties as Record<string, unknown>) : {};
}

describe('every write accepts', () => {
  it.each(numbered<[string]>([
    ['application/json'], ['APPLICATION/JSON'], ['application/json;charset=utf-8'], ['application/json; charset="UTF-8"'],
    [' application/json ; charset=UTF-8 '], ['application/json;'], ['application/json; charset=utf-8;'], ['application/json ;; charset=utf-8'],
  ]))('the type %j', async (type, some) => {
    expect(await everywhere({ body: '{"x":1}', type }, faulty('extra_forbidden', 'x'), some)).toEqual([]);
  }); // prettier-ignore

  it('the encoding identity, a leading byte order mark, and chunks', async () => {
    const chunked: [string, string][] = [['Transfer-Encoding', 'chunked']];
    for (const [sent, some] of numbered<[Sent]>([
      [{ body: '{"x":1}', headers: [['Content-Encoding', 'identity']] }],
      [{ body: '\xef\xbb\xbf{"x":1}' }],
      [{ body: '3\r\n{"x\r\n1\r\n"\r\n3\r\n:1}\r\n0\r\n\r\n', headers: chunked, length: null }],
    ]))
      expect(await everywhere(sent, faulty('extra_forbidden', 'x'), some)).toEqual([]);
  });
});

describe('a write with two faults is refused with', () => {
  it('401, 403, 413 or 415 as soon as its headers arrive', async () => {
    const readOnly = await api.key((await make.organization()).id, { scopes: ['read'] });
    expect(await everywhere({ as: 'garbage', length: 1_000_000 }, coded(401, 'invalid_api_key'))).toEqual([]);
    expect(await everywhere({ as: readOnly, length: 1_000_000 }, coded(403, 'insufficient_scope'))).toEqual([]);
    expect(await everywhere({ type: 'text/plain', length: 1000 }, coded(415, 'unsupported_media_type'))).toEqual([]);
    expect(await everywhere({ length: 1e12 }, coded(413, 'payload_too_large'))).toEqual([]);
  });
});
