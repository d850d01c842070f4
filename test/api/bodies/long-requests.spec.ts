import { type Scope, SCOPES } from '@app/access';
import type { AddressInfo } from 'node:net';
import { v7 as uuidv7 } from 'uuid';
import { AnswerCheck } from '../../support/http/answer-check.js';
import { TestApi } from '../../support/http/api.js';
import { faultsOf } from '../../support/fuzz/hostile-client.js';
import { manyOf } from '../../support/fuzz/long-texts.js';
import { bytesOf, exchange, type RawAnswer } from '../../support/http/raw-http.js';

const api = await TestApi.shared();
const { make } = api;
const check = new AnswerCheck();
const key = await api.key((await make.organization()).id, { scopes: Object.keys(SCOPES) as Scope[], platformBlog: true });

async function ask(method: string, target: string, body = ''): Promise<RawAnswer> {
  const bytes = Buffer.from(body).toString('latin1');
  const headers: [string, string][] = [
    ['Authorization', `Token token=${key}`],
    ...(body === ''
      ? []
      : ([['Content-Type', 'application/json'], ['Content-Length', String(bytes.length)]] as [string, string][])),
  ]; // prettier-ignore
  const { port } = api.server.address() as AddressInfo;
  const answer = await exchange(port, bytesOf(target, { method, headers, body: bytes }));
  expect(check.faults(answer), answer.body.slice(0, 300)).toEqual([]);
  return answer;
}

type Told = { loc: (string | number)[]; msg: string; type: string };

const told = (answer: RawAnswer) => faultsOf(answer) as unknown as Told[];
const MORE = / Errors not listed: ([\d,]+)\.$/;
const moreOf = ({ msg }: Told) => Number(MORE.exec(msg)?.[1]?.replaceAll(',', '') ?? 0);

/** The number of all faults, of which the first 100 are listed. */
function countOf(answer: RawAnswer): number {
  const faults = told(answer);
  expect(faults.length).toBeLessThanOrEqual(100);
  for (const fault of faults.slice(0, -1)) expect(moreOf(fault)).toBe(0);
  return faults.length + moreOf(faults.at(-1)!);
}

/** This many unknown members. */
const names = (count: number) => Array.from({ length: count }, (_, n) => `"n${n}":0`).join(',');

describe('an answer lists 100 faults and counts the rest', () => {
  it.each([1, 99, 100, 101, 250, 4_999])('for %i unknown names', async (count) => {
    expect(countOf(await ask('PATCH', `/v1/students/${uuidv7()}`, `{${names(count)}}`))).toBe(count);
    const query = Array.from({ length: Math.min(count, 2_000) }, (_, n) => `n${n}`).join('&');
    expect(countOf(await ask('GET', `/v1/homework?${query}`))).toBe(Math.min(count, 2_000));
  });

  it('from the query and the body together, in the order the caller sent them', async () => {
    const answer = await ask('POST', '/v1/students?a&b', `{"x":1,"first_name":7,${names(200)}}`);
    expect(told(answer).slice(0, 4).map(({ loc, type }) => `${loc.join('.')} ${type}`)).toEqual([
      'query.a extra_forbidden', 'query.b extra_forbidden', 'body.x extra_forbidden', 'body.first_name string_type',
    ]);
    // last_name is missing as well.
    expect(countOf(answer)).toBe(2 + 2 + 200 + 1);
  }); // prettier-ignore
});

describe('megabytes of unknown names', () => {
  it.each([
    ['POST', '/v1/students', 262_144],
    ['POST', '/v1/students', 1_048_576],
    ['POST', '/v1/blog-posts', 3_145_728],
  ])('%s %s with %i bytes: the first 100 are listed with their total', async (method, path, size) => {
    const members = manyOf((n) => `"n${n}":0`, size - 2).split(',');
    const answer = await ask(method, path, `{${members.join()}}`);
    expect(told(answer).map(({ loc, type }) => [...loc, type])).toEqual(Array.from({ length: 100 }, (_, n) => ['body', `n${n}`, 'extra_forbidden']));
    expect(countOf(answer)).toBe(members.length);
  });

  it('known names among them, even escaped ones, are not reported', async () => {
    const answer = await ask('POST', '/v1/students', `{"first_name":1,"last\\u005fname":2,"\\u0078":3,${names(20_000)}}`);
    expect(told(answer)[0]?.loc).toEqual(['body', 'x']);
    expect(countOf(answer)).toBe(20_001);
  }); // prettier-ignore

  it('written inside a text are not counted', async () => {
    const text = `\\"${'['.repeat(40)}${'{,'.repeat(20_000)}\\\\`;
    const answer = await ask('POST', '/v1/students', `{"first_name":"a","last_name":"${text}","x":0}`);
    expect(told(answer)).toMatchObject([{ loc: ['body', 'last_name'], type: 'string_too_long' }, { loc: ['body', 'x'] }]);
  });

  it('an oversized list, or invalid JSON, is reported as a whole', async () => {
    for (const [body, type] of [[`[${'{},'.repeat(20_000)}{}]`, 'too_long'], [`{${':,'.repeat(20_000)}}`, 'json_invalid']] as const) {
      expect(told(await ask('POST', '/v1/students', body))).toMatchObject([{ loc: ['body'], type }]);
    }
  }); // prettier-ignore
});

describe('an unknown name', () => {
  it.each([['letters', 'a'], ['emoji', '💩'], ['escapes', '\\u0001'], ['half a pair', '\\ud83d']])('made of %s is echoed up to 100 characters', async (_, unit) => {
    const point = JSON.parse(`"${unit}"`) as string;
    const named = async (length: number) => {
      const [fault] = told(await ask('POST', '/v1/students', `{"first_name":"a","last_name":"b","${unit.repeat(length)}":0}`));
      return fault!.loc[1];
    };
    expect(await named(100)).toBe(point.repeat(100));
    expect(await named(101)).toBe(`${point.repeat(100)}…`);
    expect(await named(150_000)).toBe(`${point.repeat(100)}…`);
  }); // prettier-ignore

  it('in a query is echoed up to 100 characters, too', async () => {
    const [fault] = told(await ask('GET', `/v1/homework?${'a'.repeat(12_000)}=1`));
    expect(fault!.loc).toEqual(['query', `${'a'.repeat(100)}…`]);
  });
});

it('reports a query name repeated 5,000 times as one fault', async () => {
  for (const name of ['limit', 'x', 'student_id']) {
    const [fault, ...others] = told(await ask('GET', `/v1/homework?${manyOf(() => name, 13_000, '&')}`));
    expect([fault!.loc, others]).toEqual([['query', name], []]);
  }
});

it('control characters are stored unchanged where they are allowed', async () => {
  const content = 'a\tb\nc\r\nd\u007fe';
  const post = await ask('POST', '/v1/blog-posts', JSON.stringify({ title: 'Lines', slug: 'lines', content }));
  const { id } = JSON.parse(post.body) as { id: string };
  expect(JSON.parse((await ask('GET', `/v1/blog-posts/${id}`)).body)).toMatchObject({ content });
});
