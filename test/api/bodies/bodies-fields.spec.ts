import supertest from 'supertest';
import { v7 as uuidv7 } from 'uuid';
import { type Scope, SCOPES } from '@app/access';
import { bodyClassOf } from '../../../apps/api/src/http/validation/declared.js';
import { TestApi } from '../../support/http/api.js';
import { newAddress } from '../../support/data/provisioning.js';
import { keyedRoutes, nameOf, type Route } from '../../support/http/routes.js';
import { createFixtures, pathOf } from '../../support/data/fixtures.js';
import { operationOf, recordFor, WHOLE } from '../../support/http/record-for.js';
import { bodiesOf, type Body, type Ids, type Place, placesOf, shapeOf } from '../../support/http/valid-bodies.js';
import { fixture } from '../../support/process/fixture.js';

type Json = Record<string, unknown>;
type Answer = { status: number; body: Json; text: string };

const api = await fixture(TestApi.start({ SMTP_URL: 'smtp://127.0.0.1:1' }));
const fixtures = await createFixtures(api);
const key = await api.key(fixtures.a.id, { scopes: Object.keys(SCOPES) as Scope[], platformBlog: true });

/** Every write with a JSON body. */
const writes = keyedRoutes(api).filter((route) => bodyClassOf(route.handler) && operationOf(route) !== WHOLE);

/** A valid request: the n-th body of the route about records of its own, with a change. */
async function send(route: Route, nth: number, change: (body: Body) => void = () => {}): Promise<Answer> {
  const ids = await recordFor(route, api.make, fixtures.a);
  const body = fresh(bodiesOf(route, ids)[nth]) as Body;
  change(body);
  return request(route, ids, body);
}

async function request(route: Route, ids: Ids, body?: Body): Promise<Answer> {
  const method = route.method.toLowerCase() as 'post' | 'patch';
  const answer = await supertest(api.server)
    [method](pathOf(route, { ...fixtures.a, path: ids }))
    .set('Authorization', `Token token=${key}`)
    .send(body);
  return { status: answer.status, body: answer.body as Json, text: answer.text };
}

/** The body with addresses that nobody has, and other values that are unique. */
function fresh(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => fresh(item, name));
  if (typeof value === 'object' && value !== null) return Object.fromEntries(Object.entries(value).map(([own, one]) => [own, fresh(one, own)]));
  if (name === 'slug') return `post-${uuidv7()}`;
  return typeof value === 'string' && value.endsWith('@canary.example') ? newAddress() : value;
} // prettier-ignore

/** Sets the field, or takes it out. */
const set = (at: string[], value: unknown) => (body: Body) => {
  const holder = at.slice(0, -1).reduce((inner, name) => inner[name] as Body, body);
  if (value === undefined) Reflect.deleteProperty(holder, at.at(-1)!);
  else holder[at.at(-1)!] = value;
};

/** The fields of each body of the route, and which body that is. */
async function fieldsOf(route: Route): Promise<(Place & { nth: number; told: string })[]> {
  const bodies = bodiesOf(route, await recordFor(route, api.make, fixtures.a));
  const told = (at: string[]) => `${nameOf(route)} ${at.join('.').replaceAll(/\.\d+/g, '[]')}`;
  return bodies.flatMap((body, nth) => placesOf(shapeOf(route)!, body).map((place) => ({ ...place, nth, told: told(place.at) })));
}

