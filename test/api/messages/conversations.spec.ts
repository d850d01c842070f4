import supertest from 'supertest';
import { PeopleFixture } from '../../support/data/provisioning.js';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;
let a: PeopleFixture;
let b: PeopleFixture;
let key: string;
let tutor: { id: string; email: string };
let student: { id: string };
beforeEach(async () => {
  [a, b] = [await PeopleFixture.open(api, make), await PeopleFixture.open(api, make)];
  key = await api.key(a.id, { scopes: ['read', 'messages:write'] });
  [tutor, student] = [await make.tutor(a.id), await make.student(a.id)];
});

interface Shown {
  id: string;
  title: string | null;
  participants: { user_id: string; role: string }[];
}
async function send(method: 'get' | 'post' | 'patch', path: string, body?: object, as = key) {
  const request = supertest(api.server)[method](path).set('Authorization', `Token token=${as}`);
  const answer = await (body ? request.send(body) : request);
  return { status: answer.status, body: answer.body as Shown };
}
const open = (participant_ids: string[], more: object = {}) => send('post', '/v1/conversations', { type: 'group', participant_ids, ...more });
const patch = (id: string, body: object, as = key) => send('patch', `/v1/conversations/${id}`, body, as);
const who = ({ participants }: Shown) => participants.map(({ user_id, role }) => `${role} ${user_id}`).sort();

describe('POST /v1/conversations', () => {
  it('opens one for members and linked parents, which owners and admins see', async () => {
    const parent = await make.parent(a.id, { children: [student.id] });
    const { status, body } = await open([tutor.id, student.id, parent.id], { title: 'Methods' });
    expect([status, body]).toMatchObject([201, { type: 'group', title: 'Methods', classroom_id: null, last_message_at: null }]);
    expect(who(body)).toEqual([`parent ${parent.id}`, `student ${student.id}`, `teacher ${tutor.id}`]);
    expect(await send('get', `/v1/conversations/${body.id}`)).toEqual({ status: 200, body });
    const room = await make.classroom(a.id);
    expect((await open([tutor.id, student.id], { type: 'classroom_feed', classroom_id: room.id })).body).toMatchObject({ classroom_id: room.id });
  });

  it('is for nobody else', async () => {
    const child = await make.student(a.id);
    const others = [
      await make.user(),
      await make.student(b.id),
      await make.student(a.id, { status: 'pending' }),
      await make.tutor(a.id, { status: 'archived' }),
      await make.parent(a.id),
      await make.parent(a.id, { status: 'pending', children: [child.id] }),
    ];
    for (const { id } of others) expect([id, (await open([tutor.id, id])).status]).toEqual([id, 404]);
    const room = await make.classroom(b.id);
    expect((await open([tutor.id, student.id], { type: 'classroom_feed', classroom_id: room.id })).status).toBe(404);
    for (const more of [{ type: 'classroom_feed' }, { type: 'direct' }]) expect((await open([tutor.id, student.id], more)).status).toBe(422);
    expect((await open([student.id, child.id])).status).toBe(422);
    expect(await make.query('SELECT FROM conversation_participants WHERE user_id = $1', [tutor.id])).toEqual([]);
  });
});

describe('PATCH /v1/conversations/{id}', () => {
  it('changes the title and who of this organization takes part', async () => {
    const { id } = (await open([tutor.id, student.id])).body;
    const [other, theirs] = [await make.student(a.id), await make.tutor(b.id)];
    await make.row('conversation_participants', { conversationId: id, userId: theirs.id, role: 'teacher' });
    const changed = await patch(id, { title: 'Year 12', participant_ids: [tutor.id, other.id] });
    expect([changed.status, changed.body.title, who(changed.body)]).toEqual([
      200,
      'Year 12',
      [`student ${other.id}`, `teacher ${theirs.id}`, `teacher ${tutor.id}`].sort(),
    ]);
    expect(who((await patch(id, { participant_ids: [tutor.id, student.id] })).body)).toContain(`student ${student.id}`);
    expect((await patch(id, { title: null })).body).toMatchObject({ title: null });
    expect((await patch(id, { participant_ids: [student.id, other.id] })).status).toBe(422);
    expect((await patch(id, { participant_ids: [tutor.id, (await make.student(b.id)).id] })).status).toBe(404);
    expect((await patch(id, { title: 'X' }, await api.key(a.id, { scopes: ['messages:write'] }))).status).toBe(403);
  });

  it('changes neither a direct one nor another organization’s', async () => {
    const direct = await make.conversation({ participants: [tutor.id, student.id] });
    const theirs = await make.conversation({ type: 'group', participants: [(await make.tutor(b.id)).id] });
    for (const { id } of [direct, theirs])
      for (const body of [{ title: 'X' }, { participant_ids: [tutor.id, student.id] }]) expect((await patch(id, body)).status).toBe(404);
  });
});

it('a tutor who takes part can be the sender, and is told once an hour', async () => {
  const { id } = (await open([tutor.id, student.id])).body;
  const write = (sender_id: string, more: object = { conversation_id: id }) => send('post', '/v1/messages', { content: 'Hello', sender_id, ...more });
  for (let times = 0; times < 2; times++) expect((await write(tutor.id)).status).toBe(201);
  expect((await a.queued()).filter(({ kind }) => kind === 'written_in_your_name')).toEqual([
    { kind: 'written_in_your_name', recipient: tutor.email },
  ]);
  expect((await write((await make.tutor(a.id)).id)).status).toBe(422);
  expect((await write(student.id)).status).toBe(422);
  expect((await write(tutor.id, { recipient_id: student.id })).status).toBe(422);
});

it('If-Match names the version of a conversation or message that is meant, and of two who mean the same one comes first', async () => {
  const { id } = (await open([tutor.id, student.id])).body;
  const { body: message } = await send('post', '/v1/messages', { content: 'Hello', sender_id: tutor.id, conversation_id: id });
  const ask = (method: 'get' | 'patch' | 'delete', path: string, tag?: string, body?: object) => {
    const request = supertest(api.server)[method](path).set('Authorization', `Token token=${key}`);
    return (tag ? request.set('If-Match', tag) : request).send(body);
  };
  const [thread, one] = [`/v1/conversations/${id}`, `/v1/messages/${message.id}`];
  const { etag } = (await ask('get', thread)).headers as { etag: string };
  expect((await ask('patch', thread, '"another"', { title: 'X' })).status).toBe(412);
  const both = await Promise.all(['Red', 'Blue'].map((title) => ask('patch', thread, etag, { title })));
  expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
  const { headers } = await ask('get', one);
  expect((await ask('delete', one, '"another"')).status).toBe(412);
  expect((await ask('delete', one, headers.etag as string)).status).toBe(204);
  expect((await ask('delete', one, headers.etag as string)).status).toBe(404);
});
