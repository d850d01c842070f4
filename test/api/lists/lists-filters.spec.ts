import { v7 as uuidv7 } from 'uuid';
import type { Comparison } from '../../../apps/api/src/http/lists/filters.js';
import type { Parameter } from '../../../apps/api/src/http/lists/parameters.js';
import { idOrCode } from '@app/fields';
import type { Column } from '../../support/database/columns.js';
import {
  createListFixture, type ListFixture, modeOf, partIn, pathAt, rowsAt, rowsFor, tableOf, TAUGHT, teaches,
} from '../../support/data/list-rows.js'; // prettier-ignore
import { Random } from '../../support/data/random.js';
import type { Row } from '../../support/data/sample-rows.js';
import { TestApi } from '../../support/http/api.js';
import { declaredLists, type DeclaredList, nameOf, type Schema } from '../../support/http/routes.js';
import { someOf } from '../../support/fuzz/hostile-client.js';
import { fixture } from '../../support/process/fixture.js';

type Stored = string | number | boolean | null;
/** A record of a list, as its driving table has it. */
type Found = Record<string, Stored> & { id: string };

const DAY = 86_400_000;
const yes = (value: string): boolean => value === 'true' || value === '1';
const since = (stored: Stored, value: string) => stored !== null && Date.parse(String(stored)) >= Date.parse(value);
/** The last millisecond of an upper bound. A day counts in full. */
const endOf = (value: string) => Date.parse(value) + (value.includes('T') ? 0 : DAY - 1);
const until = (stored: Stored, value: string) => stored !== null && Date.parse(String(stored)) <= endOf(value);

/** Whether a record with this in the column belongs in the list with this value of the parameter. */
const MATCHES: Record<Comparison, (stored: Stored, value: string) => boolean> = {
  equals: (stored, value) =>
    typeof stored === 'boolean' ? stored === yes(value) : typeof stored === 'number' ? stored === Number(value) : stored === value,
  since,
  until,
  sinceDay: since,
  untilDay: until,
  only: (stored, value) => !yes(value) || stored === true,
  without: (stored, value) => yes(value) || stored === false,
};

/** Whoever has accepted is found by the address of their login, which has their id. */
function found({ accepted_at, user_id }: Found, value: string): boolean {
  return accepted_at !== null && `${String(user_id).replaceAll('-', ' ')}@example.org`.includes(value);
}

/** The same for parameters with a condition of their own. */
const OTHERS: Record<string, (record: Found, value: string, stage: ListFixture) => boolean> = {
  'list_students search': found,
  'list_tutors search': found,
  'list_parents search': found,
  'list_request_log status': ({ status }, value) => (value.endsWith('xx') ? String(status)[0] === value[0] : String(status) === value),
  'list_questions source': ({ catalogue }, value) => (catalogue ?? 'own') === value,
  'list_questions curriculum_level_id': ({ curriculum_level_ids: levels }, value) => (levels as unknown as string[]).includes(value),
  'list_sessions student_id': ({ id }, value, { student }) => value === student && partIn(id) === 'accepted',
  'list_tutors subject_id': ({ id }, value) => value === TAUGHT && teaches(id),
  'list_coverage_tutors subject_id': ({ id }, value) => value === TAUGHT && teaches(id),
  'list_coverage_tutors subject': ({ id }, value) => value === TAUGHT && teaches(id),
  'list_coverage_tutors mode': ({ id }, value) => {
    const mode = modeOf(id);
    return value === 'either' ? mode !== null : mode === 'both' || mode === value;
  },
  'list_blog_posts target': ({ organization_id }, value) => (organization_id === null) === (value === 'platform'),
};

/** Days whose first and last milliseconds are times of rows. */
const DATES = [
  '2026-05-01', '2026-05-02', '2026-05-02T00:00:00.000Z', '2026-05-02T23:59:59.999Z', '2026-05-03T00:00:00Z',
  '2026-05-03T09:30:00+09:30', '2026-05-02T12:00-12:00', '2020-02-29', '9999-12-31',
]; // prettier-ignore
const INSTANTS = [
  '2026-05-01T23:59:59.999Z', '2026-05-02T00:00:00.000Z', '2026-05-02T23:59:59.999Z', '2026-05-03T00:00:00.000Z',
]; // prettier-ignore
const ROWS = 40;
/** A CHECK, a unique index or an exclusion refuses this combination of values. */
const REFUSED = ['23514', '23505', '23P01'];

