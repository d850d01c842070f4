import supertest from 'supertest';
import { PeopleFixture } from '../../support/data/provisioning.js';
import { TestApi } from '../../support/http/api.js';

interface Message {
  id: string;
  conversation_id: string;
  sender_id: string;
  content: string;
  visibility: string;
  reply_to_id: string | null;
  created_at: string;
}
interface Answer {
  data?: (Message & { participants: { user_id: string; role: string }[] })[];
  meta?: object;
  detail?: { loc: unknown; type: string }[];
  error?: { code: string };
}

const api = await TestApi.shared();
const { make } = api;
let a: PeopleFixture;
let b: PeopleFixture;
let [key, otherKey] = ['', ''];
/** The first owner of the organization. */
let owner: { id: string };

beforeEach(async () => {
  [a, b] = [await PeopleFixture.open(api, make), await PeopleFixture.open(api, make)];
  owner = await make.member(a.id, { role: 'owner', createdAt: new Date('2026-01-01') });
  await make.member(a.id, { role: 'owner' });
  [key, otherKey] = [await keyOf(a.id), await keyOf(b.id)];
});

const keyOf = (id: string) => api.key(id, { scopes: ['read', 'messages:write'] });

async function send(body: object, as = key) {
  const answer = await supertest(api.server).post('/v1/messages').set('Authorization', `Token token=${as}`).send(body);
  return { status: answer.status, body: answer.body as Message & Answer };
}

async function read(path: string, as = key) {
  const answer = await api.get(path, as);
  return { status: answer.status, ...(answer.body as Answer) };
}
const messagesOf = (id: string, query = '', as = key) => read(`/v1/conversations/${id}/messages${query}`, as);
const idsOf = async (id: string, query = '', as = key) => (await messagesOf(id, query, as)).data!.map((message) => message.id);

async function sent(body: object, as = key): Promise<Message> {
  const answer = await send(body, as);
  expect([answer.status, answer.body]).toMatchObject([201, {}]);
  return answer.body;
}

