import supertest from 'supertest';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;
const { id: school } = await make.organization();
const form = await api.key(school, { scopes: ['leads:write'] });
const key = await api.key(school, { scopes: ['leads:write', 'read'] });
const guest = { guest_name: 'Mia Nguyen', guest_email: 'mia@example.org', message: 'Is there a place?' };

type Shown = { id: string; status: string; error?: { code: string } };
async function send(method: 'get' | 'post' | 'patch', path: string, body?: object, as = key) {
  const request = supertest(api.server)[method](path).set('Authorization', `Token token=${as}`);
  const answer = await (body ? request.send(body) : request);
  return { status: answer.status, body: answer.body as Shown };
}

const patch = (id: string, status: string, as = key) => send('patch', `/v1/org-inbox/${id}`, { status }, as);

describe('a message to the inbox', () => {
  it('comes by a form, whose key reads nothing', async () => {
    const { status, body } = await send('post', '/v1/org-inbox', guest, form);
    expect([status, body]).toMatchObject([201, { ...guest, org_id: school, status: 'unread', from_user_id: null, subject_tutor_id: null }]);
    expect((await send('get', `/v1/org-inbox/${body.id}`, undefined, form)).status).toBe(403);
    expect((await patch(body.id, 'read', form)).status).toBe(403);
    expect(await send('get', `/v1/org-inbox/${body.id}`)).toMatchObject({ status: 200, body });
  });

  it('may be about one who teaches here', async () => {
    const about = (subject_tutor_id: string) => send('post', '/v1/org-inbox', { ...guest, subject_tutor_id });
    const tutor = (await make.tutor(school)).id;
    expect((await about(tutor)).body).toMatchObject({ subject_tutor_id: tutor });
    for (const { id } of [await make.student(school), await make.tutor(school, { status: 'archived' }), await make.user()])
      expect((await about(id)).status).toBe(404);
  });

  it('is read, then archived; nothing leads back', async () => {
    const { id } = (await send('post', '/v1/org-inbox', guest)).body;
    const to = (status: string) => patch(id, status);
    for (const status of ['read', 'read', 'archived', 'archived']) expect(await to(status)).toMatchObject({ status: 200, body: { status } });
    expect(await to('read')).toMatchObject({ status: 409, body: { error: { code: 'invalid_state' } } });
    expect((await to('unread')).status).toBe(422);
  });
});
