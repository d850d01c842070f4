import { v7 as uuidv7 } from 'uuid';
import type { Scope } from '@app/access';
import { TestApi } from '../../support/http/api.js';
import { type Answer, call, keyedReads, keyedRoutes, nameOf, pathWith, type Route, send } from '../../support/http/routes.js';
import { someOf } from '../../support/fuzz/hostile-client.js';
import { createFixtures, parametersOf } from '../../support/data/fixtures.js';
import { fixture } from '../../support/process/fixture.js';

const api = await TestApi.shared();
const fixtures = await createFixtures(api);
/** Allows one request per minute for each key. */
const strict = await fixture(TestApi.start({ RATE_LIMIT_PER_MINUTE: '1' }, api.database));

const codeOf = ({ text }: Answer): string | undefined => (JSON.parse(text) as { error?: { code: string } }).error?.code;

/** A scope that does not give access to the route. */
function unrelated(route: Route): Scope {
  const needed: string[] = route.access?.public === false ? route.access.scopes : [];
  return (['blog:write', 'read'] as const).find((scope) => !needed.includes(scope))!;
}

/** A query that every operation refuses. */
const WRONG = '?unheard_of=1';

describe('a request with two faults gets', () => {
  it('401 before 429: a revoked key is not asked to retry', async () => {
    const wrong: string[] = [];
    for (const route of someOf(keyedRoutes(strict), 0, 10, 20)) {
      const { id, key } = await strict.keys.create(fixtures.a.id, { name: 'spent' });
      await call(strict, route, fixtures.a, { key });
      const spent = await call(strict, route, fixtures.a, { key });
      await strict.keys.revokeOf(fixtures.a.id, id);
      const revoked = await call(strict, route, fixtures.a, { key, query: WRONG });
      if (spent.status !== 429 || revoked.status !== 401) wrong.push(`${nameOf(route)} ${spent.status} ${revoked.status}`);
    }
    expect(wrong).toEqual([]);
  });

  it('429 before 403: a key without the scope is asked to retry later', async () => {
    const wrong: string[] = [];
    for (const route of someOf(keyedRoutes(strict), 1, 10, 20)) {
      const key = await strict.key(fixtures.a.id, { scopes: [unrelated(route)] });
      const first = await call(strict, route, fixtures.a, { key });
      const second = await call(strict, route, fixtures.a, { key, query: WRONG });
      if (first.status !== 403 || second.status !== 429 || codeOf(second) !== 'rate_limit_exceeded') {
        wrong.push(`${nameOf(route)} ${first.status} ${second.status}`);
      }
      expect(Number(second.headers['retry-after'])).toBeGreaterThan(0);
    }
    expect(wrong).toEqual([]);
  });

  it('403 before 422 and 404: a key without the scope learns nothing about fields and records', async () => {
    const wrong: string[] = [];
    for (const route of keyedRoutes(api)) {
      const key = await api.key(fixtures.a.id, { scopes: [unrelated(route)] });
      for (const [school, query] of [
        [fixtures.a, WRONG],
        [fixtures.b, ''],
      ] as const) {
        const answer = await call(api, route, school, { key, query });
        if (answer.status !== 403 || codeOf(answer) !== 'insufficient_scope') wrong.push(`${nameOf(route)} ${answer.text}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('422 before 404: an invalid request for a missing record is invalid', async () => {
    const wrong: string[] = [];
    const routes = keyedReads(api).filter((route) => parametersOf(route).length > 0);
    expect(routes.length).toBeGreaterThan(4);
    for (const route of routes) {
      for (const id of [uuidv7(), 'no-uuid', ...parametersOf(route).map((name) => fixtures.b.path[name]!)]) {
        const path = route.path.replaceAll(/:[^/]+/g, id);
        const headers = { Authorization: `Token token=${fixtures.a.key}` };
        const valid = pathWith(route, fixtures.a, null, id);
        const [faulty, absent] = [await send(api, 'GET', path + WRONG, headers), await send(api, 'GET', valid, headers)];
        if (faulty.status !== 422 || absent.status !== 404) wrong.push(`${path} ${faulty.status} ${absent.status}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});
