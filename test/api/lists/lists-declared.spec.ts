import sql, { type Sql } from 'sql-template-tag';
import { Vault } from '@app/config';
import type { Database } from '@app/database';
import { operationOf } from '../../../apps/api/src/http/openapi/operation.decorator.js';
import type { Caller } from '../../../apps/api/src/http/auth/caller.js';
import { type List, selectedBy } from '../../../apps/api/src/http/lists/list.js';
import { Records } from '../../../apps/api/src/http/lists/records.js';
import { cursorPage, existenceOf, offsetPage, recordsById } from '../../../apps/api/src/http/lists/statements.js';
import { createFixtures, parametersOf, type OrganizationFixture } from '../../support/data/fixtures.js';
import { TestApi } from '../../support/http/api.js';
import { documentOf, keyedReads, nameOf, queryOf, type Route } from '../../support/http/routes.js';
import { fixture } from '../../support/process/fixture.js';

// Its own database: what other specs put into a catalogue is read by every organization.
const api = await fixture(TestApi.start());
const fixtures = await createFixtures(api);
const document = await documentOf(api);

const listRoutes = (): Route[] => keyedReads(api).filter((route) => queryOf(document, route).has('offset'));

function declared(route: Route): List {
  const list = operationOf(route.handler)?.list;
  if (!list) throw new Error(`${nameOf(route)}: declare the list, and give it to listController in the resource’s table of routes`);
  return list;
}

describe('every list', () => {
  it('has its own id, which distinguishes its cursors', () => {
    const names = listRoutes().map((route) => declared(route).id);
    expect(names.length).toBeGreaterThan(10);
    expect(new Set(names).size).toBe(names.length);
  });

  it('calls its parameters as its peers and its fields do', () => {
    const ALIKE = { duration: 'duration_minutes', subject: 'subject_id' };
    for (const route of keyedReads(api)) {
      const query = queryOf(document, route);
      for (const [short, long] of Object.entries(ALIKE))
        if (query.has(short)) expect([nameOf(route), [...query.keys()]]).toEqual([nameOf(route), expect.arrayContaining([long])]);
      const { list } = operationOf(route.handler) ?? {};
      if (list && 'is_archived' in (list.view.schema.properties as object))
        expect([nameOf(route), query.has('include_archived')]).toEqual([nameOf(route), true]);
    }
  });

  it('has cursors if and only if its order is the default', () => {
    for (const route of listRoutes()) {
      const cursors = declared(route).order === undefined;
      expect([nameOf(route), queryOf(document, route).has('cursor')]).toEqual([nameOf(route), cursors]);
    }
  });

  // Runs as a superuser, who bypasses row-level security, to check the query's own condition.
  it('reads only its organization’s rows', async () => {
    for (const route of listRoutes()) {
      const ids = await pageIds(route, fixtures.a);
      expect([nameOf(route), ids.length]).not.toEqual([nameOf(route), 0]);
      expect([nameOf(route), ids.filter((id) => !fixtures.a.ids.has(id) && !fixtures.shared.has(id))]).toEqual([nameOf(route), []]);
    }
  });
});

describe('a single record', () => {
  it('is limited to its organization under any conditions', async () => {
    const read = async (_caller: unknown, { text, values }: Sql) => [await fixtures.make.query(text, values)];
    const records = new Records({ read } as unknown as Database, api.app.get(Vault));
    for (const route of listRoutes()) {
      const { view, source } = declared(route);
      const get = (caller: Caller) => records.get(caller, { view, source, where: sql`true OR true` });
      await expect(get(callerOf(fixtures.a.id)), nameOf(route)).resolves.toBeDefined();
      await expect(get(callerOf(NOBODY)), nameOf(route)).rejects.toMatchObject({ code: 'not_found' });
    }
  });
});

const NOBODY = '00000000-0000-0000-0000-000000000000';
const scopes: ReadonlySet<string> = new Set();
const callerOf = (organizationId: string) => ({ organizationId, platformBlog: false, scopes }) as Caller;

/** The ids on every kind of page of the list, with a filter that is always true. */
async function pageIds(route: Route, school: OrganizationFixture): Promise<string[]> {
  const caller = callerOf(school.id);
  const list = declared(route);
  const path = Object.fromEntries(parametersOf(route).map((name) => [name, school.path[name]!]));
  const query = Object.assign(new list.query(), { limit: 100 });
  const selected = { ...selectedBy(list, query, caller, path), filters: [sql`true OR true`] };
  const read = async (statement: Sql) => {
    const rows = await fixtures.make.query<{ data: string | null }>(statement.text, statement.values);
    return rows.flatMap(({ data }) => (data ? (JSON.parse(`[${data}]`) as { id: string }[]) : [])).map(({ id }) => id);
  };
  if (selected.within) {
    const within = { ...selected.within, where: sql`true OR true` };
    const statement = existenceOf(callerOf(NOBODY), within);
    expect(await fixtures.make.query(statement.text, statement.values)).toEqual([]);
  }
  const pages = [offsetPage(caller, selected, query)];
  if (!list.order) pages.push(cursorPage(caller, selected, 100, null));
  const everyId = [...fixtures.a.ids, ...fixtures.b.ids];
  return (await Promise.all([...pages, recordsById(caller, selected, everyId)].map(read))).flat();
}
