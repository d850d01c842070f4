import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Random } from '../support/random.js';
import { messageRow, seatRow, World } from './world.js';

const of = (row: string, ...columns: string[]): string => columns.map((column) => `${row}.${column}`).join(', ');

const RESULT = [
  'student_id', 'status', 'mode', 'completed_at', 'created_at', 'grade', 'vce_exam_id', 'curriculum_level_id',
  'homework_assignment_id', 'started_at',
]; // prettier-ignore
const CONVERSATION = ['type', 'last_message_at', 'classroom_id', 'title', 'created_at', 'updated_at'];

/** Copies that differ from what they are copies of; one statement, so one snapshot. */
const STALE = `
  SELECT 'result' AS of, o.result_id AS id FROM organization_results o JOIN results r ON r.id = o.result_id
  WHERE (${of('o', ...RESULT)}) IS DISTINCT FROM (${of('r', ...RESULT)})
  UNION ALL
  SELECT 'conversation', o.conversation_id FROM organization_conversations o JOIN conversations c ON c.id = o.conversation_id
  WHERE (${of('o', ...CONVERSATION)}) IS DISTINCT FROM (${of('c', ...CONVERSATION)})
    OR o.participants::jsonb <> (SELECT coalesce(jsonb_agg(jsonb_build_object('user_id', p.user_id, 'role', p.role)
      ORDER BY p.joined_at, p.id), '[]') FROM conversation_participants p WHERE p.conversation_id = c.id AND p.left_at IS NULL)`;

const CHANGES = [
  `UPDATE members SET status = 'accepted'`,
  'UPDATE results SET grade = 1',
  `UPDATE conversations SET title = 'Changed'`,
  // Moves a seat to another conversation.
  `UPDATE conversation_participants p SET conversation_id = (
     SELECT c.id FROM conversations c WHERE NOT EXISTS (
       SELECT FROM conversation_participants o WHERE o.conversation_id = c.id AND o.user_id = p.user_id) LIMIT 1)
   WHERE ctid = (SELECT min(ctid) FROM conversation_participants WHERE left_at IS NULL)`,
  `INSERT INTO conversation_participants (id, conversation_id, user_id, role)
   SELECT gen_random_uuid(), c.id, u.id, 'tutor' FROM conversations c, users u ON CONFLICT DO NOTHING`,
  `UPDATE conversation_participants SET role = 'admin', left_at = NULL`,
  `DELETE FROM conversation_participants WHERE role = 'admin' AND ctid IN (
     SELECT max(ctid) FROM conversation_participants GROUP BY conversation_id)`,
];

describe('what lists show of results and conversations', () => {
  let world: World;
  let schools: string[];
  let people: string[];
  let conversations: string[];
  let results: string[];

  beforeAll(async () => {
    world = await World.create();
    schools = [await world.organization(), await world.organization()];
    people = [];
    for (let n = 0; n < 6; n++) {
      const user = await world.member(schools[0]!, 'student');
      if (n % 2 === 0) await world.member(schools[1]!, 'student', { user });
      people.push(user);
    }
    for (const person of people) await world.session(schools[0]!, person);
    results = await Promise.all(people.map((person) => world.result(schools[0]!, person)));
    conversations = await Promise.all(
      people.map((person, n) => world.conversation(schools[0]!, person, people[(n + 1) % people.length]!)),
    );
  }, 60_000);

  afterAll(() => world.destroy());

  /** Anything that changes a result, a conversation, or who sees it. */
  function randomWrite(random: Random): [sql: string, values: unknown[]] {
    const [person, conversation, result] = [random.pick(people), random.pick(conversations), random.pick(results)];
    const message = messageRow(conversation, `2026-03-02T09:00:${10 + random.integer(50)}Z`);
    const seat = seatRow(conversation, person);
    return random.pick<[string, unknown[]]>([
      ['UPDATE results SET grade = $2, started_at = now() WHERE id = $1', [result, random.integer(100)]],
      [`UPDATE results SET status = 'completed', completed_at = now(), vce_exam_id = $2 WHERE id = $1`, [result, randomUUID()]],
      ['UPDATE results SET student_id = $2 WHERE id = $1', [result, person]],
      ['UPDATE sessions SET student_id = $1 WHERE id = (SELECT id FROM sessions ORDER BY id LIMIT 1)', [person]],
      ['UPDATE conversations SET title = $2, updated_at = now() WHERE id = $1', [conversation, `T${random.integer(1e6)}`]],
      [`UPDATE conversations SET type = 'group' WHERE id = $1`, [conversation]],
      ['INSERT INTO messages (id, conversation_id, content, created_at) VALUES ($1, $2, $3, $4)', [message.id, conversation, 'Hi', message.created_at]],
      ['INSERT INTO conversation_participants (id, conversation_id, user_id, role) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING', [seat.id, conversation, person, 'tutor']],
      ['UPDATE conversation_participants SET left_at = CASE WHEN left_at IS NULL THEN now() END WHERE conversation_id = $1 AND user_id = $2', [conversation, person]],
      [`UPDATE conversation_participants SET role = 'student' WHERE conversation_id = $1`, [conversation]],
      ['DELETE FROM conversation_participants WHERE conversation_id = $1 AND user_id = $2', [conversation, person]],
      [`UPDATE members SET status = CASE status WHEN 'accepted' THEN 'archived' ELSE 'accepted' END WHERE user_id = $1`, [person]],
    ]); // prettier-ignore
  }

  /** @returns how many writes were committed; deadlocks over the rows themselves are rolled back */
  async function write(random: Random, turns: number): Promise<number> {
    let committed = 0;
    for (let turn = 0; turn < turns; turn++) {
      const client = await world.begin(random.pick(schools));
      try {
        await client.query(...randomWrite(random));
        const keep = random.chance(0.8);
        await world.end(client, keep ? 'COMMIT' : 'ROLLBACK');
        if (keep) committed++;
      } catch (error) {
        await world.end(client, 'ROLLBACK');
        // A conversation or result that this organization does not see (any more) is not its to write.
        if (!['40P01', '42501'].includes((error as { code: string }).code)) throw error;
      }
    }
    return committed;
  }

  it('is what they are, in every snapshot while many change them at once', async () => {
    const state = { writing: true };
    const writers = Promise.all([1, 2, 3, 4, 5, 6].map((seed) => write(new Random(seed), 50))).finally(() => {
      state.writing = false;
    });
    let snapshots = 0;
    while (state.writing) {
      expect(await world.all(STALE)).toEqual([]);
      snapshots++;
    }
    expect((await writers).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(150);
    expect(snapshots).toBeGreaterThan(10);
    expect(await world.all(STALE)).toEqual([]);
  }, 60_000);

  it.each([
    ['organization_results', 'copy_result'],
    ['conversations', 'copy_conversation_on_update'],
    ['conversation_participants', 'show_participants_on_insert'],
    ['conversation_participants', 'show_participants_on_update_from'],
    ['conversation_participants', 'show_participants_on_update_to'],
    ['conversation_participants', 'show_participants_on_delete'],
  ])('would be stale without the trigger %s.%s', async (table, trigger) => {
    const client = await world.owner.connect();
    const stale: string[] = [];
    try {
      await client.query(`BEGIN; ALTER TABLE ${table} DISABLE TRIGGER ${trigger}`);
      for (const sql of CHANGES) {
        await client.query(sql);
        if ((await client.query(STALE)).rowCount! > 0) stale.push(sql);
      }
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
    expect(stale).not.toEqual([]);
    expect(await world.all(STALE)).toEqual([]);
  });
});
