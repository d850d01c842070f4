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
  const found = async (path: string) => {
    const { body } = await at.send<{ data: Claim[] }>('get', path, undefined, { key });
    return body.data.map(({ id }) => id);
  };
  const trip = (status: Status = 'logged') => make.mileage(at.school, at.t1, { status, amountCents: 1100, rateCents: 88 });
  const expense = (status: Status = 'logged', more = {}) => make.expense(at.school, at.t1, { status, amountCents: 1250, ...more });
  return { at, post, found, trip, expense };
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
