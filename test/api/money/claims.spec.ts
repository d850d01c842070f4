import { CLAIM } from '@app/database';
import { CalendarFixture, type Sent } from '../../support/data/calendar-fixture.js';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;

interface Claim {
  id: string;
  status: string;
  amount_cents: number;
  approved_amount_cents?: number | null;
  approved_at: string | null;
}

type Status = (typeof CLAIM.values)[number];

/** An organization whose key may write payroll. */
async function payroll() {
  const at = await CalendarFixture.open(api);
  const key = await api.key(at.school, { scopes: ['read', 'payroll:write'] });
  const post = (path: string, body?: object): Promise<Sent<Claim>> => at.send<Claim>('post', path, body, { key });
  const patch = (path: string, body: object) => at.send<Claim>('patch', path, body, { key });
  const found = async (path: string) => {
    const { body } = await at.send<{ data: Claim[] }>('get', path, undefined, { key });
    return body.data.map(({ id }) => id);
  };
  const trip = (status: Status = 'logged') => make.mileage(at.school, at.t1, { status, amountCents: 1100, rateCents: 88 });
  const expense = (status: Status = 'logged', more = {}) => make.expense(at.school, at.t1, { status, amountCents: 1250, ...more });
  return { at, post, patch, found, trip, expense };
}

const KINDS = ['mileage', 'expenses'] as const;
const PATHS = {
  mileage: {
    approve: (id: string) => `/v1/mileage/${id}/approve`,
    reject: (id: string) => `/v1/mileage/${id}/reject`,
    reimburse: (id: string) => `/v1/mileage/${id}/reimburse`,
  },
  expenses: {
    approve: (id: string) => `/v1/expenses/${id}/approve`,
    reject: (id: string) => `/v1/expenses/${id}/reject`,
    reimburse: (id: string) => `/v1/expenses/${id}/reimburse`,
  },
};
const pairs = KINDS.flatMap((kind) => CLAIM.actions.flatMap((action) => CLAIM.values.map((state) => [kind, action, state] as const)));

it.each(pairs)('%s: %s of a claim that is %s', async (kind, action, state) => {
  const { post, trip, expense } = await payroll();
  const { id } = await (kind === 'mileage' ? trip(state) : expense(state));
  const decided = await post(PATHS[kind][action](id));
  const reached = { approve: 'approved', reject: 'rejected', reimburse: 'reimbursed' }[action];
  if (state === reached || CLAIM.allowed(action).includes(state)) {
    expect(decided).toMatchObject({ status: 200, body: { id, status: reached } });
    expect(decided.body.approved_at !== null).toBe(state === 'logged' && action === 'approve');
  } else {
    expect(decided).toMatchObject({ status: 409, body: { error: { code: 'invalid_state', details: { state, allowed: CLAIM.allowed(action) } } } });
  }
});

describe('an expense', () => {
  it('is approved in full, or in part, and never beyond the claim', async () => {
    const { at, post, expense } = await payroll();
    const [whole, part, none] = [await expense(), await expense(), await expense()];
    expect((await post(`/v1/expenses/${whole.id}/approve`)).body).toMatchObject({ status: 'approved', approved_amount_cents: 1250 });
    const approve = (cents: number) => post(`/v1/expenses/${part.id}/approve`, { approved_amount_cents: cents });
    const beyond = await approve(1251);
    expect([beyond.status, beyond.body.detail.map(({ loc }) => loc)]).toEqual([422, [['body', 'approved_amount_cents']]]);
    expect((await approve(-1)).status).toBe(422);
    expect((await approve(1000)).body).toMatchObject({ status: 'approved', amount_cents: 1250, approved_amount_cents: 1000 });
    expect((await approve(1000)).body.approved_amount_cents).toBe(1000);
    expect((await approve(900)).body.error.code).toBe('invalid_state');
    const reimbursed = await post(`/v1/expenses/${part.id}/reimburse`);
    expect(reimbursed.body).toMatchObject({ status: 'reimbursed', approved_amount_cents: 1000 });
    expect((await post(`/v1/expenses/${none.id}/reject`)).body).toMatchObject({ status: 'rejected', approved_amount_cents: null });
    const audited = await make.query<{ details: object }>(
      `SELECT details - 'fields' AS details FROM audit_log WHERE organization_id = $1 AND operation = $2 AND result = 'done'`,
      [at.school, 'POST /v1/expenses/:claim_id/approve'],
    );
    expect(audited.map(({ details }) => details)).toEqual(expect.arrayContaining([{ claim_id: whole.id }, { claim_id: part.id }]));
  });

  it('is decided once, of ten at once', async () => {
    const { post, expense } = await payroll();
    const { id } = await expense();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => (n % 2 ? post(`/v1/expenses/${id}/reject`) : post(`/v1/expenses/${id}/approve`))),
    );
    const done = answers.filter(({ status }) => status === 200).map(({ body }) => body.status);
    expect([new Set(done).size, done.length]).toEqual([1, 5]);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(5);
  });
});