/** The answer with everything that varies between records masked. */
const masked = ({ status, text }: Answer): string =>
  `${status} ${text}`
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>')
    .replaceAll(/whsec_[\w+\/=]+/g, 'whsec_…')
    .replaceAll(/person-[^"]+@example\.org/g, '<address>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/"(token|join_code)":"[^"]+"/g, '"$1"')
    .replaceAll(/\/join\/[^"]+/g, '/join/<token>')
    .replaceAll(/canary_\d+/gi, '<text>')
    .replaceAll(/"sessions":\d+/g, '"sessions"')
    .replaceAll(/INV-\d+/g, '<number>');

const faultAt = ({ body }: Answer, at: (string | number)[]) =>
  ((body.detail ?? []) as { loc: unknown[]; type: string }[]).find(({ loc }) => loc.join() === ['body', ...at].join());

/** Optional fields that every valid body has: one of several, or what another field asks for. */
const NEEDED = [
  'booking-requests student_id',
  'classrooms billing_interval',
  'locations owner_type',
  'session-series count',
  'session-series duration_minutes',
  'session-series/{series_id}/extend count',
  'sessions duration_minutes',
  'tutors/{tutor_id}/offboard hand_over_to',
  'tutors/{tutor_id}/offboard sessions',
];

describe('a body', () => {
  it('may be empty for a change, which returns 200 and changes nothing', async () => {
    const changes = writes.filter((route) => route.method !== 'POST' && shapeOf(route)!.required === undefined);
    expect(changes.map(nameOf)).toEqual(expect.arrayContaining(['PATCH /v1/blog-posts/{post_id}', 'PATCH /v1/students/{student_id}']));
    for (const route of changes) {
      const ids = await recordFor(route, api.make, fixtures.a);
      const [empty, object] = [await request(route, ids), await request(route, ids, {})];
      expect([nameOf(route), empty.status, empty.text]).toEqual([nameOf(route), 200, object.text]);
    }
  });

  it('may set any optional field of a POST to null, as if it were left out', async () => {
    const [wrong, tried, all] = [[] as string[], new Set<string>(), new Set<string>()];
    for (const route of writes.filter(({ method }) => method === 'POST')) {
      for (const { at, nth, told } of (await fieldsOf(route)).filter(({ required }) => !required)) {
        all.add(told);
        if (tried.has(told)) continue;
        const absent = await send(route, nth, set(at, undefined));
        // A price for all is there once.
        await api.make.query('DELETE FROM rate_cells WHERE organization_id = $1', [fixtures.a.id]);
        const empty = await send(route, nth, set(at, null));
        // Without it, this body would miss something.
        if (absent.status >= 300) continue;
        tried.add(told);
        if (masked(absent) !== masked(empty)) wrong.push(`${told}\n  ${masked(absent)}\n  ${masked(empty)}`);
      }
    }
    expect(wrong).toEqual([]);
    expect([...all].filter((told) => !tried.has(told)).sort()).toEqual(NEEDED.map((field) => `POST /v1/${field}`));
  });

  it('may not have a phone number without a digit', async () => {
    const tried = new Set<string>();
    for (const route of writes) {
      for (const { at, nth, told } of (await fieldsOf(route)).filter((field) => field.at.at(-1) === 'phone')) {
        const answer = await send(route, nth, set(at, 'N/A'));
        // A row of a bulk invite has errors of its own.
        const row = (answer.body.results as { error: string }[] | undefined)?.[Number(at[1])]?.error;
        expect([told, faultAt(answer, at)?.type ?? row]).toEqual([
          told,
          row === undefined ? 'string_pattern_mismatch' : expect.stringContaining('Must be a phone number'),
        ]);
        tried.add(told);
      }
    }
    expect(tried.size).toBeGreaterThan(8);
  });

  it('of a bulk invite reports overlong texts as errors of their row', async () => {
    const route = writes.find(({ path }) => path === '/v1/users/bulk-invite')!;
    const texts = (await fieldsOf(route)).filter(({ schema }) => schema.maxLength !== undefined);
    expect(texts.length).toBeGreaterThan(15);
    for (const { at, nth, schema, told } of texts) {
      const { status, body } = await send(route, nth, set(at, 'x'.repeat((schema.maxLength as number) + 1)));
      expect([told, status]).toEqual([told, 200]);
      const [, index, ...inRow] = at;
      const row = Number(index);
      const results = body.results as { status: string; error: string | null; id: string | null }[];
      expect(results.map((result) => result.status)).toEqual(results.map((_, place) => (place === row ? 'error' : 'ok')));
      expect(results[row]).toMatchObject({ index: row, id: null, created: null, invited: null });
      expect(results[row]!.error).toBe(`${inRow.join('.')}: Must have at most ${String(schema.maxLength)} characters.`);
      expect(body.summary).toMatchObject({ total: results.length, ok: results.length - 1, errors: 1 });
    }
  });

  it('of a bulk invite is refused as a whole when an overlong text comes with a fault of shape', async () => {
    const route = writes.find(({ path }) => path === '/v1/users/bulk-invite')!;
    const row = { type: 'tutor', first_name: 'Sam', last_name: 'Okafor', phone: '1'.repeat(51), age: 40 };
    const answer = await request(route, fixtures.a.path, { users: [row] });
    expect([answer.status, faultAt(answer, ['users', '0', 'age'])?.type]).toEqual([422, 'extra_forbidden']);
  });
});