describe('POST /v1/messages to a person', () => {
  it('opens the one direct conversation with the first owner, and then continues it', async () => {
    const student = await make.student(a.id);
    const first = await sent({ recipient_id: student.id, content: 'Hello' });
    expect(first).toMatchObject({ sender_id: owner.id, content: 'Hello', message_type: 'text', visibility: 'everyone', reply_to_id: null });
    const second = await sent({ recipient_id: student.id, content: 'Again', reply_to_id: first.id });
    expect(second).toMatchObject({ conversation_id: first.conversation_id, reply_to_id: first.id });
    const [thread] = (await read('/v1/conversations')).data!;
    const participants = [
      { user_id: owner.id, role: 'teacher' },
      { user_id: student.id, role: 'student' },
    ];
    expect(thread).toMatchObject({ id: first.conversation_id, type: 'direct', last_message_at: second.created_at });
    expect(thread!.participants).toHaveLength(2);
    expect(thread!.participants).toEqual(expect.arrayContaining(participants));
    expect((await messagesOf(first.conversation_id)).data).toEqual([second, first]);
  });

  it.each(['student', 'parent', 'tutor'])('reaches a %s', async (kind) => {
    const child = await make.student(a.id);
    const recipient = kind === 'parent' ? await make.parent(a.id, { children: [child.id] }) : kind === 'tutor' ? await make.tutor(a.id) : child;
    const { conversation_id } = await sent({ recipient_id: recipient.id, content: 'Hello' });
    const [{ role } = {}] = await make.query<{ role: string }>(
      'SELECT role FROM conversation_participants WHERE conversation_id = $1 AND user_id = $2',
      [conversation_id, recipient.id],
    );
    expect(role).toBe(kind === 'tutor' ? 'teacher' : kind);
  });

  it('continues a conversation that was there before, also from the other side', async () => {
    const tutor = await make.tutor(a.id);
    const student = await make.student(a.id);
    await make.conversation({ participants: [owner.id, tutor.id, student.id] });
    await make.conversation({ type: 'group', participants: [owner.id, tutor.id] });
    const { id } = await make.conversation({ participants: [tutor.id, owner.id] });
    expect(await sent({ recipient_id: tutor.id, content: 'Hello' })).toMatchObject({ conversation_id: id });
    const admin = await make.member(a.id, { role: 'admin' });
    const there = await sent({ recipient_id: admin.id, content: 'Hello' });
    expect(await sent({ sender_id: admin.id, recipient_id: owner.id, content: 'Hello' })).toMatchObject({ conversation_id: there.conversation_id });
  });

  it('to a student is no secret: the conversation is listed, and the audit row names the key and the sender', async () => {
    const student = await make.student(a.id);
    const admin = await make.member(a.id, { role: 'admin' });
    const narrow = await api.key(a.id, { name: 'Bot', scopes: ['messages:write'] });
    const content = { recipient_id: student.id, content: 'Only for you', visibility: 'student_only' };
    const { id, conversation_id } = await sent({ sender_id: admin.id, ...content }, narrow);
    expect((await read('/v1/conversations')).data!.map((thread) => thread.id)).toEqual([conversation_id]);
    const rows = await make.query(
      `SELECT k.name, a.details - 'fields' AS details FROM audit_log a JOIN api_keys k ON k.id = a.api_key_id WHERE a.organization_id = $1`,
      [a.id],
    );
    expect(rows).toEqual([{ name: 'Bot', details: { message_id: id, conversation_id, user_id: admin.id } }]);
  });

  it('opens one conversation, however many first messages arrive at once', async () => {
    const student = await make.student(a.id);
    const admin = await make.member(a.id, { role: 'admin' });
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, n) => sent({ sender_id: admin.id, recipient_id: student.id, content: `Message ${n}` })),
    );
    expect(new Set(all.map(({ conversation_id }) => conversation_id)).size).toBe(1);
    expect((await messagesOf(all[0]!.conversation_id)).data).toHaveLength(20);
  });

  it('is answered alike for whoever is not a member or linked parent: 404', async () => {
    const child = await make.student(a.id);
    const strangers = [
      await make.user(),
      await make.student(b.id),
      await make.student(a.id, { status: 'pending' }),
      await make.tutor(a.id, { status: 'archived' }),
      await make.parent(a.id),
      await make.parent(a.id, { status: 'pending', children: [child.id] }),
    ];
    const texts = new Set<string>();
    for (const { id } of strangers) {
      const { status, body } = await send({ recipient_id: id, content: 'Hello' });
      expect([id, status]).toEqual([id, 404]);
      texts.add(JSON.stringify(body));
    }
    expect(texts.size).toBe(1);
    expect(await make.query('SELECT FROM messages WHERE organization_id = $1', [a.id])).toEqual([]);
  });

  it('finds the person again who has left and come back', async () => {
    const student = await make.student(a.id);
    const { conversation_id } = await sent({ recipient_id: student.id, content: 'Hello' });
    const offboarding = await api.key(a.id, { scopes: ['accounts:write'] });
    await supertest(api.server).post(`/v1/students/${student.id}/offboard`).set('Authorization', `Token token=${offboarding}`).expect(200);
    expect((await send({ recipient_id: student.id, content: 'Gone' })).status).toBe(404);
    await make.query(`UPDATE members SET status = 'accepted', archived_at = NULL WHERE user_id = $1`, [student.id]);
    expect(await sent({ recipient_id: student.id, content: 'Welcome back' })).toMatchObject({ conversation_id });
    expect((await read('/v1/conversations')).data![0]!.participants).toHaveLength(2);
  });

  it('a parent who is removed has left the conversation', async () => {
    const child = await make.student(a.id);
    const parent = await make.parent(a.id, { children: [child.id] });
    await sent({ recipient_id: parent.id, content: 'Hello' });
    const offboarding = await api.key(a.id, { scopes: ['accounts:write'] });
    await supertest(api.server).post(`/v1/parents/${parent.id}/offboard`).set('Authorization', `Token token=${offboarding}`).expect(200);
    expect((await read('/v1/conversations')).data![0]!.participants).toEqual([{ user_id: owner.id, role: 'teacher' }]);
  });
});

