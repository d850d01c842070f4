import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import supertest from 'supertest';
import { v7 as uuidv7 } from 'uuid';
import { TestApi } from '../../support/http/api.js';
import { Probe } from '../../support/faults/probe.js';
import { bytesOf, exchange, type RawAnswer } from '../../support/http/raw-http.js';
import { fixture } from '../../support/process/fixture.js';

const api = await fixture(TestApi.start({ SMTP_URL: 'smtp://127.0.0.1:9' }, undefined, [Probe]));
const { make } = api;
const school = (await make.organization()).id;
const key = await api.key(school, { scopes: ['read', 'write', 'accounts:write'] });

function post(path: string, body: object | string, idempotencyKey: string, as = key): supertest.Test {
  return supertest(api.server)
    .post(path)
    .set('Authorization', `Token token=${as}`)
    .set('Idempotency-Key', idempotencyKey)
    .set('Content-Type', 'application/json')
    .send(typeof body === 'string' ? body : JSON.stringify(body));
}

describe('a request that reuses a key', () => {
  it('matches when its body is the same JSON, whatever its member order, whitespace and escapes', async () => {
    const first = await post('/v1/probes', '{"name":"Mia","tags":["a","b"]}', 'spelling');
    const spellings = [
      '{"tags":["a","b"],"name":"Mia"}',
      ' { "name" : "Mia" ,\r\n\t"tags" : [ "a" , "b" ] } ',
      '{"name":"\\u004dia","tags":["\\u0061","b"]}',
      '{"name":"other","tags":["a","b"],"name":"Mia"}',
    ];
    for (const spelling of spellings) {
      const { status, text, headers } = await post('/v1/probes', spelling, 'spelling');
      expect([status, text, headers['idempotency-replayed']], spelling).toEqual([201, first.text, 'true']);
    }
    for (const other of ['{"name":"Mia"}', '{"name":"Mia","tags":["b","a"]}', '{"name":"Mia ","tags":["a","b"]}']) {
      expect((await post('/v1/probes', other, 'spelling')).status, other).toBe(422);
    }
  });
});

describe('the scope of a key', () => {
  it('is the organization: the same key in two organizations has two effects, and neither sees the other', async () => {
    const other = (await make.organization()).id;
    const theirs = await api.key(other, { scopes: ['write'] });
    const body = { name: 'shared' };
    const [ours, foreign] = [await post('/v1/probes', body, 'shared'), await post('/v1/probes', body, 'shared', theirs)];
    expect([ours.status, foreign.status]).toEqual([201, 201]);
    expect(foreign.headers['idempotency-replayed']).toBeUndefined();
    expect(foreign.text).not.toBe(ours.text);
    // Not even another body conflicts.
    const third = await api.key((await make.organization()).id, { scopes: ['write'] });
    expect((await post('/v1/probes', { name: 'else' }, 'shared', third)).status).toBe(201);
    expect(await make.query(`SELECT organization_id FROM subjects WHERE name LIKE 'shared %' ORDER BY 1`)).toEqual(
      [school, other].sort().map((organization_id) => ({ organization_id })),
    );
  });

  it('includes the path with its ids, and covers every API key of the organization', async () => {
    const body = { name: 'paths' };
    const paths = ['/v1/probes', '/v1/probes/a/again', '/v1/probes/b/again', '/v1/probes/empty'];
    for (const path of paths) expect((await post(path, body, 'paths')).headers['idempotency-replayed'], path).toBeUndefined();
    const colleague = await api.key(school, { scopes: ['write'] });
    for (const path of paths) expect((await post(path, body, 'paths', colleague)).headers['idempotency-replayed'], path).toBe('true');
    expect(await make.query(`SELECT id FROM subjects WHERE name LIKE 'paths %'`)).toHaveLength(paths.length);
  });

  it('includes very long paths without failing', async () => {
    for (const length of [200, 255, 256, 3000, 12_000]) {
      // Random, because an index compresses its entries.
      const path = `/v1/probes/${randomBytes(length).toString('hex').slice(0, length)}/again`;
      const [first, again] = [await post(path, { name: 'long' }, 'long'), await post(path, { name: 'long' }, 'long')];
      expect([first.status, again.status, again.text === first.text]).toEqual([200, 200, true]);
    }
  });

  it('is limited to writes that send a key', async () => {
    const keyless = () => supertest(api.server).post('/v1/probes').set('Authorization', `Token token=${key}`).send({ name: 'keyless' });
    expect((await keyless()).text).not.toBe((await keyless()).text);
    const patch = (given: string) =>
      supertest(api.server).patch('/v1/probes').set('Authorization', `Token token=${key}`).set('Idempotency-Key', given).send({ name: 'patched' });
    expect([(await patch('p')).status, (await patch('p')).status, (await patch('a b')).status]).toEqual([200, 200, 400]);
    expect(await make.query(`SELECT id FROM subjects WHERE name LIKE 'patched %'`)).toHaveLength(1);
    const read = await supertest(api.server).get('/v1/ping').set('Authorization', `Token token=${key}`).set('Idempotency-Key', '');
    expect(read.status).toBe(200);
  });
});