describe('a trip', () => {
  const drive = (at: CalendarFixture, more: object) => ({ tutor_id: at.t1, trip_date: '2026-05-01', distance_km: 12.5, ...more });

  it.each([
    [12.5, 88, 1100],
    [0.005, 100, 1],
    [0.004, 100, 0],
    [1.005, 100, 101],
    [10_000, 10_000_000, 100_000_000_000],
    [0, 88, 0],
  ])('%d km at %d cents are %d cents, rounded once, half away from zero', async (distance_km, rate_cents, cents) => {
    const { at, post } = await payroll();
    expect((await post('/v1/mileage', drive(at, { distance_km, rate_cents }))).body).toMatchObject({ status: 'logged', amount_cents: cents });
  });

  it('costs what is given, and follows a new distance or rate', async () => {
    const { at, post, patch } = await payroll();
    const { id, amount_cents } = (await post('/v1/mileage', drive(at, { rate_cents: 88, amount_cents: 1000 }))).body;
    expect(amount_cents).toBe(1000);
    const changes: [object, number][] = [
      [{ destination: 'Brunswick' }, 1000],
      [{ amount_cents: null }, 1100],
      [{ distance_km: 10 }, 880],
      [{ rate_cents: 90 }, 900],
      [{ distance_km: 11, amount_cents: 1 }, 1],
    ];
    for (const [change, cents] of changes) expect((await patch(`/v1/mileage/${id}`, change)).body).toMatchObject({ amount_cents: cents });
  });

  it('costs nothing known without rate and amount, until there is one', async () => {
    const { at, post, patch } = await payroll();
    const { id, amount_cents } = (await post('/v1/mileage', drive(at, {}))).body;
    expect(amount_cents).toBeNull();
    expect((await patch(`/v1/mileage/${id}`, { rate_cents: 88 })).body.amount_cents).toBe(1100);
  });

  it('without an amount is neither approved nor reimbursed, only rejected', async () => {
    const { at, post } = await payroll();
    const { id } = (await post('/v1/mileage', drive(at, {}))).body;
    expect(await post(`/v1/mileage/${id}/approve`)).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('amount') as string } },
    });
    expect((await post(`/v1/mileage/${id}/reject`)).body.status).toBe('rejected');
    expect((await post('/v1/expenses', { tutor_id: at.t1, expense_date: '2026-05-01', amount_cents: 0 })).status).toBe(422);
  });

  it('is claimed by staff, also those who have left, of today by the organization’s clock, for its own lessons', async () => {
    const { at, post } = await payroll();
    const left = await make.tutor(at.school, { status: 'archived', archivedAt: new Date() });
    expect((await post('/v1/mileage', drive(at, { tutor_id: left.id }))).status).toBe(201);
    const student = await post('/v1/mileage', drive(at, { tutor_id: at.students[0] }));
    expect([student.status, student.body.detail[0]!.loc]).toEqual([422, ['body', 'tutor_id']]);
    const other = await CalendarFixture.open(api);
    const session_id = (await make.session(other.school)).id;
    expect((await post('/v1/mileage', drive(at, { tutor_id: other.t1 }))).status).toBe(404);
    expect((await post('/v1/mileage', drive(at, { session_id }))).status).toBe(404);
    const todayIn = (zone: string) => new Date().toLocaleDateString('en-CA', { timeZone: zone });
    for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
      await make.query('UPDATE organizations SET time_zone = $1 WHERE id = $2', [zone, at.school]);
      const [today, later] = [todayIn(zone), todayIn('Pacific/Kiritimati')];
      expect((await post('/v1/mileage', drive(at, { trip_date: today }))).status).toBe(201);
      if (later > today) expect((await post('/v1/mileage', drive(at, { trip_date: later }))).status).toBe(422);
    }
  });
});