describe('POST /v1/messages to a conversation', () => {
  it('needs a sender who takes part', async () => {
    const [student, admin] = [await make.student(a.id), await make.member(a.id, { role: 'admin' })];
    const { id } = await make.conversation({ type: 'group', participants: [admin.id, student.id] });
    const { status, body } = await send({ conversation_id: id, content: 'Hello' });
    expect([status, body.detail]).toMatchObject([422, [{ loc: ['body', 'conversation_id'], type: 'value_error' }]]);
    expect(await sent({ conversation_id: id, sender_id: admin.id, content: 'Hello' })).toMatchObject({ conversation_id: id });
    await make.query('UPDATE conversation_participants SET left_at = now() WHERE user_id = $1', [admin.id]);
    expect((await send({ conversation_id: id, sender_id: admin.id, content: 'Hello' })).status).toBe(422);
  });

  it('finds no conversation of others', async () => {
    const { id } = await make.conversation({ participants: [(await make.tutor(b.id)).id] });
    expect((await send({ conversation_id: id, content: 'Hello' })).status).toBe(404);
    expect((await messagesOf(id)).status).toBe(404);
  });

  it('replies only to a message of the conversation', async () => {
    const [student, tutor] = [await make.student(a.id), await make.tutor(a.id)];
    const elsewhere = await sent({ recipient_id: tutor.id, content: 'Hello' });
    const reply = { recipient_id: student.id, content: 'Hello' };
    const wrong = await send({ ...reply, reply_to_id: elsewhere.id });
    expect([wrong.status, wrong.body.detail]).toMatchObject([422, [{ loc: ['body', 'reply_to_id'], type: 'value_error' }]]);
    await make.query('UPDATE messages SET deleted_at = now() WHERE id = $1', [elsewhere.id]);
    expect((await send({ recipient_id: tutor.id, content: 'Hello', reply_to_id: elsewhere.id })).status).toBe(404);
  });
});

describe('POST /v1/messages', () => {
  it('is sent by an owner or admin', async () => {
    const student = await make.student(a.id);
    const to = { recipient_id: student.id, content: 'Hello' };
    const { status, body } = await send({ ...to, sender_id: (await make.tutor(a.id)).id });
    expect([status, body.detail]).toMatchObject([422, [{ loc: ['body', 'sender_id'], type: 'value_error' }]]);
    for (const { id } of [await make.member(a.id, { role: 'admin', status: 'archived' }), await make.member(b.id, { role: 'owner' })]) {
      expect((await send({ ...to, sender_id: id })).status).toBe(404);
    }
    const own = await send({ recipient_id: owner.id, content: 'Hello' });
    expect([own.status, own.body.detail]).toMatchObject([422, [{ loc: ['body', 'recipient_id'] }]]);
  });

  it('needs an owner if no sender is named: 409', async () => {
    const ownerless = await make.organization();
    const [student, admin] = [await make.student(ownerless.id), await make.member(ownerless.id, { role: 'admin' })];
    const to = { recipient_id: student.id, content: 'Hello' };
    const as = await keyOf(ownerless.id);
    const { status, body } = await send(to, as);
    expect([status, body.error]).toMatchObject([409, { code: 'no_sender' }]);
    await sent({ ...to, sender_id: admin.id }, as);
  });

  it.each<[object, string, string]>([
    [{ content: 'x' }, 'conversation_id', 'missing'],
    [{ content: 'x', conversation_id: 1, recipient_id: 2 }, 'recipient_id', 'value_error'],
    [{ recipient_id: 1 }, 'content', 'missing'],
    [{ recipient_id: 1, content: 'x'.repeat(5001) }, 'content', 'string_too_long'],
    [{ recipient_id: 1, content: ' ' }, 'content', 'string_too_short'],
    [{ recipient_id: 1, content: 'x', visibility: 'nobody' }, 'visibility', 'enum'],
  ])('refuses %j', async (wrong, field, type) => {
    const named = Object.entries(wrong).map(([name, value]) => [name, typeof value === 'number' ? owner.id : (value as unknown)]);
    const { status, body } = await send(Object.fromEntries(named) as object);
    expect([status, body.detail]).toMatchObject([422, [{ loc: ['body', field], type }]]);
  });

  it('takes 5,000 characters', async () => {
    const { id } = await make.student(a.id);
    expect((await sent({ recipient_id: id, content: '🎓'.repeat(5000) })).content).toHaveLength(10_000);
  });

  it('needs the scope messages:write, or write', async () => {
    const { id } = await make.student(a.id);
    for (const [scope, wanted] of [['read', 403], ['write', 201], ['messages:write', 201], ['accounts:write', 403]] as const) {
      expect([scope, (await send({ recipient_id: id, content: 'Hello' }, await api.key(a.id, { scopes: [scope] }))).status]).toEqual([scope, wanted]);
    } // prettier-ignore
  });
});

