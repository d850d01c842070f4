import type { Factories } from './factories.js';
import type { List } from '../../../apps/api/src/http/lists/list.js';
import type { TestApi } from '../http/api.js';
import { newestFirstLists } from '../http/routes.js';
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
}

/** The records that list rows refer to. */
export interface ListFixture {
  school: string;
  tutor: string;
  student: string;
  session: string;
}

/** @param at creation time of the stage's people and its session, who appear in lists themselves */
export async function createListFixture(make: Factories, at: Date): Promise<ListFixture> {
  const { id: school } = await make.organization();
  const tutor = (await make.tutor(school, { createdAt: at, profile: { createdAt: at } })).id;
  const student = (await make.student(school, { createdAt: at })).id;
  const { id: session } = await make.session(school, { tutorId: tutor, studentId: student, createdAt: at });
  return { school, tutor, student, session };
}

type Insert = (make: Factories, stage: ListFixture, rows: NewRow[]) => Promise<Stored[]>;

/** Inserts rows and fills in required columns from the schema. `id` names the column with the record's id. */
function rowsOf(table: string, more: (row: NewRow, stage: ListFixture) => Row = () => ({}), id = 'id'): Insert {
  return async (make, stage, rows) => {
    const { school: organization_id, tutor: tutor_id, student: student_id } = stage;
    const known = { organization_id, tutor_id, student_id, assigned_by: tutor_id };
    const given = rows.map((row) => ({ [id]: row.id, created_at: row.at, ...more(row, stage) }));
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
      rows,
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
  list_sessions: { insert: rowsOf('sessions'), already: 'session' },
  list_lesson_participants: {
    insert: async (make, stage, rows) => {
      const made = await make.insert('sessions', rows.map(() => ({ tutor_id: stage.tutor })), { organization_id: stage.school }); // prettier-ignore
      const sessions = made.map(({ id }) => id);
      return rowsOf('lesson_participants', () => ({ session_id: sessions.pop() }))(make, stage, rows);
    },
  },
  list_request_log: { insert: rowsOf('request_log', () => ({ status: 200 })) },
  list_student_groups: { insert: rowsOf('student_groups', (_row, { school }) => ({ owner_organization_id: school })) },
  list_students: { insert: members('student'), already: 'student' },
  list_tutors: {
    insert: async (make, stage, rows) => {
      const stored = await members('tutor')(make, stage, rows);
      await rowsOf('tutor_profiles', undefined, 'user_id')(make, stage, rows);
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
export const listRows = (api: TestApi): Map<string, ListRows> =>
  new Map(newestFirstLists(api).map((list) => [list.id, rowsFor(list)]));

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
