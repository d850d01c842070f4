import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { v7 as uuidv7 } from 'uuid';
import { type NewApiKey, readsCodes, type Scope, SCOPES } from '@app/access';
import { accessOf, platformBlogOf } from '../../../apps/api/src/http/auth/access.decorators.js';
import { answerOf } from '../../../apps/api/src/http/lists/answer.js';
import { isCode, type Schema } from '../../../apps/api/src/http/views/schemas.js';
import { TestApi } from '../../support/http/api.js';
import { someOf } from '../../support/fuzz/hostile-client.js';
import { encoded, everyWrite, forPlatform, needed, validWrites, type ValidWrite } from '../../support/http/record-for.js';
import { createFixtures } from '../../support/data/fixtures.js';
import { fixture } from '../../support/process/fixture.js';

const ALL = Object.keys(SCOPES) as Scope[];

const dataDir = mkdtempSync(join(tmpdir(), 'tutoring-replay-'));
afterAll(() => rmSync(dataDir, { recursive: true }));
const api = await fixture(TestApi.start({ DATA_DIR: dataDir, SMTP_URL: 'smtp://127.0.0.1:9' }));
const fixtures = await createFixtures(api);
const keyWith = (wanted: Partial<NewApiKey>) => api.key(fixtures.a.id, { scopes: ALL, platformBlog: true, ...wanted });
const mighty = await keyWith({});
const pairs = new Map<string, Promise<[string, string]>>();
/** Two keys with these scopes. */
function twoKeysWith(scopes: readonly Scope[]): Promise<[string, string]> {
  const name = scopes.join();
  const pair = pairs.get(name) ?? Promise.all([keyWith({ scopes: [...scopes] }), keyWith({ scopes: [...scopes] })]);
  pairs.set(name, pair);
  return pair;
}
const CAPABILITY = 'the platform-blog capability';
const weaker = new Map([[CAPABILITY, await keyWith({ platformBlog: false })]]);
// The umbrella scope would replace the scopes that it covers.
for (const scope of ALL.filter((name) => name !== 'write')) {
  weaker.set(scope, await keyWith({ scopes: ALL.filter((name) => name !== scope && name !== 'write') }));
}
const own = await validWrites(everyWrite(api), fixtures.make, fixtures.a, 1);
const platform = own.map(forPlatform).filter((write) => write !== null);
const samples = [...own, ...platform];

/** Keys without a right that the write needs, and some without another: api/auth/scopes.spec.ts proves that the first call needs no more. */
function weakerFor({ route }: ValidWrite, number: number): [right: string, key: string][] {
  const access = accessOf(route.handler);
  const needed = [CAPABILITY, ...(access && !access.public ? access.scopes : [])];
  const others = [...weaker].filter(([right]) => !needed.includes(right));
  return [...[...weaker].filter(([right]) => needed.includes(right)), ...someOf(others, number, samples.length, 1)];
}

/** The fields of a write's answer that let people in. */
function codeFields({ route }: ValidWrite): string[] {
  const properties = (answerOf(route.handler)?.shapes ?? []).flatMap(({ schema }) =>
    Object.entries((schema.properties ?? {}) as Record<string, Schema>),
  );
  return properties.filter(([, schema]) => isCode(schema)).map(([name]) => name);
}

/** What the answer of a write shows that lets people in. */
function codesIn(write: ValidWrite, text: string): string[] {
  const shown = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  const codes = codeFields(write).map((name) => shown[name]);
  return codes.filter((code): code is string => typeof code === 'string' && code !== '');
}

/**
 * Replays are authorized like first calls: each write is called with a key that may do everything, and then
 * with keys that each lack one right. Whatever refuses their first call must refuse them the stored answer, too.
 */