describe('idempotency key syntax', () => {
  /** Sends over its own socket, so that each character is one byte. */
  async function ask(headers: [string, string][], name: string): Promise<RawAnswer> {
    const { port } = api.server.address() as AddressInfo;
    const body = JSON.stringify({ name });
    const all: [string, string][] = [
      ['Authorization', `Token token=${key}`],
      ['Content-Type', 'application/json'],
      ['Content-Length', String(body.length)],
      ...headers,
    ];
    return exchange(port, bytesOf('/v1/probes', { method: 'POST', headers: all, body }));
  }

  const name = 'Idempotency-Key';
  const visible = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index));
  const utf8 = (text: string) => Buffer.from(text).toString('latin1');

  const keyed = (value: string): [string, string][] => [[name, value]];
  const GOOD: [string, string][][] = [
    ...visible.map((character) => keyed(`${character}${uuidv7()}`)),
    ...[visible.join(''), '"quoted"', '"', '\\', '%00%0d%0a', '__proto__', 'null', 'x', 'x'.repeat(255)].map(keyed),
    keyed(`  padded-${uuidv7()}\t `), // Whitespace around a header's value is not part of it.
    [['iDEMPOTENCY-kEY', `case-${uuidv7()}`]],
  ];

  const BAD: [string, string][][] = [
    ...['', ' ', '\t', 'x'.repeat(256), 'x'.repeat(4000), 'a b', 'a\tb', 'a, b', utf8('ключ'), utf8('🙂'), '\xff', '\xa0'].map(keyed),
    [[name, 'a'], [name, 'a']],
    [['idempotency-key', 'a'], ['IDEMPOTENCY-KEY', 'b']],
    // The HTTP parser refuses malformed headers with the same 400.
    ...['\0', '\x01', '\x7f', '\r', '\n', 'a\rb', 'a\nb', 'a\0b', 'a\r\n b', 'a\r\nb'].map(keyed),
  ]; // prettier-ignore

  /** Decides from the bytes alone, as the contract does. */
  function isKey(headers: [string, string][]): boolean {
    const value = headers[0]![1].replaceAll(/^[\t ]+|[\t ]+$/g, '');
    return headers.length === 1 && /^[\x21-\x7e]{1,255}$/.test(value);
  }

  it('returns 201 with one effect or 400 with none', async () => {
    const cases = [...GOOD, ...BAD];
    expect([GOOD.every(isKey), BAD.some(isKey)]).toEqual([true, false]);
    const wrong: string[] = [];
    for (let at = 0; at < cases.length; at += 8) {
      await Promise.all(
        cases.slice(at, at + 8).map(async (headers, index) => {
          const probe = `key-${at + index}`;
          const { status, body } = await ask(headers, probe);
          const effects = (await make.query(`SELECT id FROM subjects WHERE name LIKE $1`, [`${probe} %`])).length;
          const expected = isKey(headers) ? [201, 1] : [400, 0];
          const coded = status === 201 || body.includes('"code":"bad_request"');
          if (status !== expected[0] || effects !== expected[1] || !coded) {
            wrong.push(`${JSON.stringify(headers)} ${status} ${effects} ${body.slice(0, 200)}`);
          }
        }),
      );
    }
    expect(wrong).toEqual([]);
  });

  it('CR LF in a key starts another header, and never another answer', async () => {
    const answer = await ask([[name, 'a\r\nX-Smuggled: yes']], 'smuggled');
    expect([answer.status, answer.answers]).toEqual([201, 1]);
    const [row] = await make.query(`SELECT key FROM idempotency_keys WHERE key LIKE 'a%' AND length(key) < 4`);
    expect(row).toEqual({ key: 'a' });
  });
});
