import supertest from 'supertest';
import { TestApi } from '../../support/http/api.js';

type Plan = { id: string; plan_data: object; detail?: { loc: string[]; type: string }[] } & Record<string, unknown>;

const api = await TestApi.shared();
const { make } = api;
const [school, other] = [(await make.organization()).id, (await make.organization()).id];
const key = await api.key(school, { scopes: ['read', 'coursework:write', 'sessions:write'] });
const owner = await make.member(school, { role: 'owner' });
const [tutor, student] = [await make.tutor(school), await make.student(school)];
const [room, group] = [await make.classroom(school), await make.group(school)];
const TARGETS = { classroom: room.id, group: group.id, student: student.id };
const KINDS = ['classroom', 'group', 'student'] as const;

const as = (request: supertest.Test) => request.set('Authorization', `Token token=${key}`);
const answered = ({ status, body, text }: supertest.Response) => ({ status, body: body as Plan, text });

async function create(body: object | string) {
  return answered(await as(supertest(api.server).post('/v1/lesson-plans')).type('json').send(body));
}
async function change(id: string, body: object) {
  return answered(await as(supertest(api.server).put(`/v1/lesson-plans/${id}`)).send(body));
}
const remove = (session: string) => as(supertest(api.server).delete(`/v1/sessions/${session}`));
const listed = async (query = '') => (await api.get(`/v1/lesson-plans${query}`, key)).body as { data: Plan[] };
const stored = async (id: string) => (await listed('?limit=100')).data.find((plan) => plan.id === id)!;
const plain = { title: 'Quadratics', scope: 'student', student_id: student.id };

async function created(body: object = {}): Promise<Plan> {
  const answer = await create({ ...plain, ...body });
  expect([answer.status, answer.body]).toMatchObject([201, {}]);
  return answer.body;
}

describe('POST /v1/lesson-plans', () => {
  it('creates a draft by the first owner, and lists the same', async () => {
    const plan = await created();
    const empty = { classroom_id: null, group_id: null, session_id: null, math_level_id: null, scheduled_for: null };
    expect(plan).toMatchObject({ ...plain, ...empty, created_by: owner.id, status: 'draft', plan_data: {}, curriculum_level_ids: [] });
    expect(await stored(plan.id)).toEqual(plan);
  });

  it('stores every field', async () => {
    const session = await make.session(school, { tutorId: tutor.id, studentId: student.id });
    const fields = {
      created_by: tutor.id,
      session_id: session.id,
      status: 'ready',
      scheduled_for: '2026-05-01T09:30:00.000Z',
      plan_data: { goals: ['a', 'b'] },
    };
    expect(await created(fields)).toMatchObject(fields);
  });

  it.each(KINDS)('with the scope %s needs exactly its id', async (scope) => {
    const own = { [`${scope}_id`]: TARGETS[scope] };
    const wish = { title: 'Quadratics', scope };
    const { status, body } = await create({ ...wish, ...own });
    expect([status, body]).toMatchObject([201, { scope, ...own }]);
    for (const kind of KINDS.filter((one) => one !== scope)) {
      const id = { [`${kind}_id`]: TARGETS[kind] };
      const both = await create({ ...wish, ...own, ...id });
      expect([both.status, both.body.detail]).toMatchObject([422, [{ loc: ['body', `${kind}_id`], type: 'value_error' }]]);
      const wrong = await create({ ...wish, ...id });
      expect([wrong.status, wrong.body.detail!.map(({ loc }) => loc[1]).sort()]).toEqual([422, [`${kind}_id`, `${scope}_id`].sort()]);
    }
    expect((await create(wish)).status).toBe(422);
    expect((await listed(`?scope=${scope}&limit=100`)).data.map((plan) => plan.scope)).toContain(scope);
  });

  it('finds only people and records of the organization', async () => {
    const session = await make.session(other);
    const unknown = [
      { student_id: (await make.student(other)).id },
      { student_id: (await make.student(school, { status: 'archived' })).id },
      { session_id: session.id },
      { created_by: (await make.tutor(other)).id },
      { scope: 'classroom', student_id: null, classroom_id: (await make.classroom(other)).id },
      { scope: 'group', student_id: null, group_id: (await make.group(other)).id },
    ];
    for (const wrong of unknown) expect([wrong, (await create({ ...plain, ...wrong })).status]).toEqual([wrong, 404]);
    for (const [field, id] of [['student_id', tutor.id], ['created_by', student.id]] as const) {
      const { status, body } = await create({ ...plain, [field]: id });
      expect([status, body.detail]).toMatchObject([422, [{ loc: ['body', field], type: 'value_error' }]]);
    } // prettier-ignore
  });

  it('keeps plan data as it was sent: names, their order, and numbers', async () => {
    const data = `{"zebra":1,"a":{"__proto__":{"x":[]},"constructor":null},"Ω ключ":"line\\nbreak","":0.1,"big":9007199254740991,"small":1e-7,
      "negative":-0.5,"nested":[[{"b":true,"a":false}]],"html":"<b>&amp;</b>"}`;
    const { status, body, text } = await create(JSON.stringify(plain).replace(/\}$/, `,"plan_data":${data}}`));
    const sent = JSON.stringify(JSON.parse(data));
    expect(status).toBe(201);
    expect(text).toContain(`"plan_data":${sent}`);
    expect((await api.get('/v1/lesson-plans?limit=1', key)).text).toContain(`"plan_data":${sent}`);
    const kept = await change(body.id, { status: 'ready' });
    expect(kept.text).toContain(`"plan_data":${sent}`);
  });

  it.each(['9007199254740992', '9007199254740993', '-9007199254740993', '12345678901234567890', '1e16', '1e400', '1e-21'])(
    'refuses the number %s, which would come back as another one',
    async (number) => {
      const sent = JSON.stringify({ ...plain, plan_data: { nested: [{ n: 'N' }] } }).replace('"N"', number);
      const { status, body } = await create(sent);
      expect([status, body.detail]).toMatchObject([422, [{ loc: ['body', 'plan_data'], type: 'value_error' }]]);
    },
  );

  it('takes any object of at most 256 kB', async () => {
    const sized = (bytes: number) => ({ x: 'x'.repeat(bytes - '{"x":""}'.length) });
    expect((await created({ plan_data: sized(262_144) })).plan_data).toEqual(sized(262_144));
    for (const [wrong, type] of [[sized(262_145), 'too_long'], [[], 'dict_type'], ['text', 'dict_type']] as const) {
      const { status, body } = await create({ ...plain, plan_data: wrong });
      expect([status, body.detail]).toMatchObject([422, [{ loc: ['body', 'plan_data'], type }]]);
    } // prettier-ignore
  });
});

