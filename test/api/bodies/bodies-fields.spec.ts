import supertest from 'supertest';
import { v7 as uuidv7 } from 'uuid';
import { type Scope, SCOPES } from '@app/access';
import { schemaOf } from '../../../apps/api/src/http/validation/body-schema.js';
import { bodyClassOf } from '../../../apps/api/src/http/validation/declared.js';
import { TestApi } from '../../support/http/api.js';
import { newAddress } from '../../support/data/provisioning.js';
import { keyedRoutes, nameOf, type Route, type Schema } from '../../support/http/routes.js';
import { createFixtures, pathOf } from '../../support/data/fixtures.js';
import { recordFor } from '../../support/http/record-for.js';
import { fixture } from '../../support/process/fixture.js';

type Json = Record<string, unknown>;
type Answer = { status: number; body: Json; text: string };

const api = await fixture(TestApi.start({ SMTP_URL: 'smtp://127.0.0.1:1' }));
const fixtures = await createFixtures(api);
// One that can change.
fixtures.a.path.session_id = (await api.make.session(fixtures.a.id)).id;
const key = await api.key(fixtures.a.id, { scopes: Object.keys(SCOPES) as Scope[], platformBlog: true });

/** Every write with a JSON body, with its schema. */
const writes = (): { route: Route; schema: Schema }[] =>
  keyedRoutes(api).flatMap((route) => {
    const shape = bodyClassOf(route.handler);
    return shape ? [{ route, schema: schemaOf(shape) }] : [];
  });

/** Optional fields without which a body is not valid: an address for invites, and one of several for sessions and payments. */
function neededBy({ properties = {} }: Schema): string[] {
  const ofSessions = 'starts_at' in properties ? ['student_id', 'duration_minutes', 'count'] : [];
  const needed = ['email', ...ofSessions, ...('payment_type' in properties ? ['student_id'] : [])];
  if ('student_display_name' in properties) needed.push('student_display_name');
  if ('source_form_name' in properties) needed.push('phone');
  if ('plan_data' in properties) needed.push('classroom_id');
  if ('recipient_id' in properties) needed.push('recipient_id');
  return needed.filter((name) => name in properties);
}

let hours = 0;

/** A valid body with only the required fields, and those that are needed besides. */
function smallest(schema: Schema, route: Route): Json {
  const names = [...new Set([...((schema.required ?? []) as string[]), ...neededBy(schema)])];
  return Object.fromEntries(names.map((name) => [name, valueOf(name, schema.properties![name]!, route)]));
}

function valueOf(name: string, schema: Schema, route: Route): unknown {
  if (name === 'email') return newAddress();
  if (name === 'phone') return '+61 3 5550 1234';
  if (name === 'slug') return `post-${uuidv7()}`;
  if (name === 'name') return `Name ${uuidv7()}`;
  if (name === 'recipient_id') return fixtures.a.path.student_id;
  if (name === 'user_id') return fixtures.a.path[route.path.endsWith('tutors') ? 'tutor_id' : 'student_id'];
  if (schema.format === 'uuid') return fixtures.a.path[name];
  // Each at a time of its own: a tutor is booked once.
  if (schema.format === 'date-time') return new Date(Date.UTC(2030, 0, 1, ++hours)).toISOString();
  if (schema.format === 'date') return '2026-05-01';
  if (schema.minimum !== undefined) return Math.max(schema.minimum, name === 'duration_minutes' ? 60 : 1);
  if (schema.enum) return schema.enum[0];
  if (schema.type === 'array') return (schema.items as { oneOf: Schema[] }).oneOf.map((item) => smallest(item, route));
  return 'Text';
}

/** A field at any depth of a body, with a way to build the body with another value there. */
type Field = { route: Route; at: (string | number)[]; schema: Schema; required: boolean; body: (...value: [] | [unknown]) => Json };

function fieldsOf(route: Route, whole: Schema): Field[] {
  const fields: Field[] = [];
  const visit = (schema: Schema, at: (string | number)[], within: (inner: Json) => Json) => {
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const base = () => smallest(schema, route);
      const body = (...value: [] | [unknown]) => {
        const { [name]: _out, ...rest } = base();
        return within(value.length === 1 ? { ...rest, [name]: value[0] } : rest);
      };
      const needed = [...((schema.required ?? []) as string[]), ...neededBy(schema).filter((one) => one !== 'email')];
      const required = needed.includes(name);
      fields.push({ route, at: [...at, name], schema: property, required, body });
      const object = [property, ...((property.oneOf ?? []) as Schema[])].find(({ properties }) => properties);
      if (object) visit(object, [...at, name], (inner) => within({ ...base(), [name]: inner }));
      for (const [index, item] of ((property.items as { oneOf?: Schema[] } | undefined)?.oneOf ?? []).entries()) {
        visit(item, [...at, name, index], (inner) => {
          const rows = valueOf(name, property, route) as Json[];
          return within({ ...base(), [name]: rows.map((row, place) => (place === index ? inner : row)) });
        });
      }
    }
  };
  visit(whole, [], (inner) => inner);
  return fields;
}

