import { type Scope, SCOPES } from '@app/access';
import { TestApi } from '../../support/http/api.js';
import { DocumentSchemas } from '../../support/http/document-schemas.js';
import {
  type Answer,
  answerOf,
  call,
  documentOf,
  filtersOf,
  keyedReads,
  keyedRoutes,
  nameOf,
  operationAt,
  queryOf,
  type Route,
  sampleOf,
  type Schema,
} from '../../support/http/routes.js';
import { someOf } from '../../support/fuzz/hostile-client.js';
import { createFixtures, parametersOf, type OrganizationFixture } from '../../support/data/fixtures.js';

const api = await TestApi.shared();
const fixtures = await createFixtures(api);
const document = await documentOf(api);
const schemas = new DocumentSchemas(document);

function faults(route: Route, { status, headers, text }: Answer, query = ''): string[] {
  const name = `${nameOf(route)}${query} ${status}`;
  if (headers['content-type'] !== 'application/json; charset=utf-8') return [`${name} ${headers['content-type']}`];
  const fits = schemas.ofAnswer(route, status);
  return fits(JSON.parse(text)) ? [] : [`${name} ${schemas.ajv.errorsText(fits.errors)}: ${text}`];
}

/** The largest page of at most 100. */
const most = (query: Map<string, Schema>) => Math.min(100, query.get('limit')!.maximum!);

/** Every filter with every kind of value, and both ways to page. */
function queriesOf(route: Route, school: OrganizationFixture): string[] {
  const filters = [...filtersOf(document, route)].flatMap(([name, schema]) => {
    const values = schema.type === 'boolean' ? ['true', 'false'] : schema.enum;
    return (values ?? [sampleOf(name, schema, school)]).map((value) => `?${name}=${String(value)}`);
  });
  const query = queryOf(document, route);
  const pages = query.has('limit') ? ['?limit=1', `?limit=${most(query)}`] : [];
  const offsets = query.has('offset') ? ['?offset=1', '?offset=1000'] : [];
  const start = query.get('cursor')?.examples?.[0] as string | undefined;
  const cursors = start ? [`?cursor=${start}`, `?cursor=${start}&limit=1`] : [];
  return ['', ...filters, ...pages, ...offsets, ...cursors];
}

/** The name of the shape that the route returns, or of its items. */
function shapeOf(route: Route): string {
  const { schema } = operationAt(document, route).responses[200]!.content['application/json'];
  const list = answerOf(document, route).properties?.data;
  const text = JSON.stringify(list?.items ? list : schema);
  return /#\/components\/schemas\/(\w+)/.exec(text)![1]!;
}

describe('every answer', () => {
  it('matches the document, with every filter and in both paging modes', async () => {
    const wrong: string[] = [];
    let answers = 0;
    for (const route of keyedReads(api)) {
      for (const query of queriesOf(route, fixtures.a)) {
        const answer = await call(api, route, fixtures.a, { query, key: fixtures.a.platformKey });
        if (answer.status !== 200) wrong.push(`${nameOf(route)}${query} ${answer.status}`);
        else wrong.push(...faults(route, answer, query));
        answers++;
        const next = (JSON.parse(answer.text) as { meta?: { next_cursor?: string } }).meta?.next_cursor;
        if (!next) continue;
        const second = await call(api, route, fixtures.a, { query: `?limit=1&cursor=${next}`, key: fixtures.a.platformKey });
        wrong.push(...faults(route, second));
      }
    }
    expect(wrong).toEqual([]);
    expect(answers).toBeGreaterThan(100);
  });

  it('shows a value in every field', async () => {
    const { id, path } = fixtures.a;
    const { parent_id: parentId, session_id: sessionId } = path;
    await api.make.payment(id, { parentId: parentId!, reference: 'TERM 2', status: 'canceled', takenBackAt: new Date(), voidReason: 'Typed twice' });
    await api.make.query('UPDATE sessions SET tutor_pay_cents = 5100 WHERE organization_id = $1 AND id = $2', [id, sessionId!]);
    const shown = `app_url = 'https://app.example.org', privacy_url = 'https://example.org/p', postal_address = 'PO Box 1', phone = '1',
      legal_name = 'x', business_number_label = 'ABN', business_number = '1', payment_instructions = 'Cash', pay_url = 'https://example.org', reply_address = 'a@example.org'`;
    await api.make.query(`UPDATE organizations SET ${shown} WHERE id = $1`, [id]);
    for (const table of ['members', 'parents'])
      await api.make.query(`UPDATE ${table} SET billing_name = 'x', billing_address = 'y' WHERE organization_id = $1`, [id]);
    await api.make.query(`UPDATE subjects SET tax = 'free' WHERE organization_id = $1`, [id]);
    const mailed = `snapshot = '{"buyer": {}}', tax_cents = 1, sent_to = 'a@example.org', mailed_at = now()`;
    await api.make.query(`UPDATE invoices SET ${mailed} WHERE organization_id = $1 AND status <> 'draft'`, [id]);
    const taken = `status = 'void', adjustment_note_number = 'ADJ-000001', adjusted_on = now()`;
    await api.make.query(`UPDATE invoices SET ${taken} WHERE id = (SELECT id FROM invoices WHERE organization_id = $1 AND status = 'open' LIMIT 1)`, [
      id,
    ]);
    await api.make.query('UPDATE inbox_messages SET session_id = (SELECT id FROM sessions WHERE organization_id = $1 LIMIT 1) WHERE organization_id = $1', [id]); // prettier-ignore
    const key = await api.key(id, { scopes: Object.keys(SCOPES) as Scope[], platformBlog: true });
    const seen = new Map<string, Set<string>>();
    for (const route of keyedReads(api)) {
      const { text } = await call(api, route, fixtures.a, { query: widest(route), key });
      const body = JSON.parse(text) as Record<string, unknown> & { data?: Record<string, unknown>[] };
      const listed = Array.isArray(body) ? (body as Record<string, unknown>[]) : body.data;
      // An event has a field of this name.
      const records = Array.isArray(listed) ? listed : [body];
      for (const record of records) {
        for (const [field, value] of Object.entries(record)) {
          const kinds = seen.get(`${shapeOf(route)} ${field}`) ?? new Set<string>();
          seen.set(`${shapeOf(route)} ${field}`, kinds.add(value === null ? 'null' : 'value'));
        }
      }
    }
    const never = [...seen].filter(([, kinds]) => !kinds.has('value')).map(([field]) => field);
    // The contract has the first, and nothing here is like it. The others need a routing service.
    expect(never.sort()).toEqual(['Availability schedule_id', 'RecommendedTutor road_km', 'RecommendedTutor road_minutes']);
  });

  /** Everything on one page, and related to a place. */
  function widest(route: Route): string {
    const query = queryOf(document, route);
    const wanted = {
      ...(query.has('limit') && { limit: String(most(query)) }),
      ...Object.fromEntries(['include_voided', 'include_pay'].flatMap((name) => (query.has(name) ? [[name, 'true']] : []))),
      ...(query.has('postcode') && { postcode: fixtures.a.query.postcode!, subject: fixtures.a.query.subject! }),
      // Bounds are shown by sums.
      ...(query.has('from') && !query.has('limit') && { from: '2026-05-01', to: '2026-05-01' }),
    };
    return `?${new URLSearchParams(wanted).toString()}`.replace(/\?$/, '');
  }
});

