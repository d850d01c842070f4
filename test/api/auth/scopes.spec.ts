import { Controller, Get } from '@nestjs/common';
import { SCOPES, type Scope } from '@app/access';
import { RequireScopes } from '../../../apps/api/src/http/auth/access.decorators.js';
import { TestApi } from '../../support/http/api.js';
import { cataloguedAs } from '../../support/http/catalogue.js';
import { call, keyedRoutes, nameOf, type Route } from '../../support/http/routes.js';
import { createFixtures } from '../../support/data/fixtures.js';

const ALL = Object.keys(SCOPES) as [Scope, ...Scope[]];

const pathBehind = (...scopes: Scope[]) => `/v1/planted/${scopes.join('-').replaceAll(':', '-')}`;

/** A route that requires these scopes. */
function behind(...scopes: [Scope, ...Scope[]]) {
  @Controller(pathBehind(...scopes))
  class Planted {
    @Get()
    @RequireScopes(...scopes)
    get(): object {
      return {};
    }
  }
  return Planted;
}

const api = await TestApi.shared();
const fixtures = await createFixtures(api);

/** The single scopes that give access to the route, and those that only do together: `leads:write+read`. */
const documented = (route: Route): string[] => cataloguedAs(route).scopes;
const together = (route: Route): string[] => documented(route).flatMap((scopes) => scopes.split('+'));

/** Neither 401 nor 403: whatever else the operation answers to an empty request, it admitted the key. */
async function admits(route: Route, key: string): Promise<boolean> {
  const { status, text } = await call(api, route, fixtures.a, { key });
  if (status === 401 || status >= 500) throw new Error(`${nameOf(route)} answered ${status}: ${text}`);
  return status !== 403;
}

describe('scopes', () => {
  it('are exactly these sixteen', () => {
    expect([...ALL].sort()).toEqual([
      'accounts:write', 'blog:write', 'coursework:write', 'erasure:write', 'exports:write', 'leads:write', 'messages:write', 'payments:write', 'payroll:write', 'read', 'sessions:write',
      'settings:write', 'students:write', 'tutors:write', 'webhooks:write', 'write',
    ]); // prettier-ignore
  });

  // That no other scope does, the last test shows: a key with all of them is refused.
  it.each(ALL)('%s alone gives access to what is documented', async (scope) => {
    const key = await api.key(fixtures.a.id, { scopes: [scope] });
    const refused: string[] = [];
    // Those of a location depend on its owner: api/people/locations.spec.ts.
    const ofOwners = (route: Route) => route.method !== 'GET' && route.path.startsWith('/v1/locations');
    for (const route of keyedRoutes(api).filter((one) => documented(one).includes(scope) && !ofOwners(one)))
      if (!(await admits(route, key))) refused.push(nameOf(route));
    expect(refused).toEqual([]);
  });

  it('cover no others, except that write covers exactly five', async () => {
    const planted = await TestApi.start({}, api.database, [...ALL.map((scope) => behind(scope)), behind(...ALL)]);
    const opened: Record<string, string[]> = {};
    for (const held of ALL) {
      const key = await planted.key(fixtures.a.id, { scopes: [held] });
      const paths = [...ALL.map((scope) => pathBehind(scope)), pathBehind(...ALL)];
      const answers = await Promise.all(paths.map(async (path) => ({ path, status: (await planted.get(path, key)).status })));
      opened[held] = answers.filter(({ status }) => status === 200).map(({ path }) => path);
    }
    const alone = Object.fromEntries(ALL.map((scope) => [scope, [pathBehind(scope)]]));
    const six = ['payments:write', 'tutors:write', 'payroll:write', 'coursework:write', 'messages:write', 'leads:write', 'write'] as const;
    expect(opened).toEqual({ ...alone, write: six.map((scope) => pathBehind(scope)) });
    await planted.close();
  });

  it('that are required together are named together, also if the key has one', async () => {
    const pairs = keyedRoutes(api).filter((route) => documented(route).some((scopes) => scopes.includes('+')));
    expect(pairs.map(nameOf)).toContain('PATCH /v1/leads/{lead_id}');
    for (const route of pairs) {
      const required = requiredBy(route) as Scope[];
      for (const scope of required) {
        const { status, text } = await call(api, route, fixtures.a, { key: await api.key(fixtures.a.id, { scopes: [scope] }) });
        expect([status, (JSON.parse(text) as { error: { details: object } }).error.details]).toEqual([403, { required, granted: [scope] }]);
      }
      for (const scopes of documented(route).map((one) => one.split('+') as Scope[]))
        expect(await admits(route, await api.key(fixtures.a.id, { scopes }))).toBe(true);
    }
  });

  it('that are missing are named along with those the key holds', async () => {
    for (const route of keyedRoutes(api)) {
      const scopes = ALL.filter((scope) => !together(route).includes(scope));
      const { status, headers, text } = await call(api, route, fixtures.a, { key: await api.key(fixtures.a.id, { scopes }) });
      const { error } = JSON.parse(text) as { error: { message: string; details: { required: string[] } } };
      expect(status).toBe(403);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(error).toEqual({
        code: 'insufficient_scope',
        message: expect.any(String) as string,
        status: 403,
        details: { required: error.details.required, granted: scopes },
      });
      expect([nameOf(route), error.details.required]).toEqual([nameOf(route), requiredBy(route)]);
      expect(error.message).toContain(requiredBy(route)[0]);
    }
  });
});

/** The scopes themselves; write stands for them only in keys. */
function requiredBy(route: Route): string[] {
  const scopes = [...new Set(together(route))];
  return scopes.length > 1 ? scopes.filter((scope) => scope !== 'write') : scopes;
}