const random = new Random(3);
const api = await fixture(TestApi.start());
const { make } = api;

interface Filled extends DeclaredList {
  stage: ListFixture;
  name: string;
  key: string;
  path: string;
  /** All records, those that are hidden by default included, in the order of the list. */
  all: Found[];
  /** The ids of what they refer to, by code. */
  codes: Map<string, string>;
}

const lists: Filled[] = [];
for (const declared of declaredLists(api)) if (declared.list.parameters.length > 0) lists.push(await filled(declared));

/** Fills the list with rows that have random values in the columns with which its parameters compare. */
async function filled({ route, list }: DeclaredList): Promise<Filled> {
  const stage = await createListFixture(make, new Date('2026-05-01T00:00:00Z'));
  const pools = await poolsFor({ route, list }, stage);
  let [stored, refusal]: [number, unknown] = [0, undefined];
  for (let drawn = 0; stored < ROWS && drawn < 10 * ROWS; drawn++) {
    const values = pools.map(({ name, nullable, pool }) => [name, nullable && random.chance(0.2) ? null : random.pick(pool)]);
    const [row] = rowsAt([random.pick(INSTANTS)], random);
    try {
      await rowsFor(list).insert(make, stage, [{ ...row!, values: Object.fromEntries(values) as Row }]);
      stored++;
    } catch (error) {
      if (!REFUSED.includes((error as { code: string }).code)) throw error;
      refusal = error;
    }
  }
  if (stored === 0) throw new Error(`${list.id}: give its rows what they need, in list-rows.ts`, { cause: refusal });
  const key = await api.key(stage.school, { platformBlog: true });
  const some = { route, list, stage, name: nameOf(route), key, path: pathAt(route, stage), all: [], codes: await codesOf(list, stage) };
  const hidden = list.parameters.filter(({ comparison }) => comparison === 'without');
  const { ids } = await read(some, new Map(hidden.map(({ name }) => [name, 'true'])));
  const { source } = list;
  const rows = await make.query<{ id: string; row: Found }>(
    `SELECT ${source.id} AS id, to_jsonb(${source.alias}) AS row FROM ${source.table.sql} WHERE ${source.id} = ANY ($1)`,
    [ids],
  );
  const byId = new Map(rows.map(({ id, row }) => [id, { ...row, id }]));
  return { ...some, all: ids.map((id) => byId.get(id)!) };
}

/** The ids that parameters take codes for. */
async function codesOf(list: DeclaredList['list'], { school }: ListFixture): Promise<Map<string, string>> {
  const coded = list.parameters.filter(({ kind }) => kind === idOrCode).map(({ column }) => column);
  const columns = make.samples.columns(tableOf(list)).filter(({ name }) => coded.includes(name));
  const read = ({ reference }: Column) =>
    make.query<{ code: string; id: string }>(`SELECT code, id FROM ${reference!.table} WHERE organization_id = $1`, [school]);
  return new Map((await Promise.all(columns.map(read))).flat().map(({ code, id }) => [code, id]));
}

type Pool = Column & { pool: readonly unknown[] };

/** What the columns of the parameters may hold. */
async function poolsFor({ list }: DeclaredList, stage: ListFixture): Promise<Pool[]> {
  const { school, session } = stage;
  const [tutors, students] = [[stage.tutor], [stage.student]];
  for (let n = 0; n < 2; n++) {
    tutors.push((await make.tutor(school)).id);
    const { id: studentId } = await make.student(school);
    students.push(studentId);
    await make.session(school, { studentId });
  }
  const known = { organization_id: school, tutor_id: stage.tutor, student_id: stage.student, session_id: session };

  async function idsOf({ name, reference }: Column): Promise<unknown[]> {
    if (name.endsWith('tutor_id')) return tutors;
    if (name.endsWith('student_id')) return students;
    if (!reference) return [uuidv7(), uuidv7(), uuidv7()];
    const rows = await make.insert(reference.table, Array<Row>(12).fill({}), known);
    return rows.map((row) => row[reference.column]);
  }

  async function poolOf(column: Column, schema: Schema): Promise<readonly unknown[]> {
    const { minimum = 0, maximum = minimum + 3 } = schema;
    if (schema.enum) return schema.enum;
    if (column.type === 'boolean') return [true, false];
    if (column.type === 'date') return INSTANTS.map((instant) => instant.slice(0, 10));
    if (column.type.startsWith('timestamp')) return INSTANTS;
    if (column.type === 'uuid') return idsOf(column);
    if (schema.type === 'integer') return [minimum, maximum];
    return schema.examples ?? ['Algebra', 'Ratios', 'Chance'];
  }

  const columns = make.samples.columns(tableOf(list));
  const pools = list.parameters.map(async ({ column: compared, kind }) => {
    const column = columns.find(({ name, generated }) => name === compared && name !== 'created_at' && !generated);
    return column && { ...column, pool: await poolOf(column, kind.schema) };
  });
  return (await Promise.all(pools)).filter((pool) => pool !== undefined);
}