describe('a stored answer', () => {
  async function ask(write: ValidWrite, key: string, idempotencyKey: string) {
    const { port } = api.server.address() as AddressInfo;
    const { type, bytes } = await encoded(write);
    const response = await fetch(`http://127.0.0.1:${port}${write.path}`, {
      method: write.route.method,
      headers: { Authorization: `Token token=${key}`, 'Content-Type': type, 'Idempotency-Key': idempotencyKey, ...needed(write.route) },
      body: bytes ?? '{}',
    });
    const replayed = response.headers.get('idempotency-replayed');
    return { status: response.status, text: await response.text(), replayed };
  }

  it('is refused to every key that would be refused a first call, for every write', async () => {
    expect(new Set(samples.map(({ route }) => route.path)).size).toBeGreaterThan(8);
    const refused = new Set<string>();
    for (const [number, sample] of samples.entries()) {
      const name = `${sample.route.method} ${sample.path}`;
      const stored = uuidv7();
      const first = await ask(sample, mighty, stored);
      expect(first.status, `${name}: ${first.text}`).toBeLessThan(300);
      expect((await ask(sample, mighty, stored)).replayed, name).toBe('true');
      for (const [right, key] of weakerFor(sample, number)) {
        const fresh = await ask(sample, key, uuidv7());
        const replay = await ask(sample, key, stored);
        if (fresh.status === 403) {
          expect(replay, `${name} without ${right}`).toEqual(fresh);
          refused.add(`${name} without ${right}`);
        } else if (right === 'read' || right === 'accounts:write') {
          // It sees less of the answer: api/auth/masks.spec.ts, and below.
          expect([replay.status, replay.replayed], name).toEqual([first.status, 'true']);
        } else {
          expect([replay.status, replay.text], `${name} without ${right}`).toEqual([first.status, first.text]);
        }
      }
    }
    // Checks that each route refuses some key, and platform requests refuse one without the capability.
    // The scope of a location that is gone is not known: the first call and its replay tell nothing.
    for (const { route, path } of samples.filter((one) => one.operation !== 'DELETE /v1/locations/:location_id')) {
      expect(
        [...refused].some((one) => one.startsWith(`${route.method} ${path} without`)),
        path,
      ).toBe(true);
    }
    expect([...refused].filter((one) => one.endsWith('capability'))).toHaveLength(platform.length);
    const capable = new Set(samples.filter(({ route }) => platformBlogOf(route.handler)).map(({ operation }) => operation));
    expect(new Set(platform.map(({ operation }) => operation))).toEqual(capable);
  });

  const ORDERS = ['narrow', 'mighty'];
  it.each(ORDERS)('is masked anew for each key that asks, after a %s one', async (first) => {
    const [wrong, withCodes] = [[] as string[], new Set<string>()];
    for (const [number, write] of (await validWrites(everyWrite(api), fixtures.make, fixtures.a)).entries()) {
      // Whoever asks first, the same code stores the answer whole.
      if (codeFields(write).length === 0 && !someOf(ORDERS, number, Infinity, 1).includes(first)) continue;
      const sample = write.body && 'slug' in write.body ? { ...write, body: { ...write.body, slug: uuidv7() } } : write;
      const access = accessOf(sample.route.handler);
      const scopes = access && !access.public ? access.scopes : [];
      const [narrow, other] = await twoKeysWith(scopes);
      const [maker, once] = [first === 'narrow' ? narrow : mighty, uuidv7()];
      const made = await ask(sample, maker, once);
      const [again, whole, seen] = [await ask(sample, maker, once), await ask(sample, mighty, once), await ask(sample, other, once)];
      const codes = codesIn(sample, whole.text);
      if (codes.length > 0) withCodes.add(sample.operation);
      for (const [fault, is] of Object.entries({
        'is refused': made.status >= 300 || [again, whole, seen].some(({ status, replayed }) => status !== made.status || !replayed),
        'changes for its maker': again.text !== made.text,
        'is stored narrowly': whole.text.includes('"masked":true'),
        'hides from its maker what it made': made.status === 201 && codes.some((code) => !made.text.includes(code)),
        'tells a code': !readsCodes({ scopes }) && codes.some((code) => seen.text.includes(code)),
      }))
        if (is) wrong.push(`${sample.operation} ${fault}: ${made.text} | ${whole.text} | ${seen.text}`);
    }
    expect(wrong).toEqual([]);
    expect([...withCodes]).toEqual(expect.arrayContaining(['POST /v1/classrooms', 'POST /v1/invites', 'POST /v1/org/join-link/replace']));
  });
});
