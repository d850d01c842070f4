import sql, { raw } from 'sql-template-tag';
import type { Caller } from '../../../apps/api/src/http/auth/caller.js';
import type { Factories } from './factories.js';
import { dateBound } from '@app/fields';
import type { List } from '../../../apps/api/src/http/lists/list.js';
import type { TestApi } from '../http/api.js';
import { declaredLists, newestFirstLists, type Route } from '../http/routes.js';
import type { Random } from './random.js';
import type { Row } from './sample-rows.js';

/** A stored row. */
export interface Stored {
  id: string;
  createdAt: number;
}

/** A row to store; `at` may have microseconds. */
export interface NewRow {
  id: string;
  at: string;
  /** Of its other columns. */
  values?: Row;
}

/** The records that list rows refer to. */
export interface ListFixture {
  school: string;
  tutor: string;
  student: string;
  session: string;
  conversation: string;
}

/** @param at creation time of the stage's people and its session, who appear in lists themselves */
export async function createListFixture(make: Factories, at: Date): Promise<ListFixture> {
  const { id: school } = await make.organization({ timeZone: 'UTC' });
  const tutor = (await make.tutor(school, { createdAt: at, profile: { createdAt: at } })).id;
  const student = (await make.student(school, { createdAt: at })).id;
  const { id: session } = await make.session(school, { tutorId: tutor, studentId: student, createdAt: at });
  const { id: conversation } = await make.conversation({ participants: [tutor], createdAt: at });
  return { school, tutor, student, session, conversation };
}

/** The route's path with the ids of these records. */
export const pathAt = ({ path }: Route, stage: ListFixture): string =>
  path.replaceAll(/:(tutor|student|session|conversation)_id/g, (_, kind: 'tutor' | 'student' | 'session' | 'conversation') => stage[kind]);

type Insert = (make: Factories, stage: ListFixture, rows: NewRow[]) => Promise<Stored[]>;

/** Inserts rows and fills in required columns from the schema. `id` names the column with the record's id. */
function rowsOf(table: string, more: (row: NewRow, stage: ListFixture) => Row = () => ({}), id = 'id'): Insert {
  return async (make, stage, rows) => {
    const { school: organization_id, tutor: tutor_id, student: student_id } = stage;
    const known = { organization_id, tutor_id, student_id, assigned_by: tutor_id };
    const given = rows.map((row) => ({ [id]: row.id, created_at: row.at, ...more(row, stage), ...row.values }));
    const stored = await make.insert(table, given, known);
    return stored.map((row) => ({ id: row[id] as string, createdAt: Date.parse(row.created_at as string) }));
  };
}

/** Inserts logins, then the rows that link them to the organization. */
function people(table: string, more?: (row: NewRow) => Row): Insert {
  return async (make, stage, rows) => {
    await rowsOf('users', ({ id }) => ({ email: `${id}@example.org`, email_normalized: `${id}@example.org` }))(
      make,
      stage,
      rows.map((row) => ({ ...row, values: {} })),
    );
    return rowsOf(table, more, 'user_id')(make, stage, rows);
  };
}

const members = (role: string) => people('members', () => ({ role }));
const feedback = rowsOf('session_feedback', (_row, { session, tutor }) => ({
  session_id: session,
  tutor_id: tutor,
  rating: 5,
  comment: 'Patient',
  is_public: true,
}));

/** How the stage's student takes part in a session of {@link rowsAt}; null if not at all, as in sessions with ids in order of time. */
export const partIn = (id: string): 'accepted' | 'removed' | null => (id >= '8' ? 'accepted' : id >= '4' ? 'removed' : null);

/** The code of the subject that some of the tutors of {@link rowsAt} teach; and how they teach. Others' ids begin with 0. */
export const TAUGHT = 'mathematical_methods';
export const teaches = (id: string): boolean => id >= '8';
export const modeOf = (id: string) => (id < '1' ? null : (['online', 'in_person', 'both'] as const)[parseInt(id[1]!, 16) % 3]!);

/** The subject of each organization: asked for once, because rows may be inserted at the same time. */
const taught = new WeakMap<ListFixture, Promise<{ id: string }>>();

/** Some of these tutors, who have a profile, teach a subject. */
async function teach(make: Factories, stage: ListFixture, rows: readonly NewRow[]): Promise<void> {
  if (!taught.has(stage)) taught.set(stage, make.subject(stage.school, { code: TAUGHT }));
  const { id } = await taught.get(stage)!;
  const teachers = rows.filter((row) => teaches(row.id)).map((row) => ({ user_id: row.id, subject_id: id }));
  if (teachers.length > 0) await make.insert('tutor_subjects', teachers, { organization_id: stage.school });
}