describe('PUT /v1/lesson-plans/{id}', () => {
  it('changes what it is given, and keeps the rest', async () => {
    const plan = await created({ plan_data: { warm_up: 5, other: { deep: [1] } }, scheduled_for: '2026-05-01T09:30:00Z' });
    const { status, body } = await change(plan.id, { status: 'ready' });
    expect([status, body]).toEqual([200, { ...plan, status: 'ready', updated_at: body.updated_at }]);
    expect(await stored(plan.id)).toEqual(body);
    const wish = { title: 'Parabolas', plan_data: { new: true }, scheduled_for: null };
    expect((await change(plan.id, wish)).body).toMatchObject({ ...wish, status: 'ready', student_id: student.id });
  });

  it('moves a plan to another target together with its scope', async () => {
    const plan = await created();
    expect((await change(plan.id, { scope: 'group', group_id: group.id })).body).toMatchObject({
      scope: 'group', group_id: group.id, student_id: null,
    }); // prettier-ignore
    for (const wrong of [{ scope: 'student' }, { student_id: student.id }, { group_id: null }, { scope: 'student', group_id: group.id }]) {
      expect([wrong, (await change(plan.id, wrong)).status]).toEqual([wrong, 422]);
    }
    expect((await change(plan.id, { scope: 'classroom', classroom_id: (await make.classroom(other)).id })).status).toBe(404);
    expect(await stored(plan.id)).toMatchObject({ scope: 'group', group_id: group.id });
  });

  it('leaves a plan alone whose student has left, whatever else changes', async () => {
    const leaver = await make.student(school);
    const plan = await created({ student_id: leaver.id });
    await make.query(`UPDATE members SET status = 'archived' WHERE user_id = $1`, [leaver.id]);
    expect((await change(plan.id, { status: 'delivered' })).body).toMatchObject({ status: 'delivered', student_id: leaver.id });
  });

  it('finds only plans of the organization', async () => {
    const theirs = await make.row('lesson_plans', { organizationId: other, title: 'x', scope: 'student', studentId: (await make.student(other)).id });
    expect((await change(theirs.id, { status: 'ready' })).status).toBe(404);
    expect((await change(crypto.randomUUID(), { status: 'ready' })).status).toBe(404);
  });
});

it('a session that a plan names cannot be deleted', async () => {
  const session = await make.session(school);
  const plan = await created({ session_id: session.id });
  const { status, text } = await remove(session.id);
  expect([status, JSON.parse(text)]).toMatchObject([409, { error: { code: 'still_referenced', details: { referenced_by: 'lesson_plans' } } }]);
  await change(plan.id, { session_id: null });
  expect((await remove(session.id)).status).toBe(204);
});

it('GET /v1/results/{id} shows a result as the list does, and no other organization’s', async () => {
  await make.session(school, { studentId: student.id });
  const result = await make.result(student.id, { grade: 81 });
  const [row] = ((await api.get('/v1/results', key)).body as { data: Plan[] }).data;
  expect((await api.get(`/v1/results/${result.id}`, key)).body).toEqual(row);
  expect(row!.id).toBe(result.id);
  expect((await api.get(`/v1/results/${result.id}`, await api.key(other))).status).toBe(404);
});
