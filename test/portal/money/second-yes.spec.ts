import { randomUUID } from 'node:crypto';
import { moneyOffice } from '../../support/portal/money-office.js';
import { TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();

const PAID = { payment_type: 'cash', received_on: '2026-03-02' };

it('more than twice what is due asks first, on an invoice and on a balance, and the yes is for that amount', async () => {
  const room = await moneyOffice(portal);
  const id = await room.issued('60');
  for (const path of [`/invoices/${id}/pay`, `/families/${room.parent.id}/pay`]) {
    const form = { ...PAID, form_token: randomUUID(), amount: '120.01' };
    const { text } = await room.post(path, form).expect(422);
    expect(text).toContain('$120.01 is more than twice the $60.00 that is due. The rest would become credit.');
    expect(text).toContain('name="sure" value="120.01"');
    expect(text).toContain(form.form_token);
    await room.post(path, { ...form, amount: '1200', sure: '120.01' }).expect(422);
    expect(await room.payments()).toEqual([]);
  }
  await room.post(`/invoices/${id}/pay`, { ...PAID, amount: '120.01', sure: '120.01' }).expect(303);
  expect(await room.payments()).toMatchObject([{ amount: 12_001, credit: 6_001 }]);
  // Nothing is due any more: what is paid in advance is meant so.
  await room.post(`/families/${room.parent.id}/pay`, { ...PAID, amount: '500' }).expect(303);
  const other = await room.issued('50', '2199-01-31', room.sibling.id);
  expect((await room.invoice(other)).status).toBe('paid');
});

it('what became credit is named on the page of the payment, and of the void invoice that was paid', async () => {
  const room = await moneyOffice(portal);
  const text = (html: string) => html.replaceAll(/<[^>]+>/g, '').replaceAll(/\s+/g, ' ');
  const first = await room.issued('60');
  await room.post(`/invoices/${first}/pay`, { ...PAID, amount: '80', payer: room.parent.id }).expect(303);
  const [payment] = await room.payments();
  expect(text(await room.look(`/payments/${payment!.id}`))).toContain('$20.00 became credit of Ann Lee.');
  const second = await room.issued('40');
  expect(text(await room.look(`/payments/${payment!.id}`))).not.toContain('became credit');
  await room.post(`/invoices/${second}/void`).expect(303);
  expect(text(await room.look(`/invoices/${second}`))).toContain('$20.00 became credit of Ann Lee.');
  // Two have paid: it is of both.
  const third = await room.issued('100');
  await room.post(`/invoices/${third}/pay`, { ...PAID, amount: '30', payer: room.child.id }).expect(303);
  await room.post(`/invoices/${third}/void`, { rebill: 'yes' }).expect(303);
  expect(text(await room.look(`/invoices/${third}`))).toContain('$50.00 became credit of those who had paid it.');
});

it('a payment is taken back beside the refund, within a day, once', async () => {
  const room = await moneyOffice(portal);
  const id = await room.issued('60');
  await room.post(`/invoices/${id}/pay`, { ...PAID, amount: '60' }).expect(303);
  const [payment] = await room.payments();
  const page = await room.look(`/payments/${payment!.id}`);
  for (const words of ['Record the refund', 'Take back']) expect(page).toContain(words);
  expect(await room.told(`/payments/${payment!.id}/void`, { reason: 'Entered twice' })).toEqual(['success', 'The payment was taken back.']);
  expect((await room.invoice(id)).status).toBe('open');
  expect(await room.look(`/payments/${payment!.id}`)).toContain('Nothing: it was taken back.');
  expect(await room.look('/payments')).toContain('Taken back');
});
