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
  send,
} from '../../support/http/routes.js';
import { createFixtures, parametersOf, pathOf, type OrganizationFixture } from '../../support/data/fixtures.js';
import { fixture } from '../../support/process/fixture.js';

const api = await fixture(TestApi.start());
const fixtures = await createFixtures(api);
const document = await documentOf(api);
const schemas = new DocumentSchemas(document);

function faults(route: Route, { status, headers, text }: Answer, query = ''): string[] {
  const name = `${nameOf(route)}${query} ${status}`;
  if (headers['content-type'] !== 'application/json; charset=utf-8') return [`${name} ${headers['content-type']}`];
  const fits = schemas.ofAnswer(route, status);
  return fits(JSON.parse(text)) ? [] : [`${name} ${schemas.ajv.errorsText(fits.errors)}: ${text}`];
}

/** Every filter with every kind of value, and both ways to page. */
function queriesOf(route: Route, school: OrganizationFixture): string[] {
  const filters = [...filtersOf(document, route)].flatMap(([name, schema]) => {
    const values = schema.type === 'boolean' ? ['true', 'false'] : schema.enum;
    return (values ?? [sampleOf(name, schema, school)]).map((value) => `?${name}=${String(value)}`);
  });
  const query = queryOf(document, route);
  const pages = query.has('limit') ? ['?limit=1', '?limit=100', '?offset=1', '?offset=1000'] : [];
  const cursors = query.has('cursor') ? ['?cursor=start', '?cursor=start&limit=1'] : [];
  return ['', ...filters, ...pages, ...cursors];
}

/** The name of the shape that the route returns, or of its items. */
function shapeOf(route: Route): string {
  const { schema } = operationAt(document, route).responses[200]!.content['application/json'];
  const text = JSON.stringify(answerOf(document, route).properties?.data ?? schema);
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
        const second = await call(api, route, fixtures.a, {
          query: `?limit=1&cursor=${next}`,
          key: fixtures.a.platformKey,
        });
        wrong.push(...faults(route, second));
      }
    }
    expect(wrong).toEqual([]);
    expect(answers).toBeGreaterThan(100);
  });

  it('shows a value in every field', async () => {
    const seen = new Map<string, Set<string>>();
    for (const route of keyedReads(api)) {
      const { text } = await call(api, route, fixtures.a, { query: widest(route), key: fixtures.a.platformKey });
      const body = JSON.parse(text) as Record<string, unknown> & { data?: Record<string, unknown>[] };
      const records = Array.isArray(body) ? (body as Record<string, unknown>[]) : (body.data ?? [body]);
      for (const record of records) {
        for (const [field, value] of Object.entries(record)) {
          const kinds = seen.get(`${shapeOf(route)} ${field}`) ?? new Set<string>();
          seen.set(`${shapeOf(route)} ${field}`, kinds.add(value === null ? 'null' : 'value'));
        }
      }
    }
    const never = [...seen].filter(([, kinds]) => !kinds.has('value')).map(([field]) => field);
    // These fields require a place, which these lists do not have.
    expect(never).toEqual(['Tutor distance_km', 'Tutor covers_area']);
  });

  /** Everything on one page. */
  function widest(route: Route): string {
    const query = queryOf(document, route);
    const voided = query.has('include_voided') ? '&include_voided=true' : '';
    return query.has('limit') ? `?limit=100${voided}` : '';
  }

  it('would not match with an extra or missing field, or with null where it is not allowed', async () => {
    let mutants = 0;
    for (const route of keyedReads(api)) {
      const { text } = await call(api, route, fixtures.a, { key: fixtures.a.platformKey });
      const fits = schemas.ofAnswer(route, 200);
      const original = JSON.stringify(JSON.parse(text));
      const record = (body: unknown): Record<string, unknown> =>
        (
          (Array.isArray(body) ? body : ((body as { data?: unknown[] }).data ?? [body])) as Record<string, unknown>[]
        )[0]!;
      const mutate = (change: (fields: Record<string, unknown>) => void): unknown => {
        const body = JSON.parse(original) as unknown;
        change(record(body));
        return body;
      };
      expect([nameOf(route), fits(mutate((fields) => (fields.unheard_of = 1)))]).toEqual([nameOf(route), false]);
      for (const field of Object.keys(record(JSON.parse(original)))) {
        const without = mutate((fields) => {
          // eslint-disable-next-line @typescript-eslint/no-dynamic-delete
          delete fields[field];
        });
        expect([nameOf(route), field, fits(without)]).toEqual([nameOf(route), field, false]);
        mutants++;
      }
      // The first field is an id or a name, except where everything may be null.
      if (shapeOf(route) === 'OrgJoinLink') continue;
      expect([nameOf(route), fits(mutate((fields) => (fields[Object.keys(fields)[0]!] = null)))]).toEqual([
        nameOf(route),
        false,
      ]);
    }
    expect(mutants).toBeGreaterThan(150);
  });
});

