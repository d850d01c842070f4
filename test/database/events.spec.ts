import supertest from 'supertest';
import { TestApi } from '../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;

interface Told {
  type: string;
  resource_id: string;
  data: Record<string, unknown>;
}

/** What is told of a change, once it has been numbered. */
async function told(organization: string, change: () => Promise<unknown>): Promise<Told[]> {
  await make.query('SELECT number_events()');
  const [last] = await make.query<{ number: string }>('SELECT number FROM event_counter');
  await change();
  await make.query('SELECT number_events()');
  return make.query<Told>('SELECT type, resource_id, data FROM events WHERE organization_id = $1 AND number > $2 ORDER BY number', [organization, last!.number]); // prettier-ignore
}

it('tells of a row that is made, changed and deleted', async () => {
  const { id } = await make.organization();
  const key = await api.key(id, { scopes: ['read', 'settings:write'] });
  const send = (method: 'post' | 'patch' | 'delete', path: string, body?: object) =>
    supertest(api.server)[method](`/v1/subjects${path}`).set('Authorization', `Token token=${key}`).send(body);
  let subject = '';
  expect(await told(id, async () => (subject = ((await send('post', '', { name: 'Latin' })).body as { id: string }).id))).toMatchObject([
    { type: 'subject.created', data: { changed: [] } },
  ]);
  expect(await told(id, () => send('patch', `/${subject}`, { name: 'Greek' }))).toEqual([
    { type: 'subject.updated', resource_id: subject, data: { changed: ['name'] } },
  ]);
  expect(await told(id, () => send('delete', `/${subject}`))).toMatchObject([{ type: 'subject.deleted', resource_id: subject }]);
});
