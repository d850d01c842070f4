import { Controller, Get } from '@nestjs/common';
import { Public, RequireScopes } from '../../../apps/api/src/http/auth/access.decorators.js';
import { TestApi } from '../../support/http/api.js';
import { allRoutes, call, keyedRoutes, nameOf, type Route, send } from '../../support/http/routes.js';
import { createFixtures, type Fixtures } from '../../support/data/fixtures.js';

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
const misplaced = (routes: Route[]) =>
  routes.filter(({ access, path }) => (access?.public === true) === /^\/v1(\/|$)/.test(path)).map(nameOf);

let api: TestApi;
let fixtures: Fixtures;

beforeAll(async () => {
  api = await TestApi.start();
  fixtures = await createFixtures(api);
});

afterAll(async () => {
  await api.stop();
});

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

  it('refuses a request without a key before checking anything else', async () => {
    const wrong: string[] = [];
    for (const route of keyedRoutes(api)) {
      for (const query of ['', '?unheard_of=1']) {
        const { status, headers, text } = await call(api, route, fixtures.a, { key: null, query });
        const { error } = JSON.parse(text) as { error?: { code: string } };
        if (status !== 401 || error?.code !== 'missing_api_key' || headers['www-authenticate'] !== 'Token') {
          wrong.push(`${nameOf(route)}${query} ${status} ${text}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe('authentication', () => {
  const refusal = (code: string) => ({
    error: { code, message: expect.stringMatching(/^[A-Z].*\.$/) as string, status: 401, details: {} },
  });

  async function refused(authorization: string | undefined): Promise<unknown> {
    const answer = await send(api, 'GET', '/v1/ping', authorization === undefined ? {} : { authorization });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Token');
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    return JSON.parse(answer.text);
  }

  it('refuses a missing key', async () => {
    expect(await refused(undefined)).toEqual(refusal('missing_api_key'));
    expect(await refused('')).toEqual(refusal('missing_api_key'));
  });

  it.each([
    ['another scheme', (key: string) => `Bearer ${key}`],
    ['basic authentication', (key: string) => `Basic ${Buffer.from(`${key}:`).toString('base64')}`],
    ['no scheme', (key: string) => key],
    ['no parameter name', (key: string) => `Token ${key}`],
    ['another parameter name', (key: string) => `Token key=${key}`],
    ['no value', () => 'Token token='],
    ['empty quotes', () => 'Token token=""'],
    ['one quote', (key: string) => `Token token="${key}`],
    ['trailing text', (key: string) => `Token token=${key} more`],
    ['upper case', (key: string) => `Token token=${key.toUpperCase()}`],
    ['one character too few', (key: string) => `Token token=${key.slice(0, -1)}`],
    ['one character too many', (key: string) => `Token token=${key}0`],
    ['garbage', () => 'Token token=garbage'],
    ['an unknown key in the right format', () => `Token token=tk_live_${'0'.repeat(64)}`],
  ])('refuses an invalid key: %s', async (_, authorization) => {
    expect(await refused(authorization(fixtures.a.key))).toEqual(refusal('invalid_api_key'));
  });

  it('refuses a revoked key in every process as soon as the revocation returns', async () => {
    const other = await TestApi.start({}, api.database);
    const { id, key } = await api.keys.create(fixtures.a.id, { name: 'leaked' });
    expect((await api.get('/v1/ping', key)).status).toBe(200);
    expect((await other.get('/v1/ping', key)).status).toBe(200);
    expect(await other.keys.revoke(id)).toBe(true);
    for (const process of [api, other]) {
      const answer = await process.get('/v1/ping', key);
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toBe('Token');
      expect(answer.body).toEqual(refusal('revoked_api_key'));
    }
    await other.close();
  });

  it('refuses an expired key with the documented body', async () => {
    const expired = await api.key(fixtures.a.id, { expiresAt: new Date(Date.now() - 1) });
    expect(await refused(`Token token=${expired}`)).toEqual({
      code: 401,
      message: 'API key has expired. Create a new key in your org settings.',
      data: {},
    });
  });

  it('refuses a key from its expiry on, even while in use', async () => {
    const anHourFromNow = new Date(Date.now() + 3_600_000);
    const { id, key } = await api.keys.create(fixtures.a.id, { name: 'used', expiresAt: anHourFromNow });
    expect((await api.get('/v1/ping', key)).status).toBe(200);
    await fixtures.make.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [id]);
    expect((await api.get('/v1/ping', key)).body).toMatchObject({ code: 401, data: {} });
  });
});

describe('an accepted key', () => {
  it.each([
    ['as documented', (key: string) => `Token token=${key}`],
    ['quoted', (key: string) => `Token token="${key}"`],
    ['in lower case', (key: string) => `token token=${key}`],
    ['in upper case', (key: string) => `TOKEN token="${key}"`],
    ['after several spaces', (key: string) => `Token   token=${key}`],
  ])('may be sent %s', async (_, authorization) => {
    const answer = await send(api, 'GET', '/v1/ping', { authorization: authorization(fixtures.b.key) });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject({ status: 'ok', org_id: fixtures.b.id });
    expect(answer.headers['www-authenticate']).toBeUndefined();
  });

  it('is read-only by default', async () => {
    const { key } = await api.keys.create(fixtures.a.id, { name: 'plain' });
    expect((await api.get('/v1/me', key)).body).toMatchObject({ org_id: fixtures.a.id, scopes: ['read'] });
  });

  it('works alongside other keys of its organization, and outlives them', async () => {
    const keys = await Promise.all([1, 2, 3].map(() => api.keys.create(fixtures.a.id, { name: 'rotated' })));
    await api.keys.revoke(keys[1]!.id);
    const statuses = await Promise.all(keys.map(async ({ key }) => (await api.get('/v1/ping', key)).status));
    expect(statuses).toEqual([200, 401, 200]);
  });

  it('is stored only as a hash and eight characters', async () => {
    const { id, key } = await api.keys.create(fixtures.a.id, { name: 'hidden' });
    expect(key).toMatch(/^tk_live_[0-9a-f]{64}$/);
    const secret = key.slice('tk_live_'.length);
    const [row] = await fixtures.make.query<{ text: string; first_four: string; last_four: string; hashed: boolean }>(
      `SELECT k::text AS text, first_four, last_four, key_hash = sha256($2::bytea) AS hashed FROM api_keys k WHERE id = $1`,
      [id, key],
    );
    expect(row).toMatchObject({ first_four: secret.slice(0, 4), last_four: secret.slice(-4), hashed: true });
    expect(row!.text).not.toContain(secret);
    expect(row!.text).not.toContain(secret.slice(0, 8));
  });
});