/** An hour each, some of them with a participant. */
const sessions: Insert = async (make, stage, rows) => {
  const endOf = ({ starts_at }: Row = {}) => (starts_at ? { ends_at: new Date(Date.parse(starts_at as string) + 3_600_000) } : {});
  const stored = await rowsOf('sessions', ({ values }) => endOf(values))(make, stage, rows);
  const parts = rows.map(({ id }) => ({ session_id: id, status: partIn(id) })).filter(({ status }) => status);
  if (parts.length > 0) {
    await make.insert('lesson_participants', parts, { organization_id: stage.school, student_id: stage.student });
  }
  return stored;
};

export interface ListRows {
  insert: Insert;
  /** The record of the stage that is in the list from the start. */
  already?: 'tutor' | 'student' | 'session';
}

/** The driving table of a list; of `organization_results`, which the database derives, that of its origin. */
export const tableOf = ({ source }: List): string => source.table.sql.split(' ')[0]!.replace(/^organization_/, '');

/** Lists that need more than plain rows in their driving table. */
const OTHER_ROWS: Record<string, ListRows> = {
  list_session_feedback: { insert: feedback },
  list_tutor_reviews: { insert: feedback },
  list_sessions: { insert: sessions, already: 'session' },
  list_lesson_participants: {
    insert: async (make, stage, rows) => {
      const made = await make.insert('sessions', rows.map(() => ({ tutor_id: stage.tutor })), { organization_id: stage.school }); // prettier-ignore
      const sessions = made.map(({ id }) => id);
      return rowsOf('lesson_participants', () => ({ session_id: sessions.pop() }))(make, stage, rows);
    },
  },
  list_invoices: { insert: rowsOf('invoices', ({ id }) => ({ invoice_number: id })) },
  list_rate_cells: {
    // No two cells have the same keys.
    insert: async (make, stage, rows) => {
      const fresh = new Map<NewRow, Row>();
      for (const row of rows) {
        const [band, tier] = [await make.rateBand(stage.school), await make.tutorTier(stage.school)];
        fresh.set(row, { band_id: band.id, tutor_tier_id: tier.id });
      }
      return rowsOf('rate_cells', (row) => fresh.get(row)!)(make, stage, rows);
    },
  },
  list_tutor_students: {
    // One relation for each student.
    insert: async (make, stage, rows) => {
      const students: string[] = [];
      for (const _ of rows) students.push((await make.student(stage.school, { createdAt: new Date(0) })).id);
      return rowsOf('tutor_students', () => ({ student_id: students.pop() }))(make, stage, rows);
    },
  },
  list_webhook_deliveries: {
    insert: rowsOf('outbox', ({ id }, { school, session }) => ({ organization_id: school, topic: 'webhook', recipient: id < '8' ? session : id })),
  },
  list_student_groups: { insert: rowsOf('student_groups', (_row, { school }) => ({ owner_organization_id: school })) },
  list_request_log: { insert: rowsOf('request_log', ({ id }) => ({ status: [200, 404, 422, 500][parseInt(id[0]!, 16) % 4] })) },
  list_blog_posts: { insert: rowsOf('blog_posts', ({ id }, { school }) => ({ organization_id: id < '8' ? school : null })) },
  list_messages: { insert: rowsOf('messages', (_row, { conversation }) => ({ conversation_id: conversation })) },
  list_lesson_plans: {
    insert: async (make, stage, rows) => {
      const known = { organization_id: stage.school };
      const [[room], [group]] = [
        await make.insert('classrooms', [{}], known),
        await make.insert('student_groups', [{ owner_organization_id: stage.school }]),
      ];
      const targets: Record<string, Row> = { classroom: { classroom_id: room!.id }, group: { group_id: group!.id } };
      const targetOf = ({ scope = 'student' }: Row = {}) => ({ scope, ...(targets[String(scope)] ?? { student_id: stage.student }) });
      return rowsOf('lesson_plans', ({ values }) => targetOf(values))(make, stage, rows);
    },
  },
  list_files: {
    insert: async (make, stage, rows) => {
      const known = { organization_id: stage.school };
      const [[room], [group]] = [
        await make.insert('classrooms', [{}], known),
        await make.insert('student_groups', [{ owner_organization_id: stage.school }]),
      ];
      const targets: Record<string, Row> = { classroom: { classroom_id: room!.id }, group: { group_id: group!.id } };
      const all = { owner_id: stage.tutor, file_url: 'https://example.org/a.pdf', link_url: 'https://example.org/', student_id: null };
      return rowsOf('files', ({ values: { scope = 'org' } = {} }) => ({ scope, ...all, ...targets[String(scope)] }))(make, stage, rows);
    },
  },
  list_questions: {
    // Every organization lists what is in a catalogue: only among rows for filters.
    insert: rowsOf('questions', ({ id, values }, { school, session }) => ({
      ...(id < '8' || !values ? { organization_id: school, catalogue: null } : { organization_id: null, catalogue: 'vcaa' }),
      curriculum_level_ids: id > '4' ? [session] : [],
    })),
  },
  list_conversations: {
    insert: async (make, stage, rows) => {
      const stored = await rowsOf('conversations')(make, stage, rows);
      const seats = rows.map(({ id: conversation_id }) => ({ conversation_id }));
      await make.insert('conversation_participants', seats, { user_id: stage.tutor });
      return stored;
    },
  },
  list_students: { insert: members('student'), already: 'student' },
  list_tutors: {
    insert: async (make, stage, rows) => {
      const stored = await members('tutor')(make, stage, rows);
      const profiles = rows.map((row) => ({ ...row, values: { is_published: row.values?.profile_published ?? false } }));
      await rowsOf('tutor_profiles', undefined, 'user_id')(make, stage, profiles);
      await teach(make, stage, rows);
      return stored;
    },
    already: 'tutor',
  },
  list_coverage_tutors: {
    insert: async (make, stage, rows) => {
      const stored = await members('tutor')(make, stage, rows);
      // Whatever is asked about the place does not leave anybody out: that is for a spec of its own.
      const everywhere = { serves_all_areas: true, in_person_arrangements: ['at_home'] };
      const profile = ({ id: user_id }: NewRow) => ({ user_id, teaching_mode: modeOf(user_id), ...everywhere });
      await make.insert('tutor_profiles', rows.map(profile), { organization_id: stage.school });
      await teach(make, stage, rows);
      return stored;
    },
    already: 'tutor',
  },
  list_parents: {
    insert: async (make, stage, rows) => {
      const stored = await people('parents')(make, stage, rows);
      const { school: organization_id, student: student_id } = stage;
      const links = rows.map(({ id: parent_id }) => ({ parent_id }));
      await make.insert('parent_students', links, { organization_id, student_id });
      return stored;
    },
  },
};

