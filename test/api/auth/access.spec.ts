import { Controller, Get } from '@nestjs/common';
import { Public, RequireScopes } from '../../../apps/api/src/http/auth/access.decorators.js';
import { TestApi } from '../../support/http/api.js';
import { allRoutes, keyedRoutes, nameOf, type Route } from '../../support/http/routes.js';
import { createFixtures } from '../../support/data/fixtures.js';

@Controller('v1/planted')
class Planted {
  @Get('open-by-mistake')
  undeclared(): { leaked: boolean } {
    return { leaked: true };
  }

  @Get('keyed')
  @RequireScopes('read')
  keyed(): object {
    return {};
  }
}

@Controller('planted-outside')
class PlantedOutside {
  @Get()
  @RequireScopes('read')
  keyed(): object {
    return {};
  }

  @Get('open')
  @Public()
  open(): object {
    return {};
  }
}

/** Routes that declare no access. */
const undeclared = (routes: Route[]) => routes.filter(({ access }) => access === undefined).map(nameOf);

/** Keyed routes outside /v1, and public ones inside it. */
const misplaced = (routes: Route[]) => routes.filter(({ access, path }) => (access?.public === true) === /^\/v1(\/|$)/.test(path)).map(nameOf);

const api = await TestApi.shared();
const fixtures = await createFixtures(api);

describe('every route', () => {
  it('declares its access, and is under /v1 exactly when it needs a key', () => {
    expect(keyedRoutes(api).length).toBeGreaterThan(15);
    expect(undeclared(allRoutes(api))).toEqual([]);
    expect(misplaced(allRoutes(api))).toEqual([]);
  });

  it('is denied when it declares no access, and the checks name it', async () => {
    const planted = await TestApi.start({}, api.database, [Planted, PlantedOutside]);
    const key = await planted.key(fixtures.a.id, { scopes: ['read', 'write', 'accounts:write'] });
    const answer = await planted.get('/v1/planted/open-by-mistake', key);
    expect(answer.status).toBe(403);
    expect(answer.body).toEqual({
      error: {
        code: 'insufficient_scope',
        message: expect.any(String) as string,
        status: 403,
        details: { required: [], granted: ['read', 'write', 'accounts:write'] },
      },
    });
    expect((await planted.get('/v1/planted/open-by-mistake')).status).toBe(401);
    expect((await planted.get('/v1/planted/keyed', key)).status).toBe(200);
    expect(undeclared(allRoutes(planted))).toEqual(['GET /v1/planted/open-by-mistake']);
    expect(misplaced(allRoutes(planted))).toEqual(['GET /planted-outside']);
    await planted.close();
  });
});
