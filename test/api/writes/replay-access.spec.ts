import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { v7 as uuidv7 } from 'uuid';
import { type NewApiKey, type Scope, SCOPES } from '@app/accounts';
import { platformBlogOf } from '../../../apps/api/src/http/auth/access.decorators.js';
import { isIdempotent } from '../../../apps/api/src/http/writes/idempotency-key.js';
import { TestApi } from '../../support/http/api.js';
import { BODIES, MORE_BODIES } from '../../support/http/bodies.js';
import { image } from '../../support/data/images.js';
import { allRoutes, type Route } from '../../support/http/routes.js';
import { MULTIPART, multipart, part } from '../../support/http/uploads.js';
import { createFixtures, pathOf, type Fixtures } from '../../support/data/fixtures.js';

/** Requests that only the platform's keys may make, by operation: the query and the body. */
const PLATFORM: Record<string, [query: string, body?: object]> = {
  'POST /v1/blog-posts': ['', { title: 'News', slug: 'platform-news', target: 'platform', brand: 'primary' }],
  'POST /v1/blog-images': ['?target=platform&brand=primary'],
};

const ALL = Object.keys(SCOPES) as Scope[];

interface Sample {
  route: Route;
  path: string;
  body: () => Promise<{ type: string; bytes: Uint8Array | string }>;
}

/**
 * Replays are authorized like first calls: each idempotent route is called with a key that may do everything, and then
 * with keys that each lack one right. Whatever refuses their first call must refuse them the stored answer, too.
 */
describe('a stored answer', () => {
  let api: TestApi;
  let fixtures: Fixtures;
  let dataDir: string;
  let samples: Sample[];
  const weaker = new Map<string, string>();
  let mighty: string;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'tutoring-replay-'));
    api = await TestApi.start({ DATA_DIR: dataDir });
    fixtures = await createFixtures(api);
    const key = (wanted: Partial<NewApiKey>) => api.key(fixtures.a.id, { scopes: ALL, platformBlog: true, ...wanted });
    mighty = await key({});
    weaker.set('the platform-blog capability', await key({ platformBlog: false }));
    // The umbrella scope would replace the scopes that it covers.
    for (const scope of ALL.filter((name) => name !== 'write')) {
      weaker.set(scope, await key({ scopes: ALL.filter((name) => name !== scope && name !== 'write') }));
    }
    samples = allRoutes(api)
      .filter((route) => isIdempotent(route.handler))
      .flatMap((route) => samplesOf(route));
  });
  afterAll(async () => {
    await api.stop();
    rmSync(dataDir, { recursive: true });
  });

  function samplesOf(route: Route): Sample[] {
    const operation = `${route.method} ${route.path}`;
    const path = pathOf(route, fixtures.a);
    const ids = { ...fixtures.a.path, ...fixtures.a.query };
    const json = (body: object | undefined) => () =>
      Promise.resolve({ type: 'application/json', bytes: JSON.stringify(body ?? {}) });
    const upload = async () => ({ type: MULTIPART, bytes: new Uint8Array(multipart(part(await image('png')))) });
    const isUpload = operation === 'POST /v1/blog-images';
    if (!isUpload && !BODIES[operation]) throw new Error(`${operation} has no body in test/support/http/bodies.ts`);
    if (platformBlogOf(route.handler) && !PLATFORM[operation]) throw new Error(`${operation} has no platform request`);
    const own = [BODIES[operation], ...(MORE_BODIES[operation] ?? [])]
      .filter((make) => make !== undefined)
      .map((make) => ({ route, path, body: json(make(ids)) }));
    const [query = '', body] = PLATFORM[operation] ?? [];
    return [
      ...(isUpload ? [{ route, path, body: upload }] : own),
      ...(PLATFORM[operation] ? [{ route, path: path + query, body: isUpload ? upload : json(body) }] : []),
    ];
  }

  async function ask({ route, path, body }: Sample, key: string, idempotencyKey: string) {
    const { port } = api.server.address() as AddressInfo;
    const { type, bytes } = await body();
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: route.method,
      headers: { Authorization: `Token token=${key}`, 'Content-Type': type, 'Idempotency-Key': idempotencyKey },
      body: bytes,
    });
    const replayed = response.headers.get('idempotency-replayed');
    return { status: response.status, text: await response.text(), replayed };
  }

  it('is refused to every key that would be refused a first call, on every idempotent route', async () => {
    expect(new Set(samples.map(({ route }) => route.path)).size).toBeGreaterThan(8);
    const refused = new Set<string>();
    for (const sample of samples) {
      const name = `${sample.route.method} ${sample.path}`;
      const stored = uuidv7();
      const first = await ask(sample, mighty, stored);
      expect(first.status, `${name}: ${first.text}`).toBeLessThan(300);
      expect((await ask(sample, mighty, stored)).replayed, name).toBe('true');
      for (const [right, key] of weaker) {
        const fresh = await ask(sample, key, uuidv7());
        const replay = await ask(sample, key, stored);
        if (fresh.status === 403) {
          expect(replay, `${name} without ${right}`).toEqual(fresh);
          refused.add(`${name} without ${right}`);
        } else {
          expect([replay.status, replay.text], `${name} without ${right}`).toEqual([first.status, first.text]);
        }
      }
    }
    // Checks that each route refuses some key, and platform requests refuse one without the capability.
    for (const { route, path } of samples) {
      expect(
        [...refused].some((one) => one.startsWith(`${route.method} ${path} without`)),
        path,
      ).toBe(true);
    }
    const platform = [...refused].filter((one) => one.endsWith('capability'));
    expect(platform).toHaveLength(Object.keys(PLATFORM).length);
  });
});
