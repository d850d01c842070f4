import { PeopleFixture } from '../../support/data/provisioning.js';
import { TestApi } from '../../support/http/api.js';

interface Thread {
  id: string;
  last_message_at: string | null;
  participants: { user_id: string; role: string }[];
}
let a: PeopleFixture;
let b: PeopleFixture;

const api = await TestApi.shared();
const { make } = api;

beforeEach(async () => {
  [a, b] = [await PeopleFixture.open(api, make), await PeopleFixture.open(api, make)];
});

async function threads(key: string): Promise<Thread[]> {
  const answer = await api.get('/v1/conversations', key);
  expect(answer.status).toBe(200);
  return (answer.body as { data: Thread[] }).data;
}

const seen = async (key: string): Promise<string[]> => (await threads(key)).map(({ id }) => id);

const setStatus = (organizationId: string, userId: string, status: string) =>
  make.query('UPDATE members SET status = $3 WHERE organization_id = $1 AND user_id = $2', [organizationId, userId, status]);

describe('a conversation is visible to', () => {
  it('the organization of an active participant and no other', async () => {
    const { id } = await make.conversation({ participants: [(await make.tutor(a.id)).id] });
    expect(await seen(a.key)).toEqual([id]);
    expect(await seen(b.key)).toEqual([]);
  });

  it('an organization only while its participant has not left', async () => {
    const tutor = await make.tutor(a.id);
    const { id } = await make.conversation({ participants: [tutor.id, (await make.student(b.id)).id] });
    const leave = (at: string | null) => make.query('UPDATE conversation_participants SET left_at = $2 WHERE user_id = $1', [tutor.id, at]);
    await leave('2026-05-01T00:00:00Z');
    expect(await seen(a.key)).toEqual([]);
    expect(await seen(b.key)).toEqual([id]);
    await leave(null);
    expect(await seen(a.key)).toEqual([id]);
  });

  it('organizations of accepted members only', async () => {
    const tutor = await make.tutor(a.id);
    const { id } = await make.conversation({ participants: [tutor.id] });
    for (const [status, expected] of [
      ['archived', []],
      ['pending', []],
      ['accepted', [id]],
    ] as const) {
      await setStatus(a.id, tutor.id, status);
      expect([status, await seen(a.key)]).toEqual([status, expected]);
    }
    await make.tutor(b.id, { user: tutor, status: 'pending' });
    expect(await seen(b.key)).toEqual([]);
  });

  it('an organization that a participant joins later', async () => {
    const person = await make.user();
    const { id } = await make.conversation({ participants: [person.id] });
    expect(await seen(a.key)).toEqual([]);
    await make.student(a.id, { user: person });
    expect(await seen(a.key)).toEqual([id]);
  });
});

describe('a conversation shows', () => {
  it('its active participants with their roles, in joining order, from every organization', async () => {
    const [tutor, student, parent, gone] = [await make.tutor(a.id), await make.student(b.id), await make.user(), await make.student(a.id)];
    const { id } = await make.conversation({ type: 'group' });
    await make.seat(id, student.id, { role: 'student', joinedAt: new Date('2026-03-03') });
    await make.seat(id, tutor.id, { role: 'teacher', joinedAt: new Date('2026-03-01') });
    await make.seat(id, parent.id, { role: 'parent', joinedAt: new Date('2026-03-02') });
    await make.seat(id, gone.id, { role: 'student', leftAt: new Date('2026-03-04') });
    const expected = [
      { user_id: tutor.id, role: 'teacher' },
      { user_id: parent.id, role: 'parent' },
      { user_id: student.id, role: 'student' },
    ];
    for (const { key } of [a, b]) expect(await threads(key)).toMatchObject([{ id, participants: expected }]);
  });

  it('the time of its last message visible to everyone', async () => {
    const { id } = await make.conversation({ participants: [(await make.tutor(a.id)).id] });
    const last = async () => (await threads(a.key))[0]!.last_message_at;
    const say = (at: string, visibility: 'everyone' | 'student_only' | 'parent_only') => make.message(id, { createdAt: new Date(at), visibility });
    expect(await last()).toBeNull();
    await say('2026-05-01T10:00:00Z', 'parent_only');
    expect(await last()).toBeNull();
    await say('2026-05-01T09:00:00Z', 'everyone');
    expect(await last()).toBe('2026-05-01T09:00:00.000Z');
    const { id: latest } = await say('2026-05-01T11:00:00Z', 'everyone');
    await say('2026-05-01T12:00:00Z', 'student_only');
    await say('2026-05-01T08:00:00Z', 'everyone');
    expect(await last()).toBe('2026-05-01T11:00:00.000Z');
    await make.query(`UPDATE messages SET visibility = 'student_only' WHERE id = $1`, [latest]);
    expect(await last()).toBe('2026-05-01T09:00:00.000Z');
    await make.query('DELETE FROM messages');
    expect(await last()).toBeNull();
  });

  it('no message text', async () => {
    const { id } = await make.conversation({ participants: [(await make.tutor(a.id)).id], title: 'Questions' });
    await make.message(id, { content: 'a-private-word', visibility: 'student_only' });
    await make.message(id, { content: 'a-public-word' });
    const { text } = await api.get('/v1/conversations', a.key);
    expect(text).toContain('Questions');
    expect(text).not.toContain('-word');
  });

  it('no private message through its position in the list', async () => {
    const { id: tutor } = await make.tutor(a.id);
    const ids: string[] = [];
    for (const at of ['2026-05-01T08:00:00Z', '2026-05-01T09:00:00Z', '2026-05-01T10:00:00Z']) {
      const { id } = await make.conversation({ participants: [tutor] });
      await make.message(id, { createdAt: new Date(at) });
      ids.unshift(id);
    }
    expect(await seen(a.key)).toEqual(ids);
    await make.message(ids[2]!, { createdAt: new Date('2026-05-02T00:00:00Z'), visibility: 'student_only' });
    expect(await seen(a.key)).toEqual(ids);
    await make.message(ids[2]!, { createdAt: new Date('2026-05-02T00:00:00Z') });
    expect(await seen(a.key)).toEqual([ids[2], ids[0], ids[1]]);
  });
});