it.each([
  ['/v1/mileage', { trip_date: '2026-05-01', distance_km: 1 }],
  ['/v1/expenses', { expense_date: '2026-05-01', amount_cents: 100 }],
])('%s names sessions of its tutor alone, which have begun', async (path, claim) => {
  const { at, post, patch } = await payroll();
  const session = (tutorId: string | null, startsAt: Date, more = {}) =>
    make.session(at.school, { tutorId, startsAt, endsAt: new Date(startsAt.getTime() + 3_600_000), ...more });
  const [before, soon] = [new Date(Date.now() - 60_000), new Date(Date.now() + 600_000)];
  const [own, others, nobodys] = [await session(at.t1, before), await session(at.t2, before), await session(null, before, { status: 'pending' })];
  const ahead = await session(at.t1, soon, { overlapAllowed: true });
  const refused = (at: string) => ({ status: 422, body: { detail: [{ loc: ['body', at] }] } });
  const claimed = (more: object) => post(path, { tutor_id: at.t1, ...claim, ...more });
  for (const { id } of [others, nobodys, ahead]) expect(await claimed({ session_id: id })).toMatchObject(refused('session_id'));
  const { status, body } = await claimed({ session_id: own.id });
  expect(status).toBe(201);
  const one = `${path}/${body.id}`;
  for (const { id } of [others, nobodys, ahead]) expect(await patch(one, { session_id: id })).toMatchObject(refused('session_id'));
  expect(await patch(one, { tutor_id: at.t2 })).toMatchObject(refused('tutor_id'));
  expect((await patch(one, { tutor_id: at.t2, session_id: others.id })).status).toBe(200);
  // What was handed over since stays as it was claimed.
  await make.query('UPDATE sessions SET tutor_id = $1 WHERE id = $2', [at.t1, others.id]);
  expect((await patch(one, { session_id: others.id })).status).toBe(200);
  expect((await patch(one, { tutor_id: at.t1, session_id: null })).status).toBe(200);
});

it('claims are found by tutor, state, category and day', async () => {
  const { at, found, trip, expense } = await payroll();
  const [logged, rejected] = [await trip(), await trip('rejected')];
  const parking = await expense('logged', { category: 'parking', expenseDate: '2026-04-30' });
  const tolls = await expense('approved', { category: 'tolls', expenseDate: '2026-05-01', tutorId: at.t2 });
  expect(await found('/v1/mileage?status=logged')).toEqual([logged.id]);
  expect(await found(`/v1/mileage?status=rejected&tutor_id=${at.t1}&from=2026-03-02&to=2026-03-02`)).toEqual([rejected.id]);
  expect(await found('/v1/mileage?from=2026-03-03')).toEqual([]);
  expect(await found('/v1/expenses?category=parking')).toEqual([parking.id]);
  expect(await found('/v1/expenses?from=2026-05-01')).toEqual([tolls.id]);
  expect(await found(`/v1/expenses?tutor_id=${at.t2}&status=approved&category=tolls&to=2026-05-01`)).toEqual([tolls.id]);
});

it('another organization’s claims are like those that do not exist', async () => {
  const [mine, other] = [await payroll(), await payroll()];
  const [trip, expense] = [await other.trip(), await other.expense()];
  for (const action of CLAIM.actions) {
    const answers = [await mine.post(`/v1/mileage/${trip.id}/${action}`), await mine.post(`/v1/expenses/${expense.id}/${action}`)];
    expect([action, ...answers.map(({ status }) => status)]).toEqual([action, 404, 404]);
  }
  expect((await make.find('expense_claims', expense.id)).status).toBe('logged');
});
