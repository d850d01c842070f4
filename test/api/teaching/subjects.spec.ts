import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;

it('GET /v1/subjects lists all subjects by name, whatever its case, with their codes', async () => {
  const [{ id: school }, { id: other }] = [await make.organization(), await make.organization()];
  for (const name of ['Physics', 'chemistry', 'Methods 3/4', 'Über-Maths']) await make.subject(school, { name });
  await make.subject(other, { name: 'Art' });
  const key = await api.key(school);
  const answer = await api.get('/v1/subjects', key);
  const { data, ...rest } = answer.body as { data: { name: string; code: string }[] };
  expect(rest).toEqual({});
  expect(data.map(({ name, code }) => [name, code])).toEqual([
    ['chemistry', 'chemistry'],
    ['Methods 3/4', 'methods_34'],
    ['Physics', 'physics'],
    ['Über-Maths', 'uber_maths'],
  ]);
  for (const query of ['limit=1', 'offset=1', 'code=physics']) {
    expect((await api.get(`/v1/subjects?${query}`, key)).status).toBe(422);
  }
});
