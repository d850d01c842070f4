import { TestApi } from '../../support/http/api.js';
import { codeOf, faultsOf, HostileClient, inLots } from '../../support/fuzz/hostile-client.js';
import { bytesOf } from '../../support/http/raw-http.js';

/** Hostile input below the query: paths, methods, headers, and bytes that are not HTTP. */
const client = await HostileClient.create(await TestApi.start());

afterAll(() => client.stop());

describe('the path', () => {
  it.each([
    ['//', 404], ['//v1/ping', 404], ['/v1//ping', 404], ['/v1/ping/', 404], ['/v1/ping//', 404],
    ['/V1/ping', 404], ['/v1/PING', 404], ['/v1/Ping', 404], ['/v1', 404], ['/v2/ping', 404], ['/ping', 404],
    ['/v1/./ping', 404], ['/v1/../v1/ping', 404], ['/v1/%2e%2e/ping', 404], ['/v1/..%2fping', 404], ['/v1%2fping', 404],
    ['/v1/ping%2f', 404], ['/v1/ping%00', 404], ['/v1/ping%20', 404], ['/v1/ping%ff', 404], ['/v1/%', 404], ['/%ff', 404],
    ['/v1/ping;a=b', 404], ['/v1/ping.json', 404], ['/v1\\ping', 404], ['/v1/{ping}', 404], ['/v1/:ping', 404], ['*', 404],
    ['/__proto__', 404], ['/v1/constructor', 404], ['/etc/passwd', 404], ['/v1/parents/a/b/c', 404], ['/%2e%2e/%2e%2e/etc/passwd', 404],
    ['/docs/../package.json', 404], ['/docs/%2e%2e/%2e%2e/package.json', 404], ['/docs//etc/passwd', 404],
    [`/v1/${'a'.repeat(10_000)}`, 404], [`/${'a/'.repeat(5_000)}`, 404], ['http://127.0.0.1/v1/ping', 200],
    ['http://127.0.0.1/v1/nothing', 404], ['http://[bad/v1/ping', 404], ['http://a:99999999/v1/ping', 404], ['http://', 404],
    ['/v1/ping\xff', 400], ['/v1/\x01ping', 400], ['/v1/pi ng', 400], ['\\v1\\ping', 400], ['', 400],
  ])('%s returns %i', async (target, status) => {
    const answer = await client.ask(target);
    expect(answer.status).toBe(status);
    if (status === 404) expect(codeOf(answer)).toBe('not_found');
    if (status === 400) expect(codeOf(answer)).toBe('bad_request');
  }); // prettier-ignore
});

describe('the method', () => {
  it.each([
    ['CONNECT', '/v1/ping', 0],
    ['CONNECT', '127.0.0.1:443', 0],
    ['FOO', '/v1/ping', 400],
    ['get', '/v1/ping', 400],
    ['G\x00T', '/v1/ping', 400],
    ['GETS', '/v1/ping', 400],
    ['PRI', '*', 400],
  ])('%s %s returns %i and closes the connection', async (method, target, status) => {
    const answer = await client.send(bytesOf(target, { method, headers: [client.authorization] }));
    expect(answer.status).toBe(status);
  });
});

