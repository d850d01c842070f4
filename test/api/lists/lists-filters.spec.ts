import { v7 as uuidv7 } from 'uuid';
import { TestApi } from '../../support/http/api.js';
import { Random } from '../../support/data/random.js';
import type { Row } from '../../support/data/sample-rows.js';
import { tableOf } from '../../support/data/list-rows.js';
import {
  documentOf,
  filtersOf,
  filteredLists,
  nameOf,
  newestFirstLists,
  operationAt,
  queryOf,
  type Route,
  type Schema,
} from '../../support/http/routes.js';
import { fixture } from '../../support/process/fixture.js';

type Found = Row & { id: string };
/** Whether a record belongs in the list with this value of the filter. */
type Narrows = (record: Found, value: string) => boolean;

const DAY = 86_400_000;
const yes = (value: string): boolean => value === 'true' || value === '1';
const since =
  (field: string): Narrows =>
  (record, value) =>
    record[field] !== null && Date.parse(record[field] as string) >= Date.parse(value);
const until =
  (field: string): Narrows =>
  (record, value) =>
    record[field] !== null &&
    Date.parse(record[field] as string) <= Date.parse(value) + (value.includes('T') ? 0 : DAY - 1);

/** Filters that are not simply the field of their own name, or a range of `created_at`. */
const NARROWS: Record<string, Narrows> = {
  'list_session_feedback public_only': (record, value) => !yes(value) || record.is_public === true,
  'list_session_feedback anonymize': () => true,
  'list_tutor_reviews anonymize': () => true,
  'list_adjustments include_voided': (record, value) => yes(value) || record.voided === false,
  'list_adjustments from': since('period_start'),
  'list_adjustments to': until('period_start'),
  'list_results from': since('completed_at'),
  'list_results to': until('completed_at'),
  'list_request_log status': ({ status }, value) =>
    value.endsWith('xx') ? String(status)[0] === value[0] : String(status) === value,
};

/** Lists of people, of rows that others decide about, and of rows whose filters have no closed set of values. */
const OWN_ROWS = new Set([
  'list_students', 'list_parents', 'list_tutors', 'list_session_feedback', 'list_tutor_reviews', 'list_adjustments',
  'list_request_log',
]); // prettier-ignore

/** Days whose first and last milliseconds are times of rows. */
const DATES = [
  '2026-05-01',
  '2026-05-02',
  '2026-05-02T00:00:00.000Z',
  '2026-05-02T23:59:59.999Z',
  '2026-05-03T00:00:00Z',
  '2026-05-03T09:30:00+09:30',
  '2026-05-02T12:00-12:00',
  '2020-02-29',
  '9999-12-31',
];
const INSTANTS = [
  '2026-05-01T23:59:59.999Z',
  '2026-05-02T00:00:00.000Z',
  '2026-05-02T23:59:59.999Z',
  '2026-05-03T00:00:00.000Z',
];
let key: string;
let tutors: string[];
let students: string[];
let keyIds: string[];
const random = new Random(3);

const api = await fixture(TestApi.start());
const { make } = api;
const document = await documentOf(api);
await fill();

/** A row with random values in the columns that filters use. */
function randomRow(table: string): Row {
  const values = make.samples.columns(table).flatMap((column): [string, unknown][] => {
    const { name, type, nullable, generated } = column;
    if (generated) return [];
    const value =
      name === 'tutor_id' ? random.pick(tutors)
      : name === 'student_id' ? random.pick(students)
      : column.values ? random.pick(column.values)
      : type === 'boolean' ? random.chance(0.5)
      : type.startsWith('timestamp') ? random.pick(INSTANTS)
      : undefined; // prettier-ignore
    return value === undefined ? [] : [[name, nullable && random.chance(0.2) ? null : value]];
  });
  return Object.fromEntries(values);
}

