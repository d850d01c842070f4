import { MoneyFixture, refusal } from '../../support/data/money-fixture.js';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();

describe('history', () => {
  it('carries no credit: imported invoices keep what they say was paid, imported payments cannot be refunded', async () => {
    const { make } = api;
    const at = await MoneyFixture.open(api);
    const [, , s3] = at.students;
    const { school } = at.calendar;
    const invoice = await make.invoice(school, s3, { invoiceNumber: 'INV-000041', amountDueCents: 9_000, amountPaidCents: 4_000 });
    const bad = await make.invoice(school, s3, { invoiceNumber: 'OLD-7', status: 'uncollectible', amountDueCents: 3_000 });
    const old = await make.payment(school, { studentId: s3, amountCents: 50_000 });
    expect(await at.issued(s3, 100)).toMatchObject({ invoice_number: 'INV-000042', status: 'open' });
    expect(refusal(await at.refund(old.id, 1))).toEqual([409, 'invalid_state']);
    await at.paid(s3, 2_000, { invoice_id: bad.id });
    await at.paid(s3, 5_100);
    expect(await at.states(invoice, bad)).toEqual([['paid', 9_000], ['uncollectible', 2_000]]); // prettier-ignore
    const { id } = await at.paid(s3, 1_000, { invoice_id: bad.id });
    expect(await at.states(bad)).toEqual([['paid', 3_000]]);
    await at.refund(id, 1_000);
    expect(await at.states(bad)).toEqual([['open', 2_000]]);
    const open = await make.invoice(school, s3, { amountDueCents: 9_000, amountPaidCents: 4_000 });
    expect((await at.void(open.id)).body).toMatchObject({ status: 'void', amount_paid_cents: 4_000 });
  });

  it('is billed again for what its lines came to, whatever their quantity', async () => {
    const { make } = api;
    const at = await MoneyFixture.open(api);
    const [, , s3] = at.students;
    const { school } = at.calendar;
    const { id } = await make.invoice(school, s3, { invoiceNumber: 'OLD-7', amountDueCents: 12_001 });
    await make.invoiceLine(school, id, { quantity: 1, unitAmountCents: 8_000, amountCents: 12_000 });
    await make.invoiceLine(school, id, { position: 1, quantity: 2_000_000_000, unitAmountCents: 1_000_000_000_000, amountCents: 1 });
    expect((await at.void(id, { rebill: true })).status).toBe(200);
    expect(await at.draft(s3)).toMatchObject({
      amount_due_cents: 12_001,
      line_items: [{ quantity: 1, unit_amount_cents: 8_000, amount_cents: 12_000 }, { amount_cents: 1 }],
    });
  });

  it('has numbers above which ours go on, up to fifteen digits', async () => {
    const at = await MoneyFixture.open(api);
    const [, , s3] = at.students;
    const imported = (invoiceNumber: string) => api.make.invoice(at.calendar.school, s3, { invoiceNumber, status: 'void', amountDueCents: 1 });
    for (const number of ['OLD-900', 'inv-900', 'INV-900a', 'INV-2026-900', 'INV-0000']) await imported(number);
    expect((await at.issued(s3, 1)).invoice_number).toBe('INV-000001');
    for (const [number, next] of [['INV-7', 'INV-000008'], ['INV-999999999', 'INV-1000000000'], ['INV-2026110001', 'INV-2026110002']] as const) {
      await imported(number);
      expect((await at.issued(s3, 1)).invoice_number).toBe(next);
    } // prettier-ignore
    expect((await at.issued(s3, 1)).invoice_number).toBe('INV-2026110003');
  });

  it('with prices beyond what can be billed or paid is refused, and nothing is written', async () => {
    const at = await MoneyFixture.open(api);
    const most = 1_000_000_000_000;
    const [s1, s2] = at.students;
    const priced = async (minutes: number, prices: { rate?: number; surcharge?: number; pay?: number }) => {
      const { id } = await at.lesson(minutes, { student_ids: [s1, s2] });
      const { rate = null, surcharge = null, pay = null } = prices;
      await api.make.query('UPDATE lesson_participants SET rate_cents = $2, surcharge_cents = $3 WHERE session_id = $1', [id, rate, surcharge]);
      await api.make.query('UPDATE sessions SET tutor_pay_rate_cents = $2 WHERE id = $1', [id, pay]);
      return id;
    };
    for (const [minutes, prices] of [
      [61, { rate: most }],
      [60, { rate: 1, surcharge: most }],
      [60, { rate: most / 2 + 1 }],
      [61, { pay: most }],
    ] as const) {
      const id = await priced(minutes, prices);
      expect([prices, (await at.complete(id)).status]).toEqual([prices, 422]);
      const cancelled = await at.send('post', `/v1/sessions/${id}/cancel`, { charge_percent: 100 });
      expect([prices, cancelled.status]).toEqual([prices, 'pay' in prices ? 200 : 422]);
    }
    expect(await at.invoices(s1)).toEqual([]);

    const id = await priced(60, { rate: most / 2, pay: most });
    expect(await at.complete(id, { [s2]: 'excused' })).toMatchObject({ status: 200, body: { amount_owed_cents: most / 2 } });
    await api.make.query('UPDATE lesson_participants SET rate_cents = $2 WHERE session_id = $1 AND student_id = $3', [id, most, s2]);
    const place = (await at.participants(id)).find(({ student_id }) => student_id === s2)!;
    expect((await at.send('patch', `/v1/lesson-participants/${place.id}`, { attendance: 'attended' })).status).toBe(422);
    expect(await at.faults()).toEqual([]);
  });
});
