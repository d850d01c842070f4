import { randomUUID } from 'node:crypto';
import { messageRow, type Row, seatRow, SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

const schema = await fixture(SchemaFixture.create());

describe('what an organization sees of shared rows', () => {
  let school: string;
  let other: string;

  beforeEach(async () => {
    [school, other] = [await schema.organization(), await schema.organization()];
  });

  describe('results', () => {
    const seen = (organization: string): Promise<Row[]> =>
      schema.as(organization, 'SELECT result_id, status FROM organization_results ORDER BY created_at, result_id');

    it('show from the first session of the student to the last, as student or as participant', async () => {
      const student = await schema.member(school, 'student');
      await schema.member(other, 'student', { user: student });
      const result_id = await schema.result(school, student);
      expect(await seen(school)).toEqual([]);
      const session_id = await schema.session(school);
      const seat = { id: randomUUID(), organization_id: school, session_id, student_id: student };
      await schema.insert(school, 'lesson_participants', seat);
      const shown = [{ result_id, status: 'in_progress' }];
      expect(await seen(school)).toEqual(shown);
      expect(await seen(other)).toEqual([]);
      const own = await schema.session(school, student);
      await schema.as(school, 'DELETE FROM lesson_participants WHERE id = $1', [seat.id]);
      expect(await seen(school)).toEqual(shown);
      await schema.as(school, 'UPDATE sessions SET student_id = NULL WHERE id = $1', [own]);
      expect(await seen(school)).toEqual([]);
      expect(await schema.as(school, 'SELECT * FROM session_students')).toEqual([]);
      await schema.session(other, student);
      expect(await seen(other)).toEqual(shown);
    });

    it('show whether they precede or follow the session, keep their status current and vanish when deleted', async () => {
      const student = await schema.member(school, 'student');
      const before = await schema.result(school, student);
      await schema.session(school, student);
      const after = await schema.result(school, student);
      expect((await seen(school)).map((row) => row.result_id).sort()).toEqual([before, after].sort());
      await schema.as(school, `UPDATE results SET status = 'completed', completed_at = now()`);
      expect((await seen(school)).map((row) => row.status)).toEqual(['completed', 'completed']);
      const stranger = await schema.member(school, 'student');
      await schema.all('UPDATE results SET student_id = $1 WHERE id = $2', [stranger, before]);
      expect((await seen(school)).map((row) => row.result_id)).toEqual([after]);
      await schema.as(school, 'DELETE FROM results');
      expect(await seen(school)).toEqual([]);
    });

    it('count the sessions of each student and are not rewritten by unrelated updates', async () => {
      const students = [await schema.member(school, 'student'), await schema.member(school, 'student')];
      const counts = (): Promise<Row[]> =>
        schema.as(school, 'SELECT student_id AS id, occurrences AS n, xmin FROM session_students ORDER BY n DESC');
      for (const student of [students[0], students[0], students[1]]) await schema.session(school, student);
      const before = await counts();
      expect(before).toMatchObject([
        { id: students[0], n: 2 },
        { id: students[1], n: 1 },
      ]);
      await schema.as(school, `UPDATE sessions SET status = 'completed'`);
      expect(await counts()).toEqual(before);
      await schema.as(school, 'UPDATE sessions SET student_id = $1', [students[1]]);
      expect(await counts()).toMatchObject([{ id: students[1], n: 3 }]);
    });
  });

  describe('conversations', () => {
    const seen = (organization: string): Promise<Row[]> =>
      schema.as(
        organization,
        'SELECT conversation_id AS id, type, last_message_at AS last FROM organization_conversations',
      );

    it('follow their participants and their memberships', async () => {
      const [tutor, student] = [await schema.member(school, 'tutor'), await schema.member(other, 'student')];
      const id = await schema.conversation(school, tutor, student);
      const shown = [{ id, type: 'direct', last: null }];
      expect([await seen(school), await seen(other)]).toEqual([shown, shown]);
      await schema.as(other, 'UPDATE conversation_participants SET left_at = now() WHERE user_id = $1', [student]);
      expect([await seen(school), await seen(other)]).toEqual([shown, []]);
      await schema.setStatus(school, tutor, 'archived');
      expect([await seen(school), await seen(other)]).toEqual([[], []]);
      await schema.setStatus(school, tutor, 'accepted');
      expect(await seen(school)).toEqual(shown);
      const newcomer = await schema.member(other, 'tutor', { status: 'pending' });
      await schema.insert(school, 'conversation_participants', seatRow(id, newcomer));
      expect(await seen(other)).toEqual([]);
      await schema.setStatus(other, newcomer, 'accepted');
      expect(await seen(other)).toEqual(shown);
    });

    it('know the time of the newest message that everyone may read', async () => {
      const id = await schema.conversation(school, await schema.member(school, 'tutor'));
      const last = async (): Promise<unknown> => (await seen(school))[0]?.last;
      const [first, second, third] = ['2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z', '2026-03-03T00:00:00Z'];
      await schema.insert(school, 'messages', messageRow(id, second));
      await schema.insert(school, 'messages', messageRow(id, first));
      expect(await last()).toEqual(new Date(second));
      const whispered = await schema.insert(school, 'messages', messageRow(id, third, { visibility: 'student_only' }));
      expect(await last()).toEqual(new Date(second));
      await schema.as(school, `UPDATE messages SET visibility = 'everyone' WHERE id = $1`, [whispered]);
      expect(await last()).toEqual(new Date(third));
      await schema.as(school, 'DELETE FROM messages WHERE created_at > $1', [first]);
      expect(await last()).toEqual(new Date(first));
      expect((await schema.all('SELECT last_message_at AS at FROM conversations WHERE id = $1', [id]))[0]?.at).toEqual(
        new Date(first),
      );
      await schema.as(school, 'DELETE FROM messages');
      expect(await last()).toBeNull();
    });
  });
});