type Given = ReadonlyMap<string, string>;

type Page = { data: Found[]; meta?: { total?: number; next_cursor?: string | null } };

async function read({ path, key, list }: Filled, given: Given, paging = list.bare === 'data' ? '' : `limit=${list.sizes?.most ?? 100}`) {
  const query = [paging, ...[...given].map(([name, value]) => `${name}=${encodeURIComponent(value)}`)].join('&');
  const answer = await api.get(`${path}?${query}`, key);
  if (answer.status !== 200) throw new Error(`${path}?${query} ${answer.status} ${answer.text}`);
  const body = answer.body as Page | Found[];
  const { data, meta = {} }: Page = Array.isArray(body) ? { data: body } : body;
  return { ids: data.map(({ id }) => id), meta };
}

/** Whether the parameter's value leaves a record in the list; null if it never narrows the list. */
function narrows({ list, stage, codes }: Filled, parameter: Parameter) {
  const { name, column, kind } = parameter;
  const other = OTHERS[`${list.id} ${name}`];
  if (other) return (record: Found, value: string) => other(record, value, stage);
  if (parameter.where && !column) throw new Error(`Say in OTHERS which records "${name}" of ${list.id} leaves`);
  const idOf = (value: string) => (kind === idOrCode && codes.get(value)) || value;
  const comparison = parameter.comparison ?? (parameter.where && 'equals');
  return comparison ? (record: Found, value: string) => MATCHES[comparison](record[column!] ?? null, idOf(value)) : null;
}

/** Values to send: those of records, and others. */
function valuesOf({ all, codes, stage }: Filled, { name, kind, column, comparison }: Parameter): string[] {
  const { schema } = kind;
  // Names of samples begin like new ids.
  if (name === 'search')
    return [
      ...all
        .filter(({ id }) => !id.startsWith('01'))
        .slice(0, 5)
        .map(({ id }) => id.slice(0, 8)),
      'nobody',
    ];
  if (schema.type === 'boolean') return ['true', 'false', '1', '0'];
  if (schema.enum) return schema.enum as string[];
  if (comparison && comparison !== 'equals') return DATES;
  const stored = column ? all.map((record) => record[column] ?? null).filter((value) => value !== null) : [];
  const examples = (schema.examples as string[] | undefined) ?? [];
  const others =
    schema.format === 'uuid' ? [uuidv7(), stage.tutor, stage.student, stage.session]
    : schema.type === 'integer' ? stored.map((value) => `0${value}`)
    : kind === idOrCode ? [...codes.keys(), ...examples]
    : examples; // prettier-ignore
  return [...new Set([...stored.map(String), ...others])];
}

/** The records that the list must show: those that match every parameter, given or by default. */
function expected(filled: Filled, given: Given): string[] {
  const filters = filled.list.parameters.flatMap((parameter) => {
    const byDefault = parameter.default as string | number | boolean | undefined;
    const value = given.get(parameter.name) ?? byDefault?.toString();
    const matches = narrows(filled, parameter);
    return value === undefined || !matches ? [] : [(record: Found) => matches(record, value)];
  });
  return filled.all.filter((record) => filters.every((matches) => matches(record))).map(({ id }) => id);
}

