import type { Answer } from '../../support/http/answer-check.js';
import { FuzzTarget } from '../../support/fuzz/fuzz-target.js';
import { batchesFrom, inReport, seedOf } from '../../support/faults/promise.js';
import { fixture, inTest } from '../../support/process/fixture.js';

/** How many requests to generate, at least. None may make the service fail or reveal internals. */
const REQUESTS = inReport(15_000, 2_500);
const SEED = seedOf(20_260_501);

const target = await fixture(FuzzTarget.open());
const { check } = target;

it.each(batchesFrom(SEED, 10))(`answers ${REQUESTS} random requests as the contract says (seed %d)`, async (seed) => {
  // Each run but the first has its own fixtures, because runs delete records.
  await (seed === SEED ? target : await inTest(FuzzTarget.open())).run(seed, REQUESTS);
});

describe('the answer check', () => {
  const ok: Answer = { status: 200, headers: { 'x-request-id': 'a', 'content-type': 'application/json; charset=utf-8' }, body: '{}' }; // prettier-ignore
  const error = (message: string, status = 404, more = {}): Answer => ({
    ...ok,
    status,
    body: JSON.stringify({ error: { code: 'not_found', message, status, details: {}, ...more } }),
  });
  const invalid = (type: string, loc = ['query', 'limit']): Answer => ({
    ...ok,
    status: 422,
    body: JSON.stringify({ detail: [{ loc, msg: 'Must be a number.', type }] }),
  });

  it('lets valid answers pass', () => {
    expect(check.faults(ok)).toEqual([]);
    expect(check.faults(error('No such record in this organization.'))).toEqual([]);
    expect(check.faults(invalid('int_parsing', ['query', 'SELECT * FROM users\n    at x (/srv/a.js:1)']))).toEqual([]);
  });

  it.each<[string, Answer]>([
    ['an HTML page', { ...ok, headers: { ...ok.headers, 'content-type': 'text/html' } }],
    ['an error without a body', { ...ok, status: 404, body: '' }],
    ['an unknown error shape', { ...ok, status: 404, body: '{"statusCode":404,"message":"Cannot GET /"}' }],
    ['a status that differs from the body', { ...error('Gone.'), status: 400 }],
    ['an unknown kind of fault', invalid('isString')],
    ['429 without Retry-After', error('No.', 429)],
    ['SQL', error('select "u"."id" from "users" "u" where "u"."email" = $1')],
    ['an SQLSTATE', error('Failed with 22P02.')],
    ['a stack', error('x\n    at Database.read (file.js:1:2)')],
    ['a file path', error('Cannot open /srv/api/secret')],
    ['a product name', error('PostgreSQL is away')],
    ['a leak in the details', error('No.', 404, { details: { query: 'SELECT 1 FROM users' } })],
  ])('catches %s', (_, answer) => {
    expect(check.faults(answer)).not.toEqual([]);
  });

  it('catches a success that differs from the documented answer', async () => {
    const body = (await target.api.get('/v1/ping', target.fixtures.a.key)).text;
    expect(check.faults({ ...ok, body }, 'GET /v1/ping')).toEqual([]);
    expect(check.faults({ ...ok, body: body.replace('{', '{"secret":1,') }, 'GET /v1/ping')).not.toEqual([]);
    expect(check.faults({ ...ok, body: body.replace('org_id', 'id') }, 'GET /v1/ping')).not.toEqual([]);
  });
});
