import supertest from 'supertest';
import { TestApi } from '../../support/http/api.js';

type Row = Record<string, unknown> & { id: string };

const api = await TestApi.shared();
const { make } = api;

describe('GET /v1/tutors', () => {
  it('lists all staff, and filters by is_published', async () => {
    const { id: school } = await make.organization();
    const key = await api.key(school);
    const published = await make.tutor(school, { profile: { isPublished: true } });
    const owner = await make.tutor(school, { role: 'owner', profile: { isPublished: true } });
    const unpublished = await make.tutor(school, { profile: { isPublished: false } });
    const admin = await make.member(school, { role: 'admin' });
    const bare = await make.member(school, { role: 'tutor', status: 'pending' });
    await make.student(school);
    const list = async (query = '') => {
      const { data, meta } = (await api.get(`/v1/tutors?${query}`, key)).body as {
        data: Row[];
        meta: { total: number };
      };
      const pages = (await api.get(`/v1/tutors?cursor=start&${query}`, key)).body as { data: Row[] };
      expect(pages.data).toEqual(data);
      expect(meta.total).toBe(data.length);
      return data;
    };
    const ids = (rows: { id: string }[]) => rows.map(({ id }) => id).sort();
    const everybody = await list();
    expect(ids(everybody)).toEqual(ids([published, owner, unpublished, admin, bare]));
    expect(ids(await list('is_published=true'))).toEqual(ids([published, owner]));
    const others = await list('is_published=false');
    expect(ids(others)).toEqual(ids([unpublished, admin, bare]));
    for (const row of everybody) expect(row.is_published).toBe(!ids(others).includes(row.id));
    const without = everybody.find(({ role }) => role === 'admin')!;
    expect(without).toMatchObject({ is_published: false, bio: null, subjects: [], service_postcodes: [] });
    const reviews = await api.get(`/v1/tutors/${without.id}/reviews`, key);
    expect(reviews.status).toBe(200);

    await make.query('UPDATE tutor_profiles SET is_published = NOT is_published WHERE organization_id = $1', [school]);
    expect(ids(await list('is_published=true'))).toEqual([unpublished.id]);
    await make.query('DELETE FROM tutor_profiles WHERE organization_id = $1', [school]);
    expect([await list('is_published=true'), await list('is_published=false')]).toEqual([[], await list()]);
  });
});

describe('the date of a post', () => {
  it.each([
    ['2026-05-01', '2026-05-01'],
    ['2026-05-01T23:30:00-10:00', '2026-05-01'],
    ['2026-05-01T00:30:00+14:00', '2026-05-01'],
    ['2026-05-01T12:00Z', '2026-05-01'],
  ])('is the day written by the caller: %s', async (date, day) => {
    const { id: school } = await make.organization();
    const key = await api.key(school, { scopes: ['blog:write'] });
    const answer = await supertest(api.server)
      .post('/v1/blog-posts')
      .set('Authorization', `Token token=${key}`)
      .send({ title: 'A day', slug: 'a-day', date });
    expect([answer.status, (answer.body as { date: string }).date]).toEqual([201, day]);
  });
});