/** @returns whether the list showed some records and not others */
async function check(filled: Filled, given: Given): Promise<boolean> {
  const { ids, meta } = await read(filled, given);
  const wanted = expected(filled, given);
  const told = `${filled.name} ${JSON.stringify([...given])}`;
  expect([told, ids, meta.total]).toEqual([told, wanted, filled.list.total && wanted.length]);
  return ids.length > 0 && ids.length < filled.all.length;
}

describe('a filter', () => {
  it('compares with the column of its name, if there is one', () => {
    const wrong = lists.flatMap(({ list, name }) => {
      const columns = make.samples.columns(tableOf(list)).map((column) => column.name);
      const named = list.parameters.filter((parameter) => parameter.column && columns.includes(parameter.name));
      return named.filter((parameter) => parameter.column !== parameter.name).map((one) => `${name} ${one.name}`);
    });
    expect(wrong).toEqual([]);
  });

  it('returns exactly the matching records, in the order of the list, and their total, for every value', async () => {
    const unproven: string[] = [];
    for (const filled of lists) {
      for (const parameter of filled.list.parameters) {
        const values = valuesOf(filled, parameter);
        const cut: boolean[] = [];
        for (const value of values) cut.push(await check(filled, new Map([[parameter.name, value]])));
        // Each filter kept some records and not others, except those that only change the wording.
        if (narrows(filled, parameter) && !cut.includes(true)) unproven.push(`${filled.name} ${parameter.name}`);
      }
    }
    expect(lists.length).toBeGreaterThan(5);
    expect(unproven).toEqual([]);
  });

  it('can be combined with others', async () => {
    let both = 0;
    for (const filled of lists.filter(({ list }) => list.parameters.length > 1)) {
      for (let n = 0; n < 12; n++) {
        const chosen = filled.list.parameters.filter(() => random.chance(0.5));
        const given = new Map(chosen.map((parameter) => [parameter.name, random.pick(valuesOf(filled, parameter))]));
        const impossible = chosen.some(({ name, from }) => {
          const start = from && given.get(from);
          return start && Date.parse(start) > endOf(given.get(name)!);
        });
        if (!impossible && (await check(filled, given)) && chosen.length > 1) both++;
      }
    }
    expect(both).toBeGreaterThan(20);
  });

  it('applies to every page in cursor mode', async () => {
    for (const filled of lists.filter(({ list }) => list.order === undefined && list.bare === undefined)) {
      for (const parameter of filled.list.parameters) {
        const given = new Map([[parameter.name, random.pick(valuesOf(filled, parameter))]]);
        const seen: string[] = [];
        for (let cursor: string | null | undefined = 'start'; cursor;) {
          const page = await read(filled, given, `limit=15&cursor=${cursor}`);
          seen.push(...page.ids);
          cursor = page.meta.next_cursor;
        }
        expect([filled.name, given, seen]).toEqual([filled.name, given, expected(filled, given)]);
      }
    }
  });

  it.each([
    [422, '2026-05-02', '2026-05-01', 0],
    [422, '2026-05-02', '2026-05-01T23:59:59.999Z', 1],
    [422, '2026-05-02T00:00:00Z', '2026-05-01', 2],
    [422, '2026-05-01T00:00:00-01:00', '2026-05-01T00:59:00Z', 3],
    [200, '2026-05-01', '2026-05-01', 4],
    [200, '2026-05-01T23:59:59.999Z', '2026-05-01', 5],
    [200, '2026-05-01T12:00Z', '2026-05-01T12:00Z', 6],
    [200, '2026-05-01T00:00:00+01:00', '2026-04-30', 7],
  ] as const)('that ends before it begins is refused (%i: %s to %s)', async (wanted, begin, end, number) => {
    const ranges = lists.flatMap((filled) => filled.list.parameters.filter(({ from }) => from).map((to) => ({ ...filled, to })));
    expect(ranges.length).toBeGreaterThan(2);
    for (const { path, key, to } of someOf(ranges, number, 8, 6)) {
      const [from, until] = [begin, end].map(encodeURIComponent);
      const answer = await api.get(`${path}?${to.from!}=${from}&${to.name}=${until}`, key);
      expect([path, answer.status]).toEqual([path, wanted]);
      if (wanted === 422) expect(answer.body).toMatchObject({ detail: [{ loc: ['query', to.name], type: 'value_error' }] });
    }
  });
});