/** Some sixty rows for every list, with values combined at random. */
async function fill(): Promise<void> {
  const { id: school } = await make.organization();
  key = await api.key(school, { platformBlog: true });
  const subject = await make.subject(school);
  const people = await Promise.all([0, 1, 2].map((n) => make.tutor(school, { profile: { isPublished: n > 0 } })));
  tutors = people.map(({ id }) => id);
  students = (await Promise.all([0, 1, 2].map(() => make.student(school)))).map(({ id }) => id);
  for (const student of students) await make.session(school, { studentId: student, subjectId: subject.id });
  keyIds = [0, 1, 2].map(() => uuidv7());
  const organization_id = school;
  const tables = newestFirstLists(api)
    .filter(({ id }) => !OWN_ROWS.has(id))
    .map(tableOf);
  for (let n = 0; n < 60; n++) {
    const [tutorId, studentId] = [random.pick(tutors), random.pick(students)];
    await make.feedback(school, tutorId, { isPublic: random.chance(0.5), comment: 'Good', reviewerId: studentId });
    const day = random.pick(INSTANTS).slice(0, 10);
    await make.adjustment(school, tutorId, { voided: random.chance(0.3), periodStart: day, periodEnd: '2026-06-01' });
    for (const table of tables) await make.insert(table, [randomRow(table)], { organization_id, assigned_by: tutorId });
    await make.loggedRequest(school, {
      apiKeyId: random.pick(keyIds),
      method: random.pick(['GET', 'POST', 'PATCH']),
      route: random.pick(['/v1/students', '/v1/students/{student_id}', null]),
      status: random.pick([200, 204, 404, 422, 500]),
      createdAt: new Date(random.pick(INSTANTS)),
    });
    await make.conversation({
      type: random.pick(['direct', 'triad', 'group', 'classroom_feed'] as const),
      participants: [tutorId],
    });
    await make.post(random.chance(0.5) ? school : null, {
      brand: random.pick(['primary', 'secondary']),
      status: random.pick(['draft', 'published'] as const),
    });
  }
}

const lists = (): Route[] => filteredLists(api, document);

async function read(route: Route, query: string[]): Promise<Found[]> {
  const path = route.path.replace(':tutor_id', tutors[0]!);
  const answer = await api.get(`${path}?${['limit=100', ...query].join('&')}`, key);
  if (answer.status !== 200) throw new Error(`${path}?${query.join('&')} ${answer.status} ${answer.text}`);
  const body = answer.body as Found[] | { data: Found[] };
  return Array.isArray(body) ? body : body.data;
}

/** All records of the list, with those that are hidden by default. */
function everything(route: Route): Promise<Found[]> {
  return read(route, filtersOf(document, route).has('include_voided') ? ['include_voided=true'] : []);
}

function valuesOf(name: string, schema: Schema): string[] {
  if (schema.type === 'boolean') return ['true', 'false', '1', '0'];
  if (schema.enum) return schema.enum as string[];
  if (name === 'brand') return ['primary', 'secondary'];
  if (name === 'from' || name === 'to') return DATES;
  if (name === 'tutor_id') return tutors;
  if (name === 'student_id') return students;
  if (name === 'api_key_id') return keyIds;
  if (name === 'route') return ['/v1/students', '/v1/students/{student_id}', '/v1/nothing'];
  if (name === 'status') return ['200', '404', '2xx', '4xx', '5xx'];
  throw new Error(`Give the filter "${name}" values in valuesOf`);
}

/** Whether the range ends before it begins, which is refused. */
function endsBeforeItBegins(given: Map<string, string>): boolean {
  const [from, to] = [given.get('from'), given.get('to')];
  return from !== undefined && to !== undefined && Date.parse(from) > Date.parse(to) + (to.includes('T') ? 0 : DAY - 1);
}

function narrowsOf(route: Route, name: string, [sample]: Found[]): Narrows {
  const special = NARROWS[`${operationAt(document, route).operationId} ${name}`];
  if (special) return special;
  if (name === 'from') return since('created_at');
  if (name === 'to') return until('created_at');
  if (!(name in sample!)) throw new Error(`${nameOf(route)}: say in NARROWS which records "${name}" leaves`);
  return (record, value) => (typeof record[name] === 'boolean' ? record[name] === yes(value) : record[name] === value);
}