describe('bytes that are not a proper request', () => {
  const host = 'Host: a\r\n';

  it.each([
    ['no Host', 'GET /v1/ping HTTP/1.1\r\n\r\n'],
    ['two different Content-Length', `GET /v1/ping HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
    ['the same Content-Length twice', `GET /v1/ping HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 1\r\n\r\na`],
    ['Content-Length and Transfer-Encoding', `GET /v1/ping HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['Transfer-Encoding and Content-Length', `POST /v1/ping HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`],
    ['chunked not last', `GET /v1/ping HTTP/1.1\r\n${host}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    ['an unknown Transfer-Encoding', `GET /v1/ping HTTP/1.1\r\n${host}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['a negative Content-Length', `GET /v1/ping HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n`],
    ['a Content-Length in words', `GET /v1/ping HTTP/1.1\r\n${host}Content-Length: ten\r\n\r\n`],
    ['an endless Content-Length', `GET /v1/ping HTTP/1.1\r\n${host}Content-Length: ${'9'.repeat(40)}\r\n\r\n`],
    ['two Hosts', `GET /v1/ping HTTP/1.1\r\n${host}host: b\r\n\r\n`],
    ['the same Host twice', `GET /v1/ping HTTP/1.1\r\n${host}${host}\r\n`],
    ['two keys', `GET /v1/ping HTTP/1.1\r\n${host}Authorization: Token token=a\r\nauthorization: Token token=b\r\n\r\n`],
    ['two types', `POST /v1/invites HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Type: text/plain\r\n\r\n`],
    ['a space before the colon', `GET /v1/ping HTTP/1.1\r\n${host}X-A : b\r\n\r\n`],
    ['a folded header', `GET /v1/ping HTTP/1.1\r\n${host}X-A: b\r\n c\r\n\r\n`],
    ['a header without a colon', `GET /v1/ping HTTP/1.1\r\n${host}nonsense\r\n\r\n`],
    ['a NUL in a header', `GET /v1/ping HTTP/1.1\r\n${host}X-A: \x00\r\n\r\n`],
    ['a bare CR in a header', `GET /v1/ping HTTP/1.1\r\n${host}X-A: b\rX-B: c\r\n\r\n`],
    ['HTTP/1.2', `GET /v1/ping HTTP/1.2\r\n${host}\r\n`],
    ['another protocol', `GET /v1/ping ICY/1.0\r\n${host}\r\n`],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
    ['plain words', 'hello\r\n\r\n'],
    ['NULs', '\x00'.repeat(64)],
  ])('%s: returns a documented 400 and closes the connection', async (_, bytes) => {
    const answer = await client.send(bytes);
    expect([answer.status, codeOf(answer), answer.headers.connection]).toEqual([400, 'bad_request', 'close']);
    expect(answer.answers).toBe(1);
  }); // prettier-ignore

  it.each(['HTTP/0.9', 'HTTP/1.0', 'HTTP/2.0'])('answers the version %s as HTTP/1.1 and closes the connection', async (version) => {
    const answer = await client.send(`GET /v1/ping ${version}\r\n${host}\r\n`);
    expect([answer.status, codeOf(answer), answer.headers.connection]).toEqual([401, 'missing_api_key', 'close']);
  });

  it('an invalid chunk never becomes a second request', async () => {
    const smuggled = 'GET /v1/me HTTP/1.1\r\nHost: a\r\n\r\n';
    const head = `GET /v1/ping HTTP/1.1\r\n${host}${client.authorization.join(': ')}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    for (const body of ['zz\r\nabc\r\n', '-1\r\na\r\n', `5\r\nabcdeX${smuggled}`, `ffffffffffffffffff\r\n${smuggled}`]) {
      const answer = await client.send(head + body);
      expect([answer.status, answer.answers]).toEqual([400, 1]);
    }
  });

  it.each([
    ['a long URL', '/v1/ping?x=' + 'a'.repeat(20_000), [] as [string, string][]],
    ['10,000 parameters', '/v1/ping?' + 'a&'.repeat(10_000), []],
    ['a long header', '/v1/ping', [['X-A', 'a'.repeat(20_000)]]],
    ['a long header name', '/v1/ping', [['a'.repeat(20_000), 'a']]],
    ['2,000 headers', '/v1/ping', Array.from({ length: 2_000 }, (_, n): [string, string] => [`X-${n}`, 'aaaaaa'])],
  ])('returns a documented 431 for %s', async (_, target, headers) => {
    const answer = await client.ask(target, { headers: headers as [string, string][] });
    expect([answer.status, codeOf(answer)]).toEqual([431, 'headers_too_large']);
    expect(answer.headers['x-request-id']).toBeTruthy();
  });

  it('pipelined requests are answered once each, in order', async () => {
    const one = (id: string) => `GET /v1/ping HTTP/1.1\r\n${host}X-Request-Id: ${id}\r\n${client.authorization.join(': ')}\r\n`;
    const answer = await client.send(`${one('first')}\r\n${one('second')}\r\n${one('third')}Connection: close\r\n\r\n`);
    expect([answer.status, answer.headers['x-request-id'], answer.answers]).toEqual([200, 'first', 3]);
  });
});

describe('Expect', () => {
  it('100-continue gets an interim 100 first', async () => {
    const answer = await client.ask('/v1/ping', { headers: [['Expect', '100-continue'], ['Content-Length', '2']], body: '{}' }); // prettier-ignore
    expect([answer.interim, answer.status]).toEqual([[100], 200]);
  });

  it.each(['200-ok', 'nothing', '100-continues'])('%s is refused with 417', async (expectation) => {
    const headers: [string, string][] = [['Expect', expectation], ['X-Request-Id', 'mine']]; // prettier-ignore
    const answer = await client.ask('/v1/ping', { headers });
    expect([answer.status, codeOf(answer), answer.headers['x-request-id']]).toEqual([417, 'bad_request', 'mine']);
  });
});

describe('a header', () => {
  const id = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

  it('X-Request-Id sent twice is ignored', async () => {
    const headers: [string, string][] = [['X-Request-Id', 'a'], ['X-Request-Id', 'b']]; // prettier-ignore
    expect((await client.ask('/v1/ping', { headers })).headers['x-request-id']).toMatch(id);
  });

  it.each([
    ['Accept', 'text/html'], ['Accept', 'application/xml;q=1, */*;q=0'], ['Accept', ';;;'], ['Accept', 'a'.repeat(10_000)],
    ['Accept-Encoding', 'gzip, br'], ['Accept-Language', '\xff\xfe'], ['Accept-Charset', 'utf-7'], ['Range', 'bytes=0-1'],
    ['If-Modified-Since', 'never'], ['If-None-Match', '"x"'], ['If-Match', '*'], ['Content-Type', 'text/plain'], ['Content-Type', '\xff'],
    ['Content-Encoding', 'gzip'], ['Content-Encoding', 'bomb'], ['Upgrade', 'websocket'], ['Upgrade', 'h2c'], ['HTTP2-Settings', 'AAMAAABk'],
    ['Origin', 'null'], ['Origin', 'javascript:alert(1)'], ['Cookie', 'a=b; '.repeat(1_500)], ['X-Forwarded-For', 'not an address'],
    ['X-Forwarded-For', '1.2.3.4, '.repeat(500)], ['Forwarded', 'for=_hidden;host="x'], ['X-Forwarded-Host', 'evil.example'],
    ['X-HTTP-Method-Override', 'DELETE'], ['X-HTTP-Method', 'DELETE'], ['X-Method-Override', 'DELETE'], ['X-Original-URL', '/v1/me'], ['X-Rewrite-URL', '/v1/me'], ['Via', '1.1 x'], ['TE', 'trailers'], ['Trailer', 'X-A'],
    ['Keep-Alive', 'timeout=99999999'], ['Max-Forwards', '-1'], ['Proxy', 'http://evil.example'], ['__proto__', 'x'],
    ['constructor', 'x'], ['Prefer', 'respond-async'], ['Idempotency-Key', '\xff'],
  ])('%s: %s does not affect a read', async (name, value) => {
    const answer = await client.ask('/v1/ping', { headers: [[name, value]] });
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect((JSON.parse(answer.body) as { status: string }).status).toBe('ok');
  }); // prettier-ignore

  it('Host may be missing in HTTP/1.0, which closes the connection', async () => {
    const authorization = client.authorization.join(': ');
    const answer = await client.send(`GET /v1/ping HTTP/1.0\r\n${authorization}\r\n\r\n`);
    expect([answer.status, answer.headers.connection]).toEqual([200, 'close']);
  });
});

describe('an unexpected body', () => {
  it.each([
    ['JSON', '{"limit":1}', 'application/json'],
    ['broken JSON', '{', 'application/json'],
    ['a form', 'limit=1', 'application/x-www-form-urlencoded'],
    ['text that looks like a request', 'GET /v1/me HTTP/1.1\r\nHost: a\r\n\r\n', 'text/plain'],
    ['200 kB', 'x'.repeat(200_000), 'application/octet-stream'],
  ])('of %s is ignored', async (_, body, type) => {
    const headers: [string, string][] = [['Content-Type', type], ['Content-Length', String(body.length)]]; // prettier-ignore
    expect((await client.ask('/v1/ping', { headers, body })).status).toBe(200);
  });

  it('in chunks is ignored too', async () => {
    const headers: [string, string][] = [['Transfer-Encoding', 'chunked']];
    expect((await client.ask('/v1/ping', { headers, body: '5\r\nhello\r\n0\r\nX-Trailer: a\r\n\r\n' })).status).toBe(200);
  });
});

describe('Authorization', () => {
  const KEY = '{key}';

  it.each([
    ['Token token={key}', 200], ['Token token="{key}"', 200], ['token token={key}', 200], ['TOKEN token={key}', 200],
    ['Token   token={key}', 200], ['', 401], ['Token', 401], ['Token token=', 401], ['Token token=""', 401], ['Token {key}', 401], ['{key}', 401],
    ['Bearer {key}', 401], ['Basic {key}', 401], ['Digest {key}', 401], ['Token token="{key}', 401], ['Token token={key}"', 401],
    ["Token token='{key}'", 401], ['Token token={key}, a=b', 401], ['Token token={key} {key}', 401], ['Token token=%22{key}%22', 401],
    ['Token token={key}\xff', 401], ['Token token=\xc3\xa9', 401], ['Token token={KEY}', 401], ['Token token= {key}', 401], ['Token\ttoken={key}', 401],
    ['Token token=__proto__', 401], ["Token token=' OR 1=1--", 401], [`Token token=${'a'.repeat(10_000)}`, 401], [`Token ${' '.repeat(10_000)}`, 401],
    [`Token token=tk_live_${'0'.repeat(64)}`, 401], [`Token token=tk_live_${'0'.repeat(63)}`, 401], [`Token token=tk_live_${'g'.repeat(64)}`, 401],
    [`Token token=xx_live_${'0'.repeat(64)}`, 401], [`Token token=tk_test_${'0'.repeat(64)}`, 401],
  ])('%s returns %i', async (value, status) => {
    const key = client.fixtures.a.key;
    const header = value.replaceAll(KEY, key).replaceAll('{KEY}', key.toUpperCase());
    const answer = await client.send(bytesOf('/v1/ping', { headers: [['Authorization', header]] }));
    expect(answer.status).toBe(status);
    if (status === 401) expect(codeOf(answer)).toBe(value === '' ? 'missing_api_key' : 'invalid_api_key');
  }); // prettier-ignore

  it('sent twice is refused, even with the same valid key', async () => {
    const answer = await client.ask('/v1/ping', { headers: [client.authorization] });
    expect([answer.status, codeOf(answer)]).toEqual([400, 'bad_request']);
  });

  it('in other places grants no access', async () => {
    const { key } = client.fixtures.a;
    const places: [string, string][] = [['X-API-Key', key], ['Proxy-Authorization', `Token token=${key}`], ['Cookie', `token=${key}`]]; // prettier-ignore
    await inLots(places, async (header) => {
      expect((await client.send(bytesOf('/v1/ping', { headers: [header] }))).status).toBe(401);
    });
    expect((await client.send(bytesOf(`/v1/ping?token=${key}`))).status).toBe(401);
    expect(faultsOf(await client.ask(`/v1/ping?token=${key}`))).toHaveLength(1);
  });
});
