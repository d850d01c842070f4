import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import {
  insertion,
  messageRow,
  resultRow,
  type Row,
  seatRow,
  sessionRow,
  statusChange,
  SchemaFixture,
} from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

/** What one of two concurrent transactions does, and for which organization. */
interface Side {
  as: string;
  sql: string;
  values: unknown[];
}

const schema = await fixture(SchemaFixture.create());

describe('two concurrent transactions', () => {
  let school: string;
  let other: string;

  beforeEach(async () => {
    [school, other] = [await schema.organization(), await schema.organization()];
  });

  /** Runs the second statement, which must wait until the first transaction commits; then commits both. */
  async function race(first: Side, second: Side): Promise<void> {
    const open: pg.PoolClient[] = [];
    try {
      const [one, two] = [await schema.begin(first.as), await schema.begin(second.as)];
      open.push(one, two);
      await one.query(first.sql, first.values);
      const waiting = two.query(second.sql, second.values);
      await Promise.race([schema.blocked(two), waiting.then(() => Promise.reject(new Error('did not wait')))]);
      await schema.end(open.shift() as pg.PoolClient);
      await waiting;
      await schema.end(open.shift() as pg.PoolClient);
    } finally {
      for (const client of open) await schema.end(client, 'ROLLBACK');
    }
  }

  /** Runs the race in both orders, each time on new rows. */
  async function bothWays(prepare: () => Promise<{ sides: [Side, Side]; check: () => Promise<void> }>): Promise<void> {
    for (const reversed of [false, true]) {
      const { sides, check } = await prepare();
      await race(sides[reversed ? 1 : 0], sides[reversed ? 0 : 1]);
      await check();
    }
  }

  const inserting = (as: string, table: string, row: Row): Side => ({ as, ...insertion(table, row) });

  const setting = (as: string, user: string, status: string): Side => ({ as, ...statusChange(user, status) });

  const leaving = (as: string, conversation: string, user: string): Side => ({
    as,
    sql: 'UPDATE conversation_participants SET left_at = now() WHERE conversation_id = $1 AND user_id = $2',
    values: [conversation, user],
  });

  async function conversationsOf(organization: string): Promise<Row[]> {
    return schema.as(
      organization,
      'SELECT conversation_id AS id, last_message_at AS last FROM organization_conversations',
    );
  }

  it("a result and its student's first session: the result shows", () =>
    bothWays(async () => {
      const student = await schema.member(school, 'student');
      await schema.member(other, 'student', { user: student });
      const result = resultRow(student);
      const sides: [Side, Side] = [
        inserting(school, 'results', result),
        inserting(other, 'sessions', sessionRow(other, student)),
      ];
      return {
        sides,
        check: async () => {
          const rows = await schema.as(other, 'SELECT result_id FROM organization_results WHERE student_id = $1', [
            student,
          ]);
          expect(rows).toEqual([{ result_id: result.id }]);
        },
      };
    }));

  it("a result that is completed and its student's first session: it shows as completed", () =>
    bothWays(async () => {
      const student = await schema.member(school, 'student');
      await schema.member(other, 'student', { user: student });
      await schema.session(school, student);
      const result = await schema.result(school, student);
      const completing = { as: school, sql: `UPDATE results SET status = 'completed' WHERE id = $1`, values: [result] };
      return {
        sides: [completing, inserting(other, 'sessions', sessionRow(other, student))],
        check: async () => {
          const rows = await schema.as(other, 'SELECT status FROM organization_results WHERE result_id = $1', [result]);
          expect(rows).toEqual([{ status: 'completed' }]);
        },
      };
    }));

  it("a result deleted and its student's first session: it is gone for everybody", () =>
    bothWays(async () => {
      const student = await schema.member(school, 'student');
      await schema.member(other, 'student', { user: student });
      await schema.session(school, student);
      const result = await schema.result(school, student);
      const deleting = { as: school, sql: 'DELETE FROM results WHERE id = $1', values: [result] };
      return {
        sides: [deleting, inserting(other, 'sessions', sessionRow(other, student))],
        check: async () => {
          expect(await schema.all('SELECT FROM organization_results WHERE result_id = $1', [result])).toEqual([]);
        },
      };
    }));

  it('the last session deleted and another inserted: the student stays', () =>
    bothWays(async () => {
      const student = await schema.member(school, 'student');
      const result = await schema.result(school, student);
      const session = await schema.session(school, student);
      const deleting = { as: school, sql: 'DELETE FROM sessions WHERE id = $1', values: [session] };
      return {
        sides: [deleting, inserting(school, 'sessions', sessionRow(school, student))],
        check: async () => {
          const counted = 'SELECT occurrences AS n FROM session_students WHERE student_id = $1';
          expect(await schema.as(school, counted, [student])).toEqual([{ n: 1 }]);
          const rows = await schema.as(school, 'SELECT FROM organization_results WHERE result_id = $1', [result]);
          expect(rows).toHaveLength(1);
        },
      };
    }));

  it('a participant added while the membership is accepted: the conversation shows', () =>
    bothWays(async () => {
      const tutor = await schema.member(school, 'tutor');
      const invited = await schema.member(other, 'student', { status: 'pending' });
      const id = await schema.conversation(school, tutor);
      return {
        sides: [
          inserting(school, 'conversation_participants', seatRow(id, invited)),
          setting(other, invited, 'accepted'),
        ],
        check: async () => {
          expect(await conversationsOf(other)).toContainEqual({ id, last: null });
        },
      };
    }));

  it('one member comes while the other leaves: the conversation stays', () =>
    bothWays(async () => {
      const [leaver, comer] = [await schema.member(school, 'tutor'), await schema.member(school, 'student')];
      const id = await schema.conversation(school, leaver);
      return {
        sides: [leaving(school, id, leaver), inserting(school, 'conversation_participants', seatRow(id, comer))],
        check: async () => {
          expect(await conversationsOf(school)).toContainEqual({ id, last: null });
        },
      };
    }));

  it('one member comes while the other is archived: the conversation stays', () =>
    bothWays(async () => {
      const [leaver, comer] = [await schema.member(school, 'tutor'), await schema.member(school, 'student')];
      const id = await schema.conversation(school, leaver);
      return {
        sides: [
          setting(school, leaver, 'archived'),
          inserting(school, 'conversation_participants', seatRow(id, comer)),
        ],
        check: async () => {
          expect(await conversationsOf(school)).toContainEqual({ id, last: null });
        },
      };
    }));

  it('a message arrives while somebody joins: the newcomer sees its time', () =>
    bothWays(async () => {
      const [tutor, guest] = [await schema.member(school, 'tutor'), await schema.member(other, 'tutor')];
      const id = await schema.conversation(school, tutor);
      return {
        sides: [
          inserting(school, 'messages', messageRow(id, '2026-03-02T00:00:00Z')),
          inserting(school, 'conversation_participants', seatRow(id, guest)),
        ],
        check: async () => {
          expect(await conversationsOf(other)).toContainEqual({ id, last: new Date('2026-03-02') });
        },
      };
    }));

  it('a group is made while its tutor joins a second organization: nobody sees it', () =>
    bothWays(async () => {
      const tutor = await schema.member(school, 'tutor');
      await schema.member(other, 'tutor', { user: tutor, status: 'pending' });
      const group = { id: randomUUID(), tutor_id: tutor, name: 'Group' };
      return {
        sides: [inserting(school, 'student_groups', group), setting(other, tutor, 'accepted')],
        check: async () => {
          const rows = await schema.all('SELECT organization_id FROM student_groups WHERE id = $1', [group.id]);
          expect(rows).toEqual([{ organization_id: null }]);
        },
      };
    }));

  it('the last child is unlinked while another is linked: the parent stays enrolled', () =>
    bothWays(async () => {
      const parent_id = await schema.parent(school);
      const [first, second] = [await schema.member(school, 'student'), await schema.member(school, 'student')];
      const link = (student_id: string): Row => ({ organization_id: school, parent_id, student_id });
      await schema.insert(school, 'parent_students', link(first));
      const unlinking = { as: school, sql: 'DELETE FROM parent_students WHERE student_id = $1', values: [first] };
      return {
        sides: [unlinking, inserting(school, 'parent_students', link(second))],
        check: async () => {
          const [parent] = await schema.as(school, 'SELECT enrolled_at FROM parents WHERE user_id = $1', [parent_id]);
          expect(parent?.enrolled_at).toBeInstanceOf(Date);
        },
      };
    }));

  it('never deadlock over the same people in different orders', async () => {
    const students: string[] = [];
    for (let n = 0; n < 30; n++) students.push(await schema.member(school, 'student'));
    const statement = `INSERT INTO sessions (id, organization_id, student_id, starts_at, ends_at, duration_minutes)
      SELECT gen_random_uuid(), $1, student, now(), now() + interval '1 hour', 60 FROM unnest($2::uuid[]) student`;
    const results = `INSERT INTO results (id, student_id, status, mode)
      SELECT gen_random_uuid(), student, 'submitted', 'sac' FROM unnest($1::uuid[]) student`;
    for (let round = 0; round < 10; round++) {
      const orders = Array.from({ length: 8 }, (_, n) => [...students.slice(n * 3), ...students.slice(0, n * 3)]);
      await Promise.all(
        orders.map((order, n) =>
          n % 2 ? schema.as(school, results, [order.reverse()]) : schema.as(school, statement, [school, order]),
        ),
      );
    }
    expect(await schema.as(school, 'SELECT DISTINCT occurrences AS n FROM session_students')).toEqual([{ n: 40 }]);
    expect(await schema.as(school, 'SELECT count(*)::int AS n FROM organization_results')).toEqual([{ n: 1200 }]);
  });
});