const expired = await api.key(fixtures.a.id, { expiresAt: new Date(0) });
const revoked = await api.keys.create(fixtures.a.id, { name: 'revoked' });
await api.keys.revokeOf(fixtures.a.id, revoked.id);

describe('every refusal', () => {
  const SHAPES = ['ErrorResponse', 'ExpiredKeyError', 'ValidationError'];
  const reads = keyedReads(api);
  type Wish = { key?: string | null; query?: string; school?: OrganizationFixture };

  const some = (number: number) => someOf(keyedRoutes(api), number, 4, 20);

  it.each<[string, number, Route[], Wish]>([
    ['no key', 401, some(0), { key: null }],
    ['an unknown key', 401, some(1), { key: 'tk_live_unknown' }],
    ['an expired key', 401, some(2), { key: expired }],
    ['a revoked key', 401, some(3), { key: revoked.key }],
    ['an unknown parameter', 422, reads, { query: '?unheard_of=1' }],
    ['a record of another organization', 404, reads.filter((route) => parametersOf(route).length > 0), { school: fixtures.b }],
  ])('for %s (%i) has exactly one of the three shapes, as documented', async (_, status, routes, { school = fixtures.a, ...wish }) => {
    expect(routes.length).toBeGreaterThan(4);
    for (const route of routes) {
      const answer = await call(api, route, school, { key: fixtures.a.key, ...wish });
      expect([nameOf(route), answer.status, faults(route, answer)]).toEqual([nameOf(route), status, []]);
      expect(SHAPES.filter((name) => schemas.ofComponent(name)(JSON.parse(answer.text)))).toHaveLength(1);
    }
  });
});

describe('the schemas', () => {
  it('are closed: no undeclared fields, and none omitted', () => {
    const open: string[] = [];
    // Requests may omit optional fields; answers omit nothing.
    const requests = new Set<string>();
    const ask = (part: unknown): void => {
      for (const [, name] of JSON.stringify(part).matchAll(/#\/components\/schemas\/(\w+)/g)) {
        if (requests.has(name!)) continue;
        requests.add(name!);
        ask(document.components.schemas[name!]);
      }
    };
    for (const route of keyedRoutes(api)) ask(operationAt(document, route).requestBody ?? {});
    // A page has either an offset or a cursor.
    requests.add('PageMeta');
    const visit = (where: string, schema: Schema, asked = requests.has(where)): void => {
      if (schema.properties) {
        // Only records that were masked have this one.
        const names = Object.keys(schema.properties).filter((name) => name !== 'masked');
        const required = (schema.required as string[] | undefined) ?? [];
        if (schema.additionalProperties !== false) open.push(`${where} takes more`);
        const whole = JSON.stringify([...required].sort()) === JSON.stringify(names.sort());
        if (!whole && !asked) open.push(`${where} takes less`);
        for (const [name, property] of Object.entries(schema.properties)) visit(`${where}.${name}`, property, asked);
      }
      if (schema.items) visit(`${where}[]`, schema.items as Schema, asked);
      for (const choice of (schema.oneOf as Schema[] | undefined) ?? []) visit(where, choice, asked);
    };
    for (const [name, schema] of Object.entries(document.components.schemas)) visit(name, schema);
    for (const route of keyedReads(api)) {
      visit(nameOf(route), operationAt(document, route).responses[200]!.content['application/json'].schema);
    }
    expect(open).toEqual([]);
  });
});
