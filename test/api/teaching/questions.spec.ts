import supertest from 'supertest';
import { v7 as uuidv7 } from 'uuid';
import { TestApi } from '../../support/http/api.js';

type Question = { id: string; source: string; owned_by_org: boolean } & Record<string, unknown>;

const api = await TestApi.shared();
const { make } = api;
const [school, other] = [(await make.organization()).id, (await make.organization()).id];
const [key, otherKey] = [await api.key(school, { scopes: ['read', 'write'] }), await api.key(other)];
const level = uuidv7();

async function create(body: object) {
  const answer = await supertest(api.server).post('/v1/questions').set('Authorization', `Token token=${key}`).send(body);
  return { status: answer.status, body: answer.body as Question & { detail?: { loc: string[]; type: string }[] } };
}
const list = async (query = '', as = key) => ((await api.get(`/v1/questions?limit=100&${query}`, as)).body as { data: Question[] }).data;
const idsOf = async (query = '', as = key) => (await list(query, as)).map(({ id }) => id);

it('POST /v1/questions adds a question of the organization’s own', async () => {
  const wish = { topic: 'Quadratics', intro_text: 'Complete the square.', tags: ['exam'], total_marks: 3 };
  const { status, body } = await create({ ...wish, source: 'own', curriculum_level_ids: [level] });
  const known = { ...wish, source: 'own', owned_by_org: true, is_official_vce: false, question_number: null, author_id: null };
  expect([status, body]).toMatchObject([201, known]);
  expect((await list())[0]).toEqual(body);
  expect(await idsOf('', otherKey)).not.toContain(body.id);
  expect((await create({ topic: 'Alone' })).body).toMatchObject({ topic: 'Alone', intro_text: null, tags: [], total_marks: null });
});

it.each<[object, string, string]>([
  [{}, 'topic', 'missing'],
  [{ topic: ' ' }, 'topic', 'string_too_short'],
  [{ topic: 'x', source: 'vcaa' }, 'source', 'enum'],
  [{ topic: 'x', owned_by_org: true }, 'owned_by_org', 'extra_forbidden'],
  [{ topic: 'x', total_marks: -1 }, 'total_marks', 'greater_than_equal'],
  [{ topic: 'x', tags: Array(51).fill('x') }, 'tags', 'too_long'],
])('POST /v1/questions refuses %j', async (wrong, field, type) => {
  const { status, body } = await create(wrong);
  expect([status, body.detail]).toMatchObject([422, [{ loc: ['body', field], type }]]);
});

describe('GET /v1/questions', () => {
  it('lists own questions and those of catalogues, which are the same for all', async () => {
    // Catalogues are everybody's, those of other specs too.
    const topic = `Surds ${level}`;
    const levels = { curriculumLevelIds: [level] };
    const own = await make.row('questions', { organizationId: school, topic, ...levels });
    const theirs = await make.row('questions', { organizationId: other, topic, ...levels });
    const official = await make.row('questions', { catalogue: 'vcaa', topic, isOfficialVce: true, ...levels });
    const practice = await make.row('questions', { catalogue: 'practice', topic });
    expect((await idsOf(`topic=${topic}`)).sort()).toEqual([own.id, official.id, practice.id].sort());
    expect((await idsOf(`topic=${topic}`, otherKey)).sort()).toEqual([theirs.id, official.id, practice.id].sort());
    expect(await idsOf(`topic=${topic}&source=own`)).toEqual([own.id]);
    expect(await idsOf(`topic=${topic}&source=vcaa`)).toEqual([official.id]);
    expect(await idsOf('source=unheard_of')).toEqual([]);
    expect((await idsOf(`topic=${topic}&curriculum_level_id=${level}`)).sort()).toEqual([own.id, official.id].sort());
    expect(await idsOf(`topic=${topic}&curriculum_level_id=${uuidv7()}`)).toEqual([]);
    const [shown] = await list('source=vcaa');
    expect(shown).toMatchObject({ source: 'vcaa', owned_by_org: false, is_official_vce: true, author_id: null });
  });
});

it('a question belongs either to an organization or to a catalogue', async () => {
  for (const wrong of [{ topic: 'x' }, { topic: 'x', organizationId: school, catalogue: 'vcaa' }, { topic: 'x', catalogue: 'own' }]) {
    await expect(make.row('questions', wrong)).rejects.toMatchObject({ code: '23514' });
  }
});
