import { createFixtures } from '../../support/data/fixtures.js';
import { createListFixture, pathAt, rowsAt, rowsFor } from '../../support/data/list-rows.js';
import { Random } from '../../support/data/random.js';
import { TestApi } from '../../support/http/api.js';
import {
  call,
  type DeclaredList,
  declaredLists,
  documentOf,
  keyedReads,
  nameOf,
  operationAt,
  queryOf,
  type Route,
} from '../../support/http/routes.js';

const api = await TestApi.shared();
const { a: full, make } = await createFixtures(api);
const document = await documentOf(api);
const lists = declaredLists(api);

type Fields = Record<string, unknown>;

/** The names of the records' fields that are not nullable in the document. */
function neverNull(route: Route): string[] {
  const { schema } = operationAt(document, route).responses[200]!.content['application/json'];
  const seen = [...JSON.stringify(schema).matchAll(/schemas\/(\w+)/g)].map(([, name]) => document.components.schemas[name!]!);
  const items = seen.flatMap((one) => [...JSON.stringify(one.properties?.data ?? {}).matchAll(/schemas\/(\w+)/g)]);
  const shape = items.length > 0 ? document.components.schemas[items[0]![1]!]! : seen[0]!;
  const fields = Object.entries(shape.properties ?? {});
  return fields.filter(([, { type, oneOf }]) => !oneOf && ![type].flat().includes('null')).map(([name]) => name);
}

/** The fields that are null though the document says that they never are. */
function broken(route: Route, body: unknown): string[] {
  const { data = body } = body as { data?: unknown };
  const records = [data].flat() as Fields[];
  if (records.length === 0) return [`${nameOf(route)} is empty`];
  return neverNull(route).flatMap((name) => (records.some((record) => record[name] === null) ? [`${nameOf(route)} ${name}`] : []));
}

describe('a field that the document says is never null', () => {
  it('has a value in every read of a full organization', async () => {
    const wrong: string[] = [];
    for (const route of keyedReads(api)) {
      const query = queryOf(document, route).has('limit') ? '?limit=100' : '';
      wrong.push(...broken(route, JSON.parse((await call(api, route, full, { query, key: full.platformKey })).text)));
    }
    expect(wrong).toEqual([]);
  });

  it('has a value in every list of records with nothing optional', async () => {
    const random = new Random(1);
    const asked = ({ route }: DeclaredList) => ![...queryOf(document, route).values()].some(({ required }) => required);
    const wrong: string[] = [];
    for (const { route, list } of lists.filter(asked)) {
      const stage = await createListFixture(make, new Date());
      await rowsFor(list).insert(make, stage, rowsAt(['2026-05-01T00:00:00Z', '2026-05-01T01:00:00Z'], random));
      const key = await api.key(stage.school, { platformBlog: true });
      const { status, body } = (await api.get(pathAt(route, stage), key)) as { status: number; body: unknown };
      wrong.push(...(status === 200 ? broken(route, body) : [`${nameOf(route)} ${status}`]));
    }
    expect(wrong).toEqual([]);
  });

  it('is most of what has a value: the fields of sessions that are nullable may be null', () => {
    const route = lists.find(({ list }) => list.id === 'list_sessions')!.route;
    expect(neverNull(route)).toEqual(['id', 'status', 'starts_at', 'ends_at', 'duration_minutes', 'created_at', 'series_detached']);
    const { SessionWritten } = document.components.schemas;
    expect(SessionWritten!.properties!.status!.type).toEqual(['string', 'null']);
  });
});
