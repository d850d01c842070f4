import { randomUUID } from 'node:crypto';
import { Random } from '../support/data/random.js';
import { messageRow, resultRow, seatRow, SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

const of = (row: string, columns: string[]): string => columns.map((column) => `${row}.${column}`).join(', ');

const RESULT = [
  'student_id', 'status', 'mode', 'completed_at', 'created_at', 'grade', 'vce_exam_id', 'curriculum_level_id',
  'homework_assignment_id', 'started_at',
]; // prettier-ignore
const CONVERSATION = ['type', 'last_message_at', 'classroom_id', 'title', 'created_at', 'updated_at'];

/**
 * Copies that are wrong, missing or surplus, computed independently of the migration's SQL so that its errors show. One
 * statement, hence one snapshot.
 */
const STALE = `
  SELECT 'login' AS of, u.id FROM users u WHERE u.seen_by IS DISTINCT FROM coalesce((SELECT array_agg(DISTINCT o ORDER BY o)
    FROM (SELECT organization_id AS o, user_id, accepted_at FROM members
      UNION ALL SELECT organization_id, user_id, accepted_at FROM parents) t
    WHERE t.user_id = u.id AND t.accepted_at IS NOT NULL), '{}')
  UNION ALL
  SELECT 'result', r.id FROM results r CROSS JOIN organizations g
  LEFT JOIN organization_results o ON o.result_id = r.id AND o.organization_id = g.id
  WHERE (${of('o', RESULT)}) IS DISTINCT FROM (${of('r', RESULT)}) AND o.result_id IS NOT NULL
    AND EXISTS (SELECT FROM members m WHERE m.organization_id = g.id AND m.user_id = r.student_id AND m.accepted_at IS NOT NULL)
    OR (o.result_id IS NOT NULL AND o.completed_at IS NULL OR r.made_by_organization_id = g.id OR NOT EXISTS (SELECT FROM members m
      WHERE m.organization_id = g.id AND m.user_id = r.student_id AND m.frozen_at IS NOT NULL)) AND (o.result_id IS NOT NULL) <> (
      EXISTS (SELECT FROM members m WHERE m.organization_id = g.id AND m.user_id = r.student_id
        AND (m.accepted_at IS NOT NULL OR m.frozen_at IS NOT NULL AND r.made_by_organization_id = g.id))
      AND EXISTS (SELECT FROM session_students s WHERE s.organization_id = g.id AND s.student_id = r.student_id))
  UNION ALL
  SELECT 'conversation', c.id FROM conversations c CROSS JOIN organizations g
  LEFT JOIN organization_conversations o ON o.conversation_id = c.id AND o.organization_id = g.id
  LEFT JOIN LATERAL (SELECT array_agg(user_id) AS people FROM (SELECT user_id, frozen_at, accepted_at FROM members WHERE organization_id = g.id
      UNION ALL SELECT user_id, frozen_at, accepted_at FROM parents WHERE organization_id = g.id) t WHERE user_id NOT IN (
        SELECT user_id FROM members WHERE organization_id = g.id AND accepted_at IS NOT NULL
        UNION ALL SELECT user_id FROM parents WHERE organization_id = g.id AND accepted_at IS NOT NULL)
    AND frozen_at IS NOT NULL) gone ON true
  LEFT JOIN LATERAL (SELECT max(m.created_at) AS newest FROM messages m WHERE m.conversation_id = c.id AND m.organization_id = g.id
    AND m.visibility = 'everyone' AND m.deleted_at IS NULL) own ON true
  LEFT JOIN LATERAL (SELECT c.type IN ('direct', 'triad') AND EXISTS (SELECT FROM conversation_participants p WHERE p.conversation_id = c.id
    AND p.left_at IS NULL AND p.user_id = ANY (gone.people)) AS outlived) l ON true
  WHERE (o.conversation_id IS NOT NULL) <> ((NOT l.outlived OR own.newest IS NOT NULL) AND EXISTS (SELECT FROM conversation_participants p JOIN members m USING (user_id)
      WHERE p.conversation_id = c.id AND p.left_at IS NULL AND m.organization_id = g.id AND m.status = 'accepted'))
    OR o.conversation_id IS NOT NULL AND ((${of('o', CONVERSATION)}) IS DISTINCT FROM (${CONVERSATION.map((column) =>
      column === 'last_message_at'
        ? 'CASE WHEN l.outlived THEN own.newest ELSE c.last_message_at END'
        : column === 'updated_at'
          ? 'CASE WHEN l.outlived THEN own.newest ELSE c.updated_at END'
          : `c.${column}`,
    ).join(', ')})
      OR o.participants::jsonb <> (SELECT coalesce(jsonb_agg(jsonb_build_object('user_id', p.user_id, 'role', p.role)
        ORDER BY p.joined_at, p.id), '[]')
        FROM conversation_participants p WHERE p.conversation_id = c.id AND p.left_at IS NULL AND p.user_id <> ALL (coalesce(gone.people, '{}'))))
  UNION ALL
  SELECT 'sessions of a student', student_id FROM session_students s FULL JOIN (
    SELECT organization_id, student_id, count(*) AS n FROM (SELECT organization_id, student_id FROM sessions WHERE student_id IS NOT NULL
      UNION ALL SELECT organization_id, student_id FROM lesson_participants) t GROUP BY 1, 2) n USING (organization_id, student_id)
  WHERE s.occurrences IS DISTINCT FROM n.n
  UNION ALL
  SELECT 'newest message', c.id FROM conversations c WHERE c.last_message_at IS DISTINCT FROM (
    SELECT max(created_at) FROM messages m WHERE m.conversation_id = c.id AND m.visibility = 'everyone' AND m.deleted_at IS NULL)`;

const ATTEMPTS = `INSERT INTO results (id, student_id, status, mode)
  SELECT gen_random_uuid(), id, 'completed', 'sac' FROM users`;

/** Statements that fire every trigger at least once, between two organizations. $1 is one without people. */
const CHANGES = [
  `INSERT INTO members (id, organization_id, user_id, role) SELECT gen_random_uuid(), $1, id, 'student' FROM users`,
  `INSERT INTO sessions (id, organization_id, student_id, starts_at, ends_at, duration_minutes)
   SELECT gen_random_uuid(), $1, id, now(), now() + interval '1 hour', 60 FROM users`,
  `UPDATE members SET status = 'pending'`,
  ATTEMPTS,
  `UPDATE members SET status = 'accepted'`,
  ATTEMPTS,
  'UPDATE results SET grade = 1',
  'DELETE FROM sessions WHERE organization_id = $1',
  `UPDATE conversations SET title = 'Changed'`,
  // Moves a participant to another conversation.
  `UPDATE conversation_participants p SET conversation_id = (
     SELECT c.id FROM conversations c WHERE NOT EXISTS (
       SELECT FROM conversation_participants o WHERE o.conversation_id = c.id AND o.user_id = p.user_id) LIMIT 1)
   WHERE ctid = (SELECT min(ctid) FROM conversation_participants WHERE left_at IS NULL)`,
  `INSERT INTO conversation_participants (id, conversation_id, user_id, role)
   SELECT gen_random_uuid(), c.id, u.id, 'teacher' FROM conversations c, users u ON CONFLICT DO NOTHING`,
  'DELETE FROM conversation_participants WHERE ctid IN (SELECT max(ctid) FROM conversation_participants GROUP BY conversation_id)',
  'DELETE FROM members WHERE organization_id = $1',
  'INSERT INTO parents (organization_id, user_id) SELECT $1, id FROM users',
  `UPDATE parents SET status = 'pending'`,
  `UPDATE parents SET status = 'accepted'`,
  `INSERT INTO members (id, organization_id, user_id, role)
   SELECT gen_random_uuid(), $1, min(user_id::text)::uuid, 'tutor' FROM conversation_participants WHERE left_at IS NULL`,
  `UPDATE parents SET status = 'archived'`,
  'DELETE FROM members WHERE organization_id = $1',
  'DELETE FROM parents',
  `INSERT INTO members (id, organization_id, user_id, role)
   SELECT gen_random_uuid(), $1, min(user_id::text)::uuid, 'tutor' FROM conversation_participants WHERE left_at IS NULL`,
  `INSERT INTO parents (organization_id, user_id, status, accepted_at) SELECT $1, id, 'archived', now() FROM users
   WHERE id NOT IN (SELECT user_id FROM members WHERE organization_id = $1)`,
  `UPDATE parents SET status = 'accepted'`,
  'DELETE FROM parents',
];

const FOLLOWERS = [
  'show_logins', 'copy_result', 'hide_unaccepted_results', 'follow_consent', 'show_results', 'show_results_of_students',
  'copy_conversation', 'show_conversations_of_participants', 'follow_membership',
]; // prettier-ignore

const schema = await fixture(SchemaFixture.create());

describe('the read copies of logins, results and conversations', () => {
  let schools: string[];
  let people: string[];
  let conversations: string[];
  let results: string[];

  beforeAll(async () => {
    schools = [await schema.organization(), await schema.organization()];
    people = [];
    for (let n = 0; n < 6; n++) {
      const user = await schema.member(schools[0]!, 'student');
      if (n % 2 === 0) await schema.member(schools[1]!, 'student', { user });
      people.push(user);
    }
    for (const person of people) await schema.session(schools[0]!, person);
    results = await Promise.all(people.map((person) => schema.result(schools[0]!, person)));
    conversations = await Promise.all(people.map((person, n) => schema.conversation(schools[0]!, person, people[(n + 1) % people.length]!)));
  });

  /** A random change of memberships, a result, a conversation or its participants. */
  function randomWrite(random: Random): [sql: string, values: unknown[]] {
    const [person, conversation, result] = [random.pick(people), random.pick(conversations), random.pick(results)];
    const message = messageRow('', conversation, `2026-03-02T09:00:${10 + random.integer(50)}Z`);
    const seat = seatRow(conversation, person);
    const attempt = resultRow(person);
    return random.pick<[string, unknown[]]>([
      ['INSERT INTO results (id, student_id, status, mode) VALUES ($1, $2, $3, $4)', [attempt.id, person, 'in_progress', 'sac']],
      ['UPDATE results SET grade = $2, started_at = now() WHERE id = $1', [result, random.integer(100)]],
      [`UPDATE results SET status = 'completed', completed_at = now(), vce_exam_id = $2 WHERE id = $1`, [result, randomUUID()]],
      ['UPDATE results SET student_id = $2 WHERE id = $1', [result, person]],
      ['UPDATE sessions SET student_id = $1 WHERE id = (SELECT id FROM sessions ORDER BY id LIMIT 1)', [person]],
      ['DELETE FROM sessions WHERE id = (SELECT id FROM sessions WHERE student_id = $1 LIMIT 1)', [person]],
      [`INSERT INTO sessions (id, organization_id, student_id, starts_at, ends_at, duration_minutes)
         VALUES (gen_random_uuid(), current_organization_id(), $1, now(), now() + interval '1 hour', 60)`, [person]],
      [`INSERT INTO lesson_participants (id, organization_id, session_id, student_id)
         SELECT gen_random_uuid(), organization_id, id, $1 FROM sessions ORDER BY id DESC LIMIT 1 ON CONFLICT DO NOTHING`, [person]],
      ['DELETE FROM lesson_participants WHERE student_id = $1', [person]],
      [`UPDATE messages SET visibility = $2 WHERE conversation_id = $1`, [conversation, random.pick(['everyone', 'student_only'])]],
      ['DELETE FROM messages WHERE id = (SELECT id FROM messages WHERE conversation_id = $1 ORDER BY created_at DESC LIMIT 1)', [conversation]],
      ['UPDATE conversations SET title = $2, updated_at = now() WHERE id = $1', [conversation, `T${random.integer(1e6)}`]],
      [`UPDATE conversations SET type = 'group' WHERE id = $1`, [conversation]],
      ['INSERT INTO messages (id, organization_id, conversation_id, content, created_at) VALUES ($1, current_organization_id(), $2, $3, $4)', [message.id, conversation, 'Hi', message.created_at]],
      ['UPDATE messages SET deleted_at = now() WHERE conversation_id = $1', [conversation]],
      ['INSERT INTO conversation_participants (id, conversation_id, user_id, role) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING', [seat.id, conversation, person, 'teacher']],
      ['UPDATE conversation_participants SET left_at = CASE WHEN left_at IS NULL THEN now() END WHERE conversation_id = $1 AND user_id = $2', [conversation, person]],
      [`UPDATE conversation_participants SET role = 'student' WHERE conversation_id = $1`, [conversation]],
      ['DELETE FROM conversation_participants WHERE conversation_id = $1 AND user_id = $2', [conversation, person]],
      [`UPDATE members SET status = $2 WHERE user_id = $1`, [person, random.pick(['archived', 'pending'])]],
      [`UPDATE parents SET status = $2 WHERE user_id = $1`, [person, random.pick(['archived', 'pending'])]],
      ['SELECT accept_ties($1, $2, true)', [person, random.chance(0.5)]],
      ['SELECT accept_ties($1, false, true)', [person]],
      [`INSERT INTO parents (organization_id, user_id, status) VALUES (current_organization_id(), $1, 'pending') ON CONFLICT DO NOTHING`, [person]],
      ['DELETE FROM parents WHERE user_id = $1', [person]],
    ]); // prettier-ignore
  }

  /** @returns how many writes were committed; deadlocks over the rows themselves are rolled back */
  async function write(random: Random, more: (turn: number) => boolean): Promise<number> {
    let committed = 0;
    for (let turn = 0; more(turn); turn++) {
      const client = await schema.begin(random.pick(schools));
      try {
        await client.query(...randomWrite(random));
        if (random.chance(0.3)) {
          await client.query('SAVEPOINT s');
          await client.query(...randomWrite(random));
          if (random.chance(0.5)) await client.query('ROLLBACK TO SAVEPOINT s');
        }
        const keep = random.chance(0.8);
        await client.query(keep ? 'COMMIT' : 'ROLLBACK');
        if (keep) committed++;
      } catch (error) {
        // Also after a COMMIT that failed: what is derived last may meet a deadlock too.
        await client.query('ROLLBACK');
        // An organization cannot write a conversation or result that it does not see (any more), nor a session of
        // somebody else's student (23503).
        if (!['40P01', '42501', '23503'].includes((error as { code: string }).code)) throw error;
      } finally {
        client.release();
      }
    }
    return committed;
  }

  it('match their sources in every snapshot during concurrent writes', async () => {
    const state = { writing: true, snapshots: 0 };
    // They go on until enough snapshots were taken meanwhile, which takes longer than their turns on some machines.
    const more = (turn: number) => turn < 25 || (state.snapshots <= 10 && turn < 600);
    const writers = Promise.all([1, 2, 3, 4, 5, 6].map((seed) => write(new Random(seed), more))).finally(() => {
      state.writing = false;
    });
    let stale: unknown[] = [];
    while (state.writing && stale.length === 0) {
      stale = await schema.all(STALE);
      state.snapshots++;
    }
    const committed = await writers;
    expect(stale).toEqual([]);
    expect(committed.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(60);
    expect(state.snapshots).toBeGreaterThan(10);
    expect(await schema.all(STALE)).toEqual([]);
    expect(await schema.all('SELECT * FROM wrong_copies(1)')).toEqual([]);
  });

  it('are found wrong and corrected if any trigger is missing', async () => {
    const triggers = await schema.all(
      `SELECT tgrelid::regclass::text AS table, tgname AS name FROM pg_trigger
       WHERE tgfoid::regproc::text = ANY ($1) AND tgname NOT LIKE '%_on_truncate' ORDER BY 1, 2`,
      [FOLLOWERS],
    );
    expect(triggers).toHaveLength(24);
    for (const trigger of triggers) {
      const name = `${trigger.table as string}.${trigger.name as string}`;
      expect(await firstStale(trigger.table as string, trigger.name as string), name).not.toEqual([]);
    }
    expect(await schema.all(STALE)).toEqual([]);
  });

  /** The stale rows after the first change that fails without the trigger. Rolls everything back. */
  async function firstStale(table: string, trigger: string): Promise<unknown[]> {
    const empty = await schema.organization();
    const client = await schema.owner.connect();
    try {
      await client.query(`BEGIN; ALTER TABLE ${table} DISABLE TRIGGER ${trigger}`);
      for (const sql of CHANGES) {
        await client.query(sql, sql.includes('$1') ? [empty] : []);
        await client.query('SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED');
        const { rows } = await client.query<{ id: string }>(STALE);
        if (rows.length === 0) continue;
        const ids = new Set(rows.map(({ id }) => id));
        const found = await client.query<{ id: string }>('SELECT id FROM wrong_copies(NULL)');
        expect(new Set(found.rows.map(({ id }) => id)), trigger).toEqual(ids);
        await client.query(`ALTER TABLE ${table} ENABLE TRIGGER ${trigger}`);
        await client.query('SELECT correct_copies()');
        expect((await client.query(STALE)).rows, trigger).toEqual([]);
        return rows;
      }
      return [];
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  }

  it('are correct after TRUNCATE', async () => {
    const client = await schema.owner.connect();
    try {
      await client.query('BEGIN');
      await client.query('TRUNCATE members, parents CASCADE');
      const { rows } = await client.query(`SELECT FROM users WHERE seen_by <> '{}'`);
      expect(rows).toEqual([]);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });
});
