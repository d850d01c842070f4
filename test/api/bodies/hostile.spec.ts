import { TestApi } from '../../support/http/api.js';
import { faultsOf, HostileClient, inLots, someOf } from '../../support/fuzz/hostile-client.js';
import { goodValues, parametersOfReads } from '../../support/fuzz/query-values.js';
import { keyedReads, listAt, pathWith, type Route, validPath } from '../../support/http/routes.js';

/** Malicious input, and input that trips naive services, each with the one answer it must get. */
const client = await HostileClient.create(await TestApi.start());
const parameters = await parametersOfReads(client.api);

afterAll(() => client.stop());

/** The path of a valid request to the route with this query, and what it requires. */
function pathTo(route: Route, query = ''): string {
  return validPath(route, client.fixtures.a, query && `?${query}`);
}

describe('a query parameter of every route', () => {
  const kinds = [...new Set(parameters.map(({ kind }) => kind))];

  it.each(kinds)('of type %s accepts all valid values', async (kind) => {
    const cases = parameters
      .filter((parameter) => parameter.kind === kind)
      .flatMap((parameter) => goodValues(parameter).map((value) => ({ parameter, value })));
    await inLots(cases, async ({ parameter: { route, name }, value }) => {
      const answer = await client.ask(pathTo(route, `${name}=${value}`));
      // A text may name no record.
      const fitting = kind === 'text' && !listAt(route) ? [200, 404] : [200];
      expect(fitting, `${route.path}?${name}=${value} ${answer.body}`).toContain(answer.status);
    });
  });

  it('of type boolean treats false as false', async () => {
    const booleans = parameters.filter(({ kind }) => kind === 'boolean');
    expect(booleans.length).toBeGreaterThan(3);
    await inLots(booleans, async ({ route, name, schema }) => {
      const given = async (value: string) => (await client.ask(pathTo(route, `${name}=${value}`))).body;
      const [no, zero, yes, one] = [await given('false'), await given('0'), await given('true'), await given('1')];
      expect([zero, one], `${route.path} ${name}`).toEqual([no, yes]);
      expect(yes, `${route.path} ${name}`).not.toBe(no);
      if (schema.default === false) expect((await client.ask(pathTo(route))).body).toBe(no);
    });
  });
});

describe('a query string', () => {
  const QUERIES = [
    '__proto__=1', '__proto__[polluted]=1', '__proto__.polluted=1', 'constructor=1', 'constructor[prototype][polluted]=1',
    'constructor.prototype.polluted=1', 'prototype=1', 'toString=1', 'valueOf=1', 'hasOwnProperty=1', 'then=1', 'toJSON=1',
    '__defineGetter__=1', '__lookupSetter__=1', '%5f%5fproto%5f%5f=1', 'length=1', '0=1', 'polluted=1', '=1', '%00=1', '%ff=1',
    '%ed%a0%80=1', 'debug', 'token=x', 'api_key=x', 'organization_id=x', 'select=*', 'constructor', '__proto__',
  ]; // prettier-ignore

  it.each(QUERIES.map((query, number) => [query, number] as const))('%s is refused without prototype pollution', async (query, number) => {
    await inLots(someOf(keyedReads(client.api), number, QUERIES.length, 8), async (route) => {
      const faults = faultsOf(await client.ask(pathTo(route, query)));
      expect(
        faults.map(({ type }) => type),
        route.path,
      ).toEqual(['extra_forbidden']);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      expect(Object.keys(Object.prototype)).toEqual([]);
    });
  });

  it('reports all its faults together, in query order', async () => {
    const query = 'zeta=1&to=x&limit=0&__proto__=1&offset=-1&mode=x&alpha=2&status=&student_id=1&constructor=3&from=now&cursor=';
    const faults = faultsOf(await client.ask(`/v1/results?${query}`));
    expect(faults.map(({ loc, type }) => `${loc.join('.')} ${type}`)).toEqual([
      'query.zeta extra_forbidden', 'query.to date_parsing', 'query.limit greater_than_equal',
      'query.__proto__ extra_forbidden', 'query.offset greater_than_equal', 'query.mode enum',
      'query.alpha extra_forbidden', 'query.status enum', 'query.student_id uuid_parsing',
      'query.constructor extra_forbidden', 'query.from date_parsing', 'query.cursor value_error',
    ]);
  }); // prettier-ignore

  it.each([
    ['nothing', ''],
    ['a question mark', '?'],
    ['ampersands', '?&&&'],
    ['an encoded name', '?%6cimit=1'],
  ])('with %s is accepted', async (_, query) => {
    expect((await client.ask(`/v1/homework${query}`)).status).toBe(200);
  });
});

describe('the id in a path', () => {
  const uuid = '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30';

  const IDS = [
    '%00', '%ff', '%c3', '%', '%zz', '%ed%a0%80', '%2e%2e%2f', '%2e%2e', '..', '.', 'abc', '1', 'null', 'undefined', '__proto__',
    'constructor', '%20', '*', '%2a', '{id}', ':id', `{${uuid}}`, `%7B${uuid}%7D`, uuid.replaceAll('-', ''), `urn:uuid:${uuid}`,
    `${uuid};a=b`, `${uuid}%00`, `${uuid}%0a`, `%20${uuid}`, uuid.replace('0', '%EF%BC%90'), `'%20OR%201=1--`, '%0d%0aSet-Cookie:%20a=b',
    '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', uuid, '%E2%80%AE', '%F0%9F%92%A9', 'a'.repeat(10_000),
  ]; // prettier-ignore

  it.each(IDS.map((bad, number) => [bad, number] as const))('%s returns the same 404 as an id of another organization', async (bad, number) => {
    const routes = keyedReads(client.api).filter(({ path }) => path.includes(':'));
    expect(routes.length).toBeGreaterThan(3);
    await inLots(someOf(routes, number, IDS.length, 4), async (route) => {
      const [unknown, foreign] = [
        await client.ask(pathWith(route, client.fixtures.a, null, bad)),
        await client.ask(validPath(route, client.fixtures.b)),
      ];
      expect(unknown.status, route.path).toBe(404);
      expect(unknown.body).toBe(foreign.body);
    });
  });
});
