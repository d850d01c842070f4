import { MoneyFixture, refusal, type ShownPayment } from '../../support/data/money-fixture.js';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;
let at: MoneyFixture, s1: string, s2: string;
MoneyFixture.inEachTest(api, (...opened) => ([at, [s1, s2]] = opened));

const older = (table: string, id: string, hours: number) =>
  make.query(`UPDATE ${table} SET created_at = created_at - $2 * interval '1 hour' WHERE id = $1`, [id, hours]);

describe('a payment that was entered by mistake', () => {
  it('is taken back: what it paid is open again, or paid by other credit', async () => {
    const [first, second] = [await at.issued(s1, 10_000, { due_date: '2031-01-01' }), await at.issued(s1, 5_000, { due_date: '2031-02-01' })];
    const wrong = await at.paid(s1, 100_000);
    expect(wrong).toMatchObject({
      credit_cents: 85_000,
      allocations: [{ invoice_id: first.id, amount_cents: 10_000 }, { invoice_id: second.id, amount_cents: 5_000 }],
    }); // prettier-ignore
    const right = await at.paid(s1, 10_000);
    const { status, body } = await at.takeBack(wrong.id);
    expect([status, body]).toMatchObject([200, { status: 'canceled', credit_cents: 0, allocations: [], refund_amount_cents: null }]);
    expect(body).toMatchObject({ void_reason: 'Typed one zero too many', voided_at: expect.any(String) as string });
    expect(await at.states(first, second)).toEqual([['paid', 10_000], ['open', 0]]); // prettier-ignore
    expect(await at.balance()).toEqual([15_000, 10_000, 5_000, 1, 0]);
    expect((await at.send('get', `/v1/students/${s1}/balance`)).body).toEqual({
      student_id: s1, total_invoiced_cents: 15_000, total_paid_cents: 10_000, outstanding_cents: 5_000, open_invoices_count: 1, credit_cents: 0,
    }); // prettier-ignore
    expect((await at.send('get', '/v1/reports/summary')).body).toMatchObject({ settled_this_week_cents: 10_000, outstanding_cents: 5_000 });
    const listed = async (query: string) => (await at.send<{ data: ShownPayment[] }>('get', `/v1/payments?${query}`)).body.data.map(({ id }) => id);
    expect([await listed('status=succeeded'), await listed('status=canceled')]).toEqual([[right.id], [wrong.id]]);
  });

  it('again, it is answered unchanged, or refused for another reason; ten at once take it back once', async () => {
    const { id } = await at.paid(s1, 1_000);
    const all = await Promise.all(Array.from({ length: 10 }, () => at.takeBack(id, 'Reason')));
    expect(new Set(all.map(({ status, body }) => `${status} ${JSON.stringify(body)}`)).size).toBe(1);
    expect(refusal((await at.takeBack(id, 'Another')) as never)).toEqual([409, 'invalid_state']);
    const rows = await make.query<{ result: string }>(
      `SELECT result FROM audit_log WHERE organization_id = $1 AND operation LIKE '%/void' ORDER BY result`,
      [at.calendar.school],
    );
    expect(rows.map(({ result }) => result)).toEqual(['done', 'invalid_state', ...Array.from({ length: 9 }, () => 'unchanged')]);
  });

  it('stays if it was imported, refunded, or recorded a day ago; without a reason, and for another organization', async () => {
    const { school } = at.calendar;
    const imported = await make.payment(school, { studentId: s1 });
    const [refunded, all, old, fresh] = [await at.paid(s1, 100), await at.paid(s1, 100), await at.paid(s1, 100), await at.paid(s1, 100)];
    await at.refund(refunded.id, 1);
    await at.refund(all.id, 100);
    await older('payments', old.id, 24);
    await older('payments', fresh.id, 23.9);
    for (const { id } of [imported, refunded, all, old]) expect(refusal((await at.takeBack(id)) as never)).toEqual([409, 'invalid_state']);
    for (const body of [{}, { reason: '' }, { reason: 'x'.repeat(501) }, { reason: null }])
      expect((await at.send('post', `/v1/payments/${fresh.id}/void`, body)).status).toBe(422);
    const other = await MoneyFixture.open(api);
    expect((await other.takeBack(fresh.id)).status).toBe(404);
    expect((await at.takeBack(fresh.id)).status).toBe(200);
    expect((await at.refund(fresh.id, 1)).status).toBe(409);
  });

  it('tells the owners of more than ten within a day, and of every ten after', async () => {
    const { school } = at.calendar;
    await make.member(school, { role: 'owner' });
    const mails = async () => (await make.query(`SELECT FROM outbox WHERE organization_id = $1 AND kind = 'money_taken_back'`, [school])).length;
    const told: number[] = [];
    for (let n = 0; n < 11; n++) {
      at.done(await at.takeBack((await at.paid(s2, 100)).id));
      told.push(await mails());
    }
    expect(told).toEqual([...Array.from({ length: 10 }, () => 0), 1]);
  });
});

