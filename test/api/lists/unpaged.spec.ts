import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { list, Lists, Source, text, uuid, View } from '../../../apps/api/src/http/kit.js';
import type { Caller } from '../../../apps/api/src/http/auth/caller.js';
import { enveloped } from '../../../apps/api/src/http/lists/envelope.interceptor.js';
import { TestApi } from '../../support/http/api.js';

const POSTS = list({
  id: 'planted_posts',
  path: 'v1/planted/posts',
  summary: 'Lists posts',
  view: new View('PlantedPost', { id: uuid('s.id'), title: text('s.title'), content: text('s.content') }),
  source: new Source('blog_posts', 's'),
  order: sql`s.title, s.id`,
  bare: 'data',
});

const api = await TestApi.shared();
const { make } = api;
const { id: school } = await make.organization();
const caller = { organizationId: school } as Caller;
const lists = api.app.get(Lists, { strict: false });
const headers = { setHeader: () => undefined } as unknown as Parameters<typeof enveloped>[1];

/** The titles of the records in an answer. */
async function shown(page: Promise<unknown>): Promise<{ fields: string[]; titles: string[] }> {
  const answer = enveloped(await page, headers);
  const body = JSON.parse(answer as string) as { data: { title: string }[] };
  return { fields: Object.keys(body), titles: body.data.map(({ title }) => title) };
}

describe('a list without pages', () => {
  it('has no parameters, and sends all records of the organization in their order', async () => {
    await make.post((await make.organization()).id, { title: 'Another organization’s' });
    expect(await shown(lists.page(caller, POSTS, new POSTS.query()))).toEqual({ fields: ['data'], titles: [] });
    for (const title of ['B', 'C', 'A']) await make.post(school, { title });
    expect(Object.keys(new POSTS.query())).toEqual([]);
    expect(await shown(lists.page(caller, POSTS, new POSTS.query()))).toEqual({ fields: ['data'], titles: ['A', 'B', 'C'] });
  });

  it.each([1, 200_000])('is what a write leaves, before it is committed, also with texts of %i characters', async (length) => {
    const database = api.app.get(Database, { strict: false });
    const rollback = new Error('Roll back');
    const written = database.transaction(caller, async () => {
      await database.query(sql`UPDATE blog_posts SET content = ${'x'.repeat(length)} WHERE organization_id = ${school}`);
      await database.query(sql`DELETE FROM blog_posts WHERE organization_id = ${school} AND title = 'B'`);
      expect(await shown(lists.written(caller, POSTS))).toEqual({ fields: ['data'], titles: ['A', 'C'] });
      throw rollback;
    });
    await expect(written).rejects.toBe(rollback);
  });
});