/** What is done to a session or an invoice is possible in one state: each such request has a record of its own. */
async function send(route: Route, body?: Json): Promise<Answer> {
  const method = route.method.toLowerCase() as 'post' | 'patch';
  const fresh = method === 'post' && /\/(sessions|invoices)\/:/.test(route.path);
  const path = fresh ? await recordFor(route, api.make, fixtures.a) : fixtures.a.path;
  const request = supertest(api.server)
    [method](pathOf(route, { ...fixtures.a, path }))
    .set('Authorization', `Token token=${key}`);
  const answer = await (body === undefined ? request : request.send(body));
  return { status: answer.status, body: answer.body as Json, text: answer.text };
}

/** The answer with everything that varies between records masked. */
const masked = ({ status, text }: Answer): string =>
  `${status} ${text}`
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>')
    .replaceAll(/person-[^"]+@example\.org/g, '<address>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/"(token|join_code)":"[^"]+"/g, '"$1"')
    .replaceAll(/\/join\/[^"]+/g, '/join/<token>')
    .replaceAll(/INV-\d+/g, '<number>');

const told = (field: Field) => `${nameOf(field.route)} ${field.at.join('.')}`;
const faultAt = ({ body }: Answer, at: (string | number)[]) =>
  ((body.detail ?? []) as { loc: unknown[]; type: string }[]).find(({ loc }) => loc.join() === ['body', ...at].join());

describe('a body', () => {
  it('may be empty for a change, which returns 200 and changes nothing', async () => {
    const changes = writes().filter(({ route, schema }) => route.method !== 'POST' && schema.required === undefined);
    expect(changes.map(({ route }) => nameOf(route))).toEqual(
      expect.arrayContaining(['PATCH /v1/blog-posts/{post_id}', 'PATCH /v1/students/{student_id}']),
    );
    const { id, path } = fixtures.a;
    await api.make.query('UPDATE sessions SET tutor_id = $2 WHERE organization_id = $1 AND tutor_id IS NULL', [id, path.tutor_id]);
    for (const { route } of changes) {
      const [empty, object] = [await send(route), await send(route, {})];
      expect([nameOf(route), empty.status, empty.text]).toEqual([nameOf(route), 200, object.text]);
    }
  });

  it('may set any optional field of a POST to null, as if it were left out', async () => {
    // A second removal finds nothing left to end.
    const fields = writes()
      .filter(({ route }) => route.method === 'POST' && !route.path.endsWith('/offboard'))
      .flatMap(({ route, schema }) => fieldsOf(route, schema))
      .filter(({ required }) => !required);
    expect(fields.length).toBeGreaterThan(30);
    const wrong: string[] = [];
    for (const field of fields) {
      const [absent, empty] = [await send(field.route, field.body()), await send(field.route, field.body(null))];
      if (absent.status >= 300 || masked(absent) !== masked(empty)) {
        wrong.push(`${told(field)}\n  ${masked(absent)}\n  ${masked(empty)}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('may not have a phone number without a digit', async () => {
    const phone = 'N/A';
    const fields = writes()
      .flatMap(({ route, schema }) => fieldsOf(route, schema))
      .filter(({ at }) => at.at(-1) === 'phone');
    expect(fields.length).toBeGreaterThan(8);
    for (const field of fields) {
      const answer = await send(field.route, field.body(phone));
      // A row of a bulk invite has errors of its own.
      const row = (answer.body.results as { error: string }[] | undefined)?.[field.at[1] as number]?.error;
      expect([told(field), faultAt(answer, field.at)?.type ?? row]).toEqual([
        told(field),
        row === undefined ? 'string_pattern_mismatch' : expect.stringContaining('Must be a phone number'),
      ]);
    }
  });

  it('of a bulk invite reports overlong texts as errors of their row', async () => {
    const { route, schema } = writes().find((write) => write.route.path === '/v1/users/bulk-invite')!;
    const texts = fieldsOf(route, schema).filter(({ schema: text }) => text.maxLength !== undefined);
    expect(texts.length).toBeGreaterThan(15);
    for (const field of texts) {
      const value = 'x'.repeat((field.schema.maxLength as number) + 1);
      const { status, body } = await send(route, field.body(value));
      expect([told(field), status]).toEqual([told(field), 200]);
      const [, row, ...inRow] = field.at as [string, number, ...string[]];
      const results = body.results as { status: string; error: string | null; id: string | null }[];
      expect(results.map((result) => result.status)).toEqual(results.map((_, at) => (at === row ? 'error' : 'ok')));
      expect(results[row]).toMatchObject({ index: row, id: null, created: null, invited: null });
      expect(results[row]!.error).toBe(`${inRow.join('.')}: Must have at most ${String(field.schema.maxLength)} characters.`);
      expect(body.summary).toMatchObject({ total: 3, ok: 2, errors: 1 });
    }
  });

  it('of a bulk invite is refused as a whole when an overlong text comes with a fault of shape', async () => {
    const { route } = writes().find((write) => write.route.path === '/v1/users/bulk-invite')!;
    const row = { type: 'tutor', first_name: 'Sam', last_name: 'Okafor', phone: '1'.repeat(51), age: 40 };
    const answer = await send(route, { users: [row] });
    expect([answer.status, faultAt(answer, ['users', 0, 'age'])?.type]).toEqual([422, 'extra_forbidden']);
  });
});
