import { AnswerCheck } from '../../support/http/answer-check.js';
import { everyWrite, idsFor, isUpload, operationOf, validWrites } from '../../support/http/record-for.js';
import { keyedRoutes, nameOf } from '../../support/http/routes.js';
import { bodiesOf, fieldsOfBody, idFieldsOf, OPAQUE, valueAt } from '../../support/http/valid-bodies.js';
import type { Factories } from '../../support/data/factories.js';
import type { OrganizationFixture } from '../../support/data/fixtures.js';
import { TenancySweep } from '../../support/http/tenancy-sweep.js';

/** With row-level security off, only the WHERE clauses keep organizations apart, so a statement that forgets its organization fails. */
describe.each([
  ['on', true],
  ['off', false],
])('with row-level security %s', (_, rowSecurity) => {
  let sweep: TenancySweep;
  beforeAll(async () => {
    sweep = await TenancySweep.open({ rowSecurity });
  });
  afterAll(() => sweep.stop());

  it('a write that names another organization’s record is answered as if it did not exist, and changes nothing', async () => {
    const { cells, wrong } = await sweep.foreignWrites(everyWrite(sweep.api));
    expect(wrong).toEqual([]);
    expect(cells).toBeGreaterThan(300);
  });

  // Under row-level security, every other sweep of valid writes runs.
  if (rowSecurity) return;

  it('each write works for its owner as documented, and touches no other organization’s rows', async () => {
    const {
      api,
      fixtures: { make },
    } = sweep;
    const wrong: string[] = [];
    const check = new AnswerCheck(keyedRoutes(api));
    for (const { own, foreign } of sweep.views()) {
      const writes = await validWrites(
        everyWrite(api).filter((route) => !isUpload(route)),
        make,
        own,
      );
      const before = await rowsOf(make, foreign);
      for (const write of writes) {
        const { status, text, headers } = await sweep.write(write, own);
        const { route, operation } = write;
        if (status >= 300) wrong.push(`${nameOf(route)} ${status} ${text}: give it a record in test/support/http/record-for.ts`);
        wrong.push(...check.faults({ status, headers, body: text }, operation));
        for (const other of foreign) {
          const leaked = [other.id, ...other.ids].filter((id) => text.includes(id));
          if (leaked.length > 0) wrong.push(`${nameOf(route)} shows ${leaked.join(', ')}`);
        }
      }
      expect(await rowsOf(make, foreign)).toEqual(before);
    }
    expect(wrong).toEqual([]);
  });

  it('the requests have an id in every field for one', () => {
    const { api, fixtures } = sweep;
    const fields = everyWrite(api).flatMap((route) => idFieldsOf(route).map((at) => ({ route, at })));
    const without = fields.filter(({ route, at }) => bodiesOf(route, idsFor(route, fixtures.a)).every((body) => valueAt(body, at) === undefined));
    expect(without.map(({ route, at }) => `${operationOf(route)} ${at.join('.')}`)).toEqual([]);
    expect(fields.length).toBeGreaterThan(8);
  });

  it('an id that is nobody’s says that it is the caller’s own', () => {
    const fields = everyWrite(sweep.api).flatMap((route) =>
      fieldsOfBody(route).map(([name, schema]) => ({ at: `${operationOf(route)} ${name}`, name, schema })),
    );
    const opaque = fields.filter(({ name }) => OPAQUE.includes(name));
    expect(opaque.filter(({ schema }) => !String(schema.description).includes('your own')).map(({ at }) => at)).toEqual([]);
    expect(opaque.length).toBeGreaterThan(6);
  });
});

/** Every row that names one of the organizations, in every table that can, except the audit log and API keys. */
async function rowsOf(make: Factories, schools: OrganizationFixture[]): Promise<Record<string, string>> {
  const tables = await make.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns WHERE table_schema = 'public'
      AND column_name = 'organization_id' AND table_name NOT IN ('audit_log', 'api_keys') ORDER BY 1`,
  );
  expect(tables.length).toBeGreaterThan(20);
  const rows: Record<string, string> = {};
  for (const { name } of tables) {
    const [row] = await make.query<{ sum: string }>(
      `SELECT count(*) || ' ' || coalesce(md5(string_agg(t::text, '|' ORDER BY t::text)), '') AS sum
        FROM ${name} t WHERE organization_id = ANY ($1)`,
      [schools.map(({ id }) => id)],
    );
    rows[name] = row!.sum;
  }
  return rows;
}
