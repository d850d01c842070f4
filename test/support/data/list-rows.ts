import type { Factories } from './factories.js';
import type { Random } from './random.js';

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

/** The records that rows of lists refer to. */
export interface Stage {
  school: string;
  tutor: string;
  student: string;
  session: string;
}

/** @param at creation time of its people, who appear in lists themselves */
export async function createStage(make: Factories, at: Date): Promise<Stage> {
  const { id: school } = await make.organization();
  const tutor = (await make.tutor(school, { createdAt: at, profile: { createdAt: at } })).id;
  const student = (await make.student(school, { createdAt: at })).id;
  const { id: session } = await make.session(school, { tutorId: tutor, studentId: student });
  return { school, tutor, student, session };
}

type Insert = (make: Factories, stage: Stage, rows: NewRow[]) => Promise<Stored[]>;

const ROWS = 'FROM unnest($1::uuid[], $2::timestamptz[]) AS r (id, at) RETURNING';

/** Inserts rows with one statement: $1 are the ids, $2 the times, and `needs` follow. */
function statement(text: string, ...needs: (keyof Stage)[]): Insert {
  return async (make, stage, rows) => {
    const columns = [rows.map(({ id }) => id), rows.map(({ at }) => at)];
    const stored = await make.query<{ id: string; created_at: Date }>(text, [
      ...columns,
      ...needs.map((n) => stage[n]),
    ]);
    return stored.map(({ id, created_at }) => ({ id, createdAt: created_at.getTime() }));
  };
}

/** Inserts logins first, then what ties them to the organization. */
function person(...then: [Insert, ...Insert[]]): Insert {
  return async (make, stage, rows) => {
    await make.query(
      `INSERT INTO users (id, email, email_normalized, first_name, last_name)
       SELECT id, id || '@example.org', id || '@example.org', 'Ada', 'Lovelace' FROM unnest($1::uuid[]) AS r (id)`,
      [rows.map(({ id }) => id)],
    );
    let stored: Stored[] = [];
    for (const insert of then) stored = await insert(make, stage, rows);
    return stored;
  };
}

const member = (role: string) =>
  statement(
    `INSERT INTO members (id, organization_id, user_id, role, created_at)
     SELECT gen_random_uuid(), $3, id, '${role}', at ${ROWS} user_id AS id, created_at`,
    'school',
  );

const homework = statement(
  `INSERT INTO homework (id, assigned_by, title, homework_type, scope, created_at)
   SELECT id, $3, 'Fractions', 'text', 'student', at ${ROWS} id, created_at`,
  'tutor',
);

const feedback = statement(
  `INSERT INTO session_feedback (id, session_id, tutor_id, rating, comment, is_public, created_at)
   SELECT id, $3, $4, 5, 'Patient', true, at ${ROWS} id, created_at`,
  'session',
  'tutor',
);

export interface ListRows {
  insert: Insert;
  /** The person of the stage who is in the list from the start. */
  already?: 'tutor' | 'student';
}

/** How to create rows of each list, by operation id. Lists are ordered by these rows' times. */
export const LIST_ROWS: Record<string, ListRows> = {
  list_homework: { insert: homework },
  list_session_feedback: { insert: feedback },
  list_tutor_reviews: { insert: feedback },
  list_results: {
    insert: statement(
      `INSERT INTO results (id, student_id, status, mode, created_at)
       SELECT id, $3, 'completed', 'sac', at ${ROWS} id, created_at`,
      'student',
    ),
  },
  list_adjustments: {
    insert: statement(
      `INSERT INTO adjustments (id, organization_id, tutor_id, period_start, period_end, amount_cents, created_at)
       SELECT id, $3, $4, '2026-03-01', '2026-03-31', 100, at ${ROWS} id, created_at`,
      'school',
      'tutor',
    ),
  },
  list_payments: {
    insert: statement(
      `INSERT INTO payments (id, organization_id, amount_cents, currency, payment_type, status, created_at)
       SELECT id, $3, 100, 'AUD', 'card', 'succeeded', at ${ROWS} id, created_at`,
      'school',
    ),
  },
  list_request_log: {
    insert: statement(
      `INSERT INTO request_log (id, organization_id, api_key_id, method, route, status, duration_ms, request_id, created_at)
       SELECT id, $3, id, 'GET', '/v1/students', 200, 2.5, 'logged', at ${ROWS} id, created_at`,
      'school',
    ),
  },
  list_students: { insert: person(member('student')), already: 'student' },
  list_tutors: {
    insert: person(
      member('tutor'),
      statement(
        `INSERT INTO tutor_profiles (organization_id, user_id, created_at)
         SELECT $3, id, at ${ROWS} user_id AS id, created_at`,
        'school',
      ),
    ),
    already: 'tutor',
  },
  list_parents: {
    insert: person(
      statement(
        `INSERT INTO parents (organization_id, user_id, created_at) SELECT $3, id, at ${ROWS} user_id AS id, created_at`,
        'school',
      ),
      async (make, { school, student }, rows) => {
        await make.query(
          `INSERT INTO parent_students (organization_id, parent_id, student_id)
           SELECT $2, id, $3 FROM unnest($1::uuid[]) AS r (id)`,
          [rows.map(({ id }) => id), school, student],
        );
        const stored = await make.query<{ id: string; created_at: Date }>(
          'SELECT user_id AS id, created_at FROM parents WHERE user_id = ANY ($1)',
          [rows.map(({ id }) => id)],
        );
        return stored.map(({ id, created_at }) => ({ id, createdAt: created_at.getTime() }));
      },
    ),
  },
};

/** The order of all these lists: newest first, then by id. */
export function newestFirst(a: Stored, b: Stored): number {
  return b.createdAt - a.createdAt || (a.id === b.id ? 0 : a.id < b.id ? 1 : -1);
}

/** Rows at these times, with random ids that do not follow the order. */
export function rowsAt(times: string[], random: Random): NewRow[] {
  return times.map((at) => {
    const hex = Array.from({ length: 32 }, () => random.integer(16).toString(16)).join('');
    return { id: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'), at };
  });
}