describe('a payment', () => {
  it('shows its payer, reference, credit and what it pays; the reference is a filter', async () => {
    const invoice = await at.issued(s2, 500);
    const { body } = await at.pay({ parent_id: at.parent, amount_cents: 700, reference: 'TERM 2/NGATA' });
    const allocations = [{ invoice_id: invoice.id, amount_cents: 500 }];
    expect(body).toMatchObject({ parent_id: at.parent, student_id: null, reference: 'TERM 2/NGATA', credit_cents: 200, allocations });
    await at.paid(s1, 1);
    const found = await at.send<{ data: object[] }>('get', `/v1/payments?reference=${encodeURIComponent('TERM 2/NGATA')}`);
    expect(found.body.data).toEqual([body]);
    for (const reference of ['', 'x'.repeat(201)]) expect((await at.pay({ student_id: s1, amount_cents: 1, reference })).status).toBe(422);
  });
});

describe('a payout that was entered by mistake', () => {
  it('is taken back: it counts nowhere, and its session can be paid out again', async () => {
    const { school, t1 } = at.calendar;
    const key = await api.key(school, { scopes: ['read', 'sessions:write', 'payroll:write'] });
    const ask = <Body>(method: 'post' | 'get', path: string, body?: object) => at.send<Body>(method, path, body, key);
    const session = await at.taught(60, { tutor_pay_rate_cents: 5_000 });
    const payout = () => ask<{ id: string }>('post', '/v1/payouts', { tutor_id: t1, amount_cents: 50_000, session_id: session.id });
    const wrong = (await payout()).body;
    expect((await payout()).status).toBe(422);
    const takeBack = (id: string, body: object = { reason: 'Wrong tutor' }) => ask<object>('post', `/v1/payouts/${id}/void`, body);
    const first = await takeBack(wrong.id);
    expect([first.status, first.body]).toMatchObject([200, { session_id: session.id, void_reason: 'Wrong tutor' }]);
    expect((await takeBack(wrong.id)).body).toEqual(first.body);
    expect(refusal((await takeBack(wrong.id, { reason: 'Another' })) as never)).toEqual([409, 'invalid_state']);
    const right = await payout();
    expect(right.status).toBe(201);
    const paidOut = await ask<{ paid_out_cents: number }>('get', `/v1/tutors/${t1}/earnings`);
    expect(paidOut.body.paid_out_cents).toBe(50_000);
    const listed = async (query = '') => (await ask<{ data: { id: string }[] }>('get', `/v1/payouts${query}`)).body.data.map(({ id }) => id);
    expect([await listed(), await listed('?include_voided=true')]).toEqual([[right.body.id], [right.body.id, wrong.id]]);
    const imported = await make.row('payouts', { organizationId: school, tutorId: t1 });
    await older('payouts', right.body.id, 24);
    for (const id of [imported.id, right.body.id]) expect(refusal((await takeBack(id)) as never)).toEqual([409, 'invalid_state']);
    expect((await takeBack(right.body.id, {})).status).toBe(422);
  });
});