/** How to create rows for a list. */
export const rowsFor = (list: List): ListRows => OTHER_ROWS[list.id] ?? { insert: rowsOf(tableOf(list)) };

/** How to create rows for each newest-first list, by operation id. */
export const listRows = (api: TestApi): Map<string, ListRows> => new Map(newestFirstLists(api).map((list) => [list.id, rowsFor(list)]));

/** For each filter that compares with a column: the fixture's own id, or else a value that a record has. */
export async function storedValues(api: TestApi, organizationId: string, ids: Record<string, string>) {
  const values: Record<string, string> = {};
  for (const { list } of declaredLists(api)) {
    const { table, alias } = list.source;
    for (const { name, column, kind } of list.parameters) {
      if (!column || kind.schema.enum || kind.schema.type === 'boolean' || kind === dateBound) continue;
      const compared = raw(`${alias}.${column}`);
      const own = list.source.sightOf({ organizationId } as Caller);
      const first = sql`SELECT ${compared} AS value FROM ${table} WHERE ${own} AND ${compared} IS NOT NULL LIMIT 1`;
      const [row] = await api.make.query<{ value: string | number }>(first.text, first.values);
      const value = ids[name] ?? row?.value;
      if (value !== undefined) values[name] ??= String(value);
    }
  }
  return values;
}

/** The order of all these lists: newest first, then by id. */
export function newestFirst(a: Stored, b: Stored): number {
  return b.createdAt - a.createdAt || (a.id === b.id ? 0 : a.id < b.id ? 1 : -1);
}

/** Rows created at these times. Their ids are random, so they do not follow that order. */
export function rowsAt(times: string[], random: Random): NewRow[] {
  return times.map((at) => {
    const hex = Array.from({ length: 32 }, () => random.integer(16).toString(16)).join('');
    return { id: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'), at };
  });
}