/** The records that the list must show: those that match every filter, given or by default. */
function expected(route: Route, all: Found[], given: Map<string, string>): string[] {
  const filters = [...filtersOf(document, route)].flatMap(([name, { default: fallback }]) => {
    const value = given.get(name) ?? (fallback === undefined ? undefined : JSON.stringify(fallback));
    return value === undefined ? [] : [{ value, narrows: narrowsOf(route, name, all) }];
  });
  return all.filter((row) => filters.every(({ narrows, value }) => narrows(row, value))).map(({ id }) => id);
}

async function check(route: Route, all: Found[], given: Map<string, string>): Promise<string[]> {
  const query = [...given].map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const ids = (await read(route, query)).map(({ id }) => id);
  const name = `${nameOf(route)}?${query.join('&')}`;
  expect([name, ids]).toEqual([name, expected(route, all, given)]);
  return ids;
}

describe('a filter', () => {
  it('returns exactly the matching records, in the order of the list, for every value', async () => {
    const proven = new Set<string>();
    for (const route of lists()) {
      const all = await everything(route);
      expect([nameOf(route), all.length]).not.toEqual([nameOf(route), 0]);
      for (const [name, schema] of filtersOf(document, route)) {
        for (const value of valuesOf(name, schema)) {
          const ids = await check(route, all, new Map([[name, value]]));
          if (ids.length > 0 && ids.length < all.length) proven.add(`${nameOf(route)} ${name}`);
        }
      }
    }
    // Each filter kept some records and not others, except those that only change the wording.
    const filters = lists().flatMap((route) =>
      [...filtersOf(document, route).keys()].map((name) => `${nameOf(route)} ${name}`),
    );
    expect(filters.filter((filter) => !proven.has(filter) && !filter.endsWith('anonymize'))).toEqual([]);
  });

  it('can be combined with others', async () => {
    let both = 0;
    for (const route of lists()) {
      const all = await everything(route);
      const filters = [...filtersOf(document, route)];
      if (filters.length < 2) continue;
      for (let n = 0; n < 25; n++) {
        const chosen = filters.filter(() => random.chance(0.5));
        const given = new Map(chosen.map(([name, schema]) => [name, random.pick(valuesOf(name, schema))]));
        if (endsBeforeItBegins(given)) continue;
        const ids = await check(route, all, given);
        if (chosen.length > 1 && ids.length > 0 && ids.length < all.length) both++;
      }
    }
    expect(both).toBeGreaterThan(40);
  });

  it('applies to every page in cursor mode', async () => {
    for (const route of lists().filter((list) => queryOf(document, list).has('cursor'))) {
      const all = await everything(route);
      for (const [name, schema] of filtersOf(document, route)) {
        const value = random.pick(valuesOf(name, schema));
        const filter = `${name}=${encodeURIComponent(value)}`;
        const seen: string[] = [];
        for (let cursor: string | null = 'start'; cursor !== null;) {
          const path = `${route.path.replace(':tutor_id', tutors[0]!)}?${filter}&limit=9&cursor=${cursor}`;
          const body = (await api.get(path, key)).body as { data: Found[]; meta: { next_cursor: string | null } };
          seen.push(...body.data.map(({ id }) => id));
          cursor = body.meta.next_cursor;
        }
        expect([path(route, filter), seen]).toEqual([
          path(route, filter),
          expected(route, all, new Map([[name, value]])),
        ]);
      }
    }
    function path(route: Route, filter: string): string {
      return `${nameOf(route)}?${filter}`;
    }
  });

  it('applies to the total', async () => {
    const answer = await api.get('/v1/tutors?is_published=true&limit=1', key);
    expect(answer.body).toMatchObject({ meta: { limit: 1, offset: 0, count: 1, total: 2 } });
  });
});
