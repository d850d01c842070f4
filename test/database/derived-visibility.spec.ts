import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { messageRow, type Row, seatRow, SchemaFixture } from '../support/database/schema-fixture.js';

describe('what an organization sees of shared rows', () => {
  let fixture: SchemaFixture;
  let school: string;
  let other: string;

  beforeAll(async () => {
    fixture = await SchemaFixture.create();
  }, 60_000);

  afterAll(() => fixture.stop());

  beforeEach(async () => {
    [school, other] = [await fixture.organization(), await fixture.organization()];
  });

  describe('results', () => {
    const seen = (organization: string): Promise<Row[]> =>
      fixture.as(organization, 'SELECT result_id, status FROM organization_results ORDER BY created_at, result_id');

    it('show from the first session of the student to the last, as student or as participant', async () => {
      const student = await fixture.member(school, 'student');
      await fixture.member(other, 'student', { user: student });
      const result_id = await fixture.result(school, student);
      expect(await seen(school)).toEqual([]);
      const session_id = await fixture.session(school);
      const seat = { id: randomUUID(), organization_id: school, session_id, student_id: student };
      await fixture.insert(school, 'session_participants', seat);
      const shown = [{ result_id, status: 'in_progress' }];
      expect(await seen(school)).toEqual(shown);
      expect(await seen(other)).toEqual([]);
      const own = await fixture.session(school, student);
      await fixture.as(school, 'DELETE FROM session_participants WHERE id = $1', [seat.id]);
      expect(await seen(school)).toEqual(shown);
      await fixture.as(school, 'UPDATE sessions SET student_id = NULL WHERE id = $1', [own]);
      expect(await seen(school)).toEqual([]);
      expect(await fixture.as(school, 'SELECT * FROM session_students')).toEqual([]);
      await fixture.session(other, student);
      expect(await seen(other)).toEqual(shown);
    });

    it('show whether they precede or follow the session, keep their status current and vanish when deleted', async () => {
      const student = await fixture.member(school, 'student');
      const before = await fixture.result(school, student);
      await fixture.session(school, student);
      const after = await fixture.result(school, student);
      expect((await seen(school)).map((row) => row.result_id).sort()).toEqual([before, after].sort());
      await fixture.as(school, `UPDATE results SET status = 'completed', completed_at = now()`);
      expect((await seen(school)).map((row) => row.status)).toEqual(['completed', 'completed']);
      const stranger = await fixture.member(school, 'student');
      await fixture.all('UPDATE results SET student_id = $1 WHERE id = $2', [stranger, before]);
      expect((await seen(school)).map((row) => row.result_id)).toEqual([after]);
      await fixture.as(school, 'DELETE FROM results');
      expect(await seen(school)).toEqual([]);
    });

    it('count the sessions of each student and are not rewritten by unrelated updates', async () => {
      const students = [await fixture.member(school, 'student'), await fixture.member(school, 'student')];
      const counts = (): Promise<Row[]> =>
        fixture.as(school, 'SELECT student_id AS id, occurrences AS n, xmin FROM session_students ORDER BY n DESC');
      for (const student of [students[0], students[0], students[1]]) await fixture.session(school, student);
      const before = await counts();
      expect(before).toMatchObject([
        { id: students[0], n: 2 },
        { id: students[1], n: 1 },
      ]);
      await fixture.as(school, `UPDATE sessions SET status = 'completed'`);
      expect(await counts()).toEqual(before);
      await fixture.as(school, 'UPDATE sessions SET student_id = $1', [students[1]]);
      expect(await counts()).toMatchObject([{ id: students[1], n: 3 }]);
    });
  });

  describe('conversations', () => {
    const seen = (organization: string): Promise<Row[]> =>
      fixture.as(
        organization,
        'SELECT conversation_id AS id, type, last_message_at AS last FROM organization_conversations',
      );

    it('follow their participants and their memberships', async () => {
      const [tutor, student] = [await fixture.member(school, 'tutor'), await fixture.member(other, 'student')];
      const id = await fixture.conversation(school, tutor, student);
      const shown = [{ id, type: 'direct', last: null }];
      expect([await seen(school), await seen(other)]).toEqual([shown, shown]);
      await fixture.as(other, 'UPDATE conversation_participants SET left_at = now() WHERE user_id = $1', [student]);
      expect([await seen(school), await seen(other)]).toEqual([shown, []]);
      await fixture.setStatus(school, tutor, 'archived');
      expect([await seen(school), await seen(other)]).toEqual([[], []]);
      await fixture.setStatus(school, tutor, 'accepted');
      expect(await seen(school)).toEqual(shown);
      const newcomer = await fixture.member(other, 'tutor', { status: 'pending' });
      await fixture.insert(school, 'conversation_participants', seatRow(id, newcomer));
      expect(await seen(other)).toEqual([]);
      await fixture.setStatus(other, newcomer, 'accepted');
      expect(await seen(other)).toEqual(shown);
    });

    it('know the time of the newest message that everyone may read', async () => {
      const id = await fixture.conversation(school, await fixture.member(school, 'tutor'));
      const last = async (): Promise<unknown> => (await seen(school))[0]?.last;
      const [first, second, third] = ['2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z', '2026-03-03T00:00:00Z'];
      await fixture.insert(school, 'messages', messageRow(id, second));
      await fixture.insert(school, 'messages', messageRow(id, first));
      expect(await last()).toEqual(new Date(second));
      const whispered = await fixture.insert(school, 'messages', messageRow(id, third, { visibility: 'private' }));
      expect(await last()).toEqual(new Date(second));
      await fixture.as(school, `UPDATE messages SET visibility = 'everyone' WHERE id = $1`, [whispered]);
      expect(await last()).toEqual(new Date(third));
      await fixture.as(school, 'DELETE FROM messages WHERE created_at > $1', [first]);
      expect(await last()).toEqual(new Date(first));
      expect((await fixture.all('SELECT last_message_at AS at FROM conversations WHERE id = $1', [id]))[0]?.at).toEqual(
        new Date(first),
      );
      await fixture.as(school, 'DELETE FROM messages');
      expect(await last()).toBeNull();
    });
  });
});