describe('GET /v1/conversations/{id}/messages', () => {
  it('lists and counts neither private nor deleted messages', async () => {
    const { id: recipient_id } = await make.student(a.id);
    const first = await sent({ recipient_id, content: 'Hello' });
    for (const visibility of ['student_only', 'parent_only']) {
      const hidden = await sent({ recipient_id, content: 'a-private-word', visibility });
      expect(hidden).toMatchObject({ visibility, content: 'a-private-word', conversation_id: first.conversation_id });
    }
    const deleted = await sent({ recipient_id, content: 'a-private-word' });
    await make.query('UPDATE messages SET deleted_at = now() WHERE id = $1', [deleted.id]);
    for (const query of ['', '?cursor=start']) {
      const page = await messagesOf(first.conversation_id, query);
      expect(page).toMatchObject({ data: [{ id: first.id }], meta: { limit: 50, count: 1 } });
      expect(JSON.stringify(page)).not.toContain('private');
    }
    expect((await read('/v1/conversations')).data![0]).toMatchObject({ last_message_at: first.created_at });
  });

  it('has pages of 50, at most 100, and only what was created since a time', async () => {
    const { id } = await make.conversation({ participants: [owner.id] });
    const at = (n: number) => new Date(Date.UTC(2026, 4, 1, 0, n));
    const rows = Array.from({ length: 110 }, (_, n) => ({ organizationId: a.id, conversationId: id, content: `${n}`, createdAt: at(n) }));
    const ids = (await make.rows('messages', rows)).map((row) => row.id).reverse();
    expect(await idsOf(id)).toEqual(ids.slice(0, 50));
    expect(await idsOf(id, '?limit=100')).toEqual(ids.slice(0, 100));
    expect((await messagesOf(id, '?limit=101')).status).toBe(422);
    expect(await idsOf(id, `?limit=100&since=${at(100).toISOString()}`)).toEqual(ids.slice(0, 10));
    expect((await messagesOf(id, '?since=soon')).status).toBe(422);
  });

  it('shows an organization only what was written in its own name', async () => {
    // Both organizations see the conversation, because each has a participant; one of them belongs to both.
    const [ownerB, shared] = [await make.member(b.id, { role: 'owner' }), await make.student(a.id)];
    await make.student(b.id, { user: shared });
    const { id } = await make.conversation({ type: 'group', participants: [owner.id, ownerB.id, shared.id] });
    const ours = await sent({ conversation_id: id, content: 'ours' });
    const theirs = await sent({ conversation_id: id, content: 'theirs' }, otherKey);
    expect(await idsOf(id)).toEqual([ours.id]);
    expect(await idsOf(id, '', otherKey)).toEqual([theirs.id]);
    expect((await send({ conversation_id: id, content: 'reply', reply_to_id: theirs.id })).status).toBe(404);
    const direct = await sent({ recipient_id: shared.id, content: 'ours alone' });
    expect(JSON.stringify(await messagesOf(direct.conversation_id, '', otherKey))).not.toContain('ours');
  });
});

describe('DELETE /v1/messages/{id}', () => {
  const remove = async (id: string, as = key) =>
    (await supertest(api.server).delete(`/v1/messages/${id}`).set('Authorization', `Token token=${as}`)).status;

  it('takes back what the organization wrote: it is not shown, and counts no more', async () => {
    const [student, tutor] = [await make.student(a.id), await make.tutor(b.id)];
    const first = await sent({ recipient_id: student.id, content: 'Hello' });
    const second = await sent({ recipient_id: student.id, content: 'Sorry', reply_to_id: first.id });
    expect(await read(`/v1/messages/${second.id}`)).toMatchObject({ status: 200, id: second.id });
    expect(await remove(second.id, otherKey)).toBe(404);
    expect(await remove(second.id, await api.key(a.id, { scopes: ['messages:write'] }))).toBe(403);
    expect([await remove(second.id), await remove(second.id)]).toEqual([204, 404]);
    expect((await read(`/v1/messages/${second.id}`)).status).toBe(404);
    expect(await idsOf(first.conversation_id)).toEqual([first.id]);
    const last = async () =>
      (await make.query<{ at: Date | null }>('SELECT last_message_at AS at FROM conversations WHERE id = $1', [first.conversation_id]))[0]!.at;
    expect((await last())?.toISOString()).toBe(first.created_at);
    expect(await remove(first.id)).toBe(204);
    expect(await last()).toBeNull();
    // What others wrote in a conversation that is seen here stays theirs.
    const shared = await make.conversation({ participants: [owner.id, tutor.id] });
    const theirs = await make.message(shared.id, { organizationId: b.id });
    expect([await remove(theirs.id), (await read(`/v1/messages/${theirs.id}`)).status]).toEqual([404, 404]);
  });

  it('also a private one, which GET does not show', async () => {
    const { id } = await sent({ recipient_id: (await make.student(a.id)).id, content: 'Psst', visibility: 'student_only' });
    expect([(await read(`/v1/messages/${id}`)).status, await remove(id)]).toEqual([404, 204]);
  });
});