describe('every refusal', () => {
  const codes: [string, number, (route: Route) => Promise<Answer | null>][] = [
    ['no key', 401, (route) => call(api, route, fixtures.a, { key: null })],
    ['an unknown key', 401, (route) => call(api, route, fixtures.a, { key: 'tk_live_unknown' })],
    [
      'an expired key',
      401,
      async (route) => call(api, route, fixtures.a, { key: await api.key(fixtures.a.id, { expiresAt: new Date(0) }) }),
    ],
    [
      'a revoked key',
      401,
      async (route) => {
        const { id, key } = await api.keys.create(fixtures.a.id, { name: 'revoked' });
        await api.keys.revoke(id);
        return call(api, route, fixtures.a, { key });
      },
    ],
    [
      'a key without the scope',
      403,
      async (route) => {
        const read = route.access?.public === false && route.access.scopes.includes('read');
        return call(api, route, fixtures.a, {
          key: await api.key(fixtures.a.id, { scopes: [read ? 'blog:write' : 'read'] }),
        });
      },
    ],
    [
      'an unknown parameter',
      422,
      (route) =>
        route.method === 'GET' ? call(api, route, fixtures.a, { query: '?unheard_of=1' }) : Promise.resolve(null),
    ],
    [
      'a record of another organization',
      404,
      (route) =>
        route.method === 'GET' && parametersOf(route).length > 0
          ? send(api, 'GET', pathOf(route, fixtures.b), { Authorization: `Token token=${fixtures.a.key}` })
          : Promise.resolve(null),
    ],
  ];

  it.each(codes)('for %s (%i) has exactly one of the three shapes, as documented', async (_, status, provoke) => {
    let answers = 0;
    for (const route of keyedRoutes(api)) {
      const answer = await provoke(route);
      if (!answer) continue;
      expect([nameOf(route), answer.status, faults(route, answer)]).toEqual([nameOf(route), status, []]);
      expect(errorShapes(answer)).toHaveLength(1);
      answers++;
    }
    expect(answers).toBeGreaterThan(4);
  });

  it('for too many requests (429) does, too', async () => {
    const strict = await TestApi.start({ RATE_LIMIT_PER_MINUTE: '1' }, api.database);
    for (const route of keyedRoutes(strict)) {
      const key = await strict.key(fixtures.a.id);
      await call(strict, route, fixtures.a, { key });
      const answer = await call(strict, route, fixtures.a, { key });
      expect([nameOf(route), answer.status, faults(route, answer)]).toEqual([nameOf(route), 429, []]);
      expect(errorShapes(answer)).toEqual(['ErrorResponse']);
    }
    await strict.close();
  });

  it('for an unknown path or method (404, 405) has the standard shape', async () => {
    expect(errorShapes(await send(api, 'GET', '/v1/unheard-of'))).toEqual(['ErrorResponse']);
    expect(errorShapes(await send(api, 'PROPFIND', '/v1/ping'))).toEqual(['ErrorResponse']);
  });

  function errorShapes({ text }: Answer): string[] {
    const shapes = ['ErrorResponse', 'ExpiredKeyError', 'ValidationError'];
    return shapes.filter((name) => schemas.ofComponent(name)(JSON.parse(text)));
  }
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
        const names = Object.keys(schema.properties);
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
