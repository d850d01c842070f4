import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { insertion, messageRow, resultRow, type Row, seatRow, sessionRow, statusChange, SchemaFixture } from '../support/database/schema-fixture.js';
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

  /** Runs the second statement up to what comes with its commit, which must wait until the first transaction commits; then commits both. */
  async function race(first: Side, second: Side): Promise<void> {
    const open: pg.PoolClient[] = [];
    try {
      const [one, two] = [await schema.begin(first.as), await schema.begin(second.as)];
      open.push(one, two);
      const settled = (client: pg.PoolClient, { sql, values }: Side) =>
        client.query(sql, values).then(() => client.query('SET CONSTRAINTS ALL IMMEDIATE'));
      await settled(one, first);
      const waiting = settled(two, second);
      await Promise.race([schema.blocked(two), waiting.then(() => Promise.reject(new Error('did not wait')))]);
      await schema.end(open.shift() as pg.PoolClient);
      await waiting;
      await schema.end(open.shift() as pg.PoolClient);
    } finally {
      for (const client of open) await schema.end(client, 'ROLLBACK');
    }
  }

  const inserting = (as: string, table: string, row: Row): Side => ({ as, ...insertion(table, row) });

  const setting = (as: string, user: string, status: string): Side => ({ as, ...statusChange(user, status) });

  const SEEN = 'SELECT conversation_id AS id, last_message_at AS last FROM organization_conversations';

  /** Somebody who is a member of both organizations. */
  async function inBoth(role: string, more: Row = {}): Promise<string> {
    return schema.member(other, role, { user: await schema.member(school, role), ...more });
  }

  /** The two transactions; whose rows a query then finds (null: all), and what they are. */
  type Race = [sides: [Side, Side], as: string | null, sql: string, values: unknown[], found: Row[]];

  const RACES: Record<string, () => Promise<Race>> = {
    "a result and its student's first session: the result shows": async () => {
      const student = await inBoth('student');
      const result = resultRow(student);
      const sides: [Side, Side] = [inserting(school, 'results', result), inserting(other, 'sessions', sessionRow(other, student))];
      const shown = 'SELECT result_id FROM organization_results WHERE student_id = $1';
      return [sides, other, shown, [student], [{ result_id: result.id }]];
    },
    "a result that is completed and its student's first session: it shows as completed": async () => {
      const [student, result] = await taught(await inBoth('student'));
      const completing = { as: school, sql: `UPDATE results SET status = 'completed' WHERE id = $1`, values: [result] };
      const shown = 'SELECT status FROM organization_results WHERE result_id = $1';
      return [[completing, attending(other, student)], other, shown, [result], [{ status: 'completed' }]];
    },
    "a result deleted and its student's first session: it is gone for everybody": async () => {
      const [student, result] = await taught(await inBoth('student'));
      const deleting = { as: school, sql: 'DELETE FROM results WHERE id = $1', values: [result] };
      const left = 'SELECT FROM organization_results WHERE result_id = $1';
      return [[deleting, attending(other, student)], null, left, [result], []];
    },
    'the last session deleted and another inserted: the student and the result stay': async () => {
      const [student, result, session] = await taught(await schema.member(school, 'student'));
      const deleting = { as: school, sql: 'DELETE FROM sessions WHERE id = $1', values: [session] };
      const counted = `SELECT occurrences AS n, result_id FROM session_students JOIN organization_results USING (student_id)
        WHERE student_id = $1`;
      return [[deleting, attending(school, student)], school, counted, [student], [{ n: 1, result_id: result }]];
    },
    'a participant added while the membership is accepted: the conversation shows': async () => {
      const invited = await schema.member(other, 'student', { status: 'pending' });
      const id = await schema.conversation(school, await schema.member(school, 'tutor'));
      return [[joining(id, invited), setting(other, invited, 'accepted')], other, SEEN, [], [{ id, last: null }]];
    },
    'one member comes while the other leaves: the conversation stays': async () => {
      const [leaver, comer] = [await schema.member(school, 'tutor'), await schema.member(school, 'student')];
      const id = await schema.conversation(school, leaver);
      const sql = 'UPDATE conversation_participants SET left_at = now() WHERE conversation_id = $1 AND user_id = $2';
      const leaving = { as: school, sql, values: [id, leaver] };
      return [[leaving, joining(id, comer)], school, SEEN, [], [{ id, last: null }]];
    },
    'one member comes while the other is archived: the conversation stays': async () => {
      const [leaver, comer] = [await schema.member(school, 'tutor'), await schema.member(school, 'student')];
      const id = await schema.conversation(school, leaver);
      await schema.all(`UPDATE conversations SET type = 'group' WHERE id = $1`, [id]);
      return [[setting(school, leaver, 'archived'), joining(id, comer)], school, SEEN, [], [{ id, last: null }]];
    },
    'a message arrives while somebody joins: the newcomer sees its time': async () => {
      const [tutor, guest] = [await schema.member(school, 'tutor'), await schema.member(other, 'tutor')];
      const id = await schema.conversation(school, tutor);
      const writing = inserting(school, 'messages', messageRow(school, id, '2026-03-02T00:00:00Z'));
      return [[writing, joining(id, guest)], other, SEEN, [], [{ id, last: new Date('2026-03-02') }]];
    },
    'a group is made while its tutor joins a second organization: nobody sees it': async () => {
      const tutor = await inBoth('tutor', { status: 'pending' });
      const group = { id: randomUUID(), tutor_id: tutor, name: 'Group' };
      const making = inserting(school, 'student_groups', group);
      const owner = 'SELECT organization_id FROM student_groups WHERE id = $1';
      return [[making, setting(other, tutor, 'accepted')], null, owner, [group.id], [{ organization_id: null }]];
    },
    'the last child is unlinked while another is linked: the parent stays enrolled': async () => {
      const parent_id = await schema.parent(school);
      const [first, second] = [await schema.member(school, 'student'), await schema.member(school, 'student')];
      const link = (student_id: string): Row => ({ organization_id: school, parent_id, student_id });
      await schema.insert(school, 'parent_students', link(first));
      const unlinking = { as: school, sql: 'DELETE FROM parent_students WHERE student_id = $1', values: [first] };
      const enrolled = 'SELECT enrolled_at IS NOT NULL AS enrolled FROM parents WHERE user_id = $1';
      const linking = inserting(school, 'parent_students', link(second));
      return [[unlinking, linking], school, enrolled, [parent_id], [{ enrolled: true }]];
    },
  };

  const attending = (as: string, student: string) => inserting(as, 'sessions', sessionRow(as, student));
  const joining = (id: string, user: string) => inserting(school, 'conversation_participants', seatRow(id, user));

  /** Gives a student a session and a result at the school. */
  async function taught(student: string): Promise<[student: string, result: string, session: string]> {
    return [student, await schema.result(school, student), await schema.session(school, student)];
  }

  describe.each([false, true])('(the second one first: %s)', (reversed) => {
    it.each(Object.keys(RACES))('%s', async (title) => {
      const [sides, as, sql, values, found] = await RACES[title]!();
      await race(sides[reversed ? 1 : 0], sides[reversed ? 0 : 1]);
      expect(await (as ? schema.as(as, sql, values) : schema.all(sql, values))).toEqual(found);
    });
  });

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
        orders.map((order, n) => (n % 2 ? schema.as(school, results, [order.reverse()]) : schema.as(school, statement, [school, order]))),
      );
    }
    expect(await schema.as(school, 'SELECT DISTINCT occurrences AS n FROM session_students')).toEqual([{ n: 40 }]);
    expect(await schema.as(school, 'SELECT count(*)::int AS n FROM organization_results')).toEqual([{ n: 1200 }]);
  });
});
