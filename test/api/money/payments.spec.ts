import { melbourne, MoneyFixture, refusal } from '../../support/data/money-fixture.js';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
let at: MoneyFixture, s1: string, s2: string, s3: string;
MoneyFixture.inEachTest(api, (...opened) => ([at, [s1, s2, s3]] = opened));

describe('a payment', () => {
  it('settles what is open; the rest is credit, which pays what is issued later', async () => {
    const invoice = await at.issued(s1, 12_000);
    const payment = await at.paid(s1, 20_000);
    expect(payment).toMatchObject({ status: 'succeeded', received_on: melbourne(0), amount_cents: 20_000, refund_amount_cents: null });
    expect((await at.send('get', `/v1/payments/${payment.id}`)).body).toEqual(payment);
    expect(await at.states(invoice)).toEqual([['paid', 12_000]]);
    expect(await at.balance()).toEqual([12_000, 12_000, 0, 0, 8_000]);
    expect(await at.issued(s1, 8_000)).toMatchObject({ status: 'paid', amount_paid_cents: 8_000 });
    expect(await at.issued(s1, 9_000)).toMatchObject({ status: 'open', amount_paid_cents: 0, paid_at: null });
    expect(await at.balance()).toEqual([29_000, 20_000, 9_000, 1, 0]);
  });

  it('pays the invoice that it was sent for, then the oldest due', async () => {
    const late = await at.issued(s1, 1_000, { due_date: '2031-03-01' });
    const early = await at.issued(s1, 1_000, { due_date: '2031-01-01' });
    const named = await at.issued(s1, 1_000, { due_date: '2031-06-01' });
    await at.paid(s1, 1_500, { invoice_id: named.id });
    expect(await at.states(late, early, named)).toEqual([['open', 0], ['open', 500], ['paid', 1_000]]); // prettier-ignore
  });

  it('of a parent pays the invoices of all their children', async () => {
    const [one, two, other] = [await at.issued(s1, 10_000), await at.issued(s2, 20_000), await at.issued(s3, 5_000)];
    expect((await at.pay({ parent_id: at.parent, amount_cents: 31_000 })).body).toMatchObject({ student_id: null, status: 'succeeded' });
    expect(await at.states(one, two, other)).toEqual([['paid', 10_000], ['paid', 20_000], ['open', 0]]); // prettier-ignore
    expect(await at.balance()).toEqual([30_000, 30_000, 0, 0, 1_000]);
    expect((await at.issued(s2, 700)).status).toBe('paid');
    // The other parent of the second child sees that child's invoices, and no credit of the first parent.
    const { id } = await api.make.parent(at.calendar.school, { children: [s2] });
    expect(await at.balance(id)).toEqual([20_700, 20_700, 0, 0, 0]);
    const { body } = await at.send<{ outstanding_cents: number; settled_this_week_cents: number }>('get', '/v1/reports/summary');
    expect(body).toMatchObject({ outstanding_cents: 5_000, settled_this_week_cents: 31_000 });
  });

  it('names the session’s tutor', async () => {
    const { id } = await at.taught(60);
    expect(await at.paid(s1, 8_000, { session_id: id })).toMatchObject({ session_id: id, tutor_id: at.calendar.t1 });
    expect((await at.pay({ student_id: s2, amount_cents: 1, session_id: id })).status).toBe(422);
  });

  it('is refused with values, people and invoices that do not fit', async () => {
    const { make } = api;
    const other = await MoneyFixture.open(api);
    const foreign = await other.issued(other.students[0], 100);
    const [own, strange] = [await at.issued(s1, 100), await at.issued(s3, 100)];
    const [draft, unlinked] = [await at.drafted(s1, 5), await make.parent(at.calendar.school)];
    const sent = async (change: object) => (await at.pay({ student_id: s1, amount_cents: 1, ...change })).status;
    const parent = { student_id: null, parent_id: at.parent };
    for (const change of [
      { currency: 'USD' }, { payment_type: 'card' }, { amount_cents: 0 }, { amount_cents: 1.5 }, { invoice_id: strange.id },
      { ...parent, invoice_id: strange.id }, { parent_id: at.parent }, { student_id: null }, { received_on: melbourne(1) }, { unknown: 1 },
    ]) expect([change, await sent(change)]).toEqual([change, 422]); // prettier-ignore
    // All faults at once, and before it is told that nobody has the id.
    const values = { currency: 'USD', received_on: melbourne(1), student_id: other.students[0] };
    const locations = ({ body }: Awaited<ReturnType<typeof at.pay>>) =>
      (body as unknown as { detail: { loc: string[] }[] }).detail.map(({ loc }) => loc[1]);
    expect(locations(await at.pay({ ...values, amount_cents: 0, payment_type: 'cash' }))).toEqual(['received_on', 'amount_cents']);
    expect(await sent(values)).toBe(422);
    expect(await sent({ currency: 'USD', student_id: other.students[0] })).toBe(422);
    for (const change of [
      { student_id: other.students[0] }, { student_id: at.calendar.t1 }, { invoice_id: foreign.id }, { session_id: foreign.id },
      { student_id: null, parent_id: other.parent }, { student_id: null, parent_id: unlinked.id },
    ]) expect([change, await sent(change)]).toEqual([change, 404]); // prettier-ignore
    expect(await sent({ invoice_id: draft.id })).toBe(409);
    expect(await sent({ currency: 'AUD', invoice_id: own.id, received_on: '2026-01-01', amount_cents: 100 })).toBe(201);
    expect(await sent({ invoice_id: own.id })).toBe(409);
    expect(await other.states(foreign)).toEqual([['open', 0]]);
  });

  it('is refunded: credit first, then what it paid last, which is open again', async () => {
    const one = await at.issued(s1, 6_000);
    const { id } = await at.paid(s1, 10_000);
    const two = await at.issued(s1, 3_000);
    expect(await at.balance()).toEqual([9_000, 9_000, 0, 0, 1_000]);
    expect((await at.refund(id, 500)).body).toMatchObject({ status: 'succeeded', refund_amount_cents: 500 });
    expect(await at.balance()).toEqual([9_000, 9_000, 0, 0, 500]);
    await at.refund(id, 2_500);
    expect(await at.states(one, two)).toEqual([['paid', 6_000], ['open', 1_000]]); // prettier-ignore
    expect((await at.refund(id, 7_001)).body.detail[0]).toMatchObject({ loc: ['body', 'amount_cents'] });
    expect((await at.refund(id, 7_000)).body).toMatchObject({ status: 'refunded', refund_amount_cents: 10_000 });
    expect(await at.states(one, two)).toEqual([['open', 0], ['open', 0]]); // prettier-ignore
    expect(refusal(await at.refund(id, 1))).toEqual([409, 'invalid_state']);
    const { body } = await at.send<{ settled_this_week_cents: number }>('get', '/v1/reports/summary');
    expect(body.settled_this_week_cents).toBe(0);
  });

  it('that is refunded lets other credit pay what is open again', async () => {
    const invoice = await at.issued(s1, 6_000);
    const { id } = await at.paid(s1, 6_000);
    await at.paid(s1, 4_000);
    await at.refund(id, 6_000);
    expect(await at.states(invoice)).toEqual([['open', 4_000]]);
  });
});
