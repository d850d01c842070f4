import { MoneyFixture } from '../../support/data/money-fixture.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

const api = await fixture(TestApi.start());

const refusal = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code];

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
});
