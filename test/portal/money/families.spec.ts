import { figures, moneyOffice } from '../../support/portal/money-office.js';
import { TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();
const { make } = portal;
const office = () => moneyOffice(portal);
type Room = Awaited<ReturnType<typeof office>>;

const mails = ({ organization }: Room) =>
  make.query<{ kind: string; recipient: string; about_id: string }>(
    `SELECT kind, recipient, about_id FROM outbox WHERE organization_id = $1 AND about_id IS NOT NULL ORDER BY created_at, id`,
    [organization.id],
  );
const leads = async ({ base, owner }: Room, path: string) => {
  const { status, headers } = await portal.get(`${base}${path}`, owner.cookie);
  return [status, headers.location?.replace(/^.*(\/papers\/).*$/, '$1')];
};

it('an invoice is emailed as it is issued, and again on purpose; its page says when, to whom, and what became of it', async () => {
  const room = await office();
  const { id } = await room.draft();
  await room.post(`/invoices/${id}/add-line`, { description: 'Lesson', quantity: '1', unit: '60' }).expect(303);
  const done = await room.told(`/invoices/${id}/finalize`, { due_date: '2199-01-31', send: 'yes' });
  expect(done).toEqual(['success', 'The invoice was issued, and goes out by email.']);
  expect(await room.told(`/invoices/${id}/send`)).toEqual(['success', 'The invoice goes out by email.']);
  const { email } = await make.find('users', room.parent.id);
  expect(await mails(room)).toEqual(Array(2).fill({ kind: 'invoice', recipient: email, about_id: id }));
  const page = await room.look(`/invoices/${id}`);
  expect(figures(page).Emailed).toContain(`to ${email} Waiting`);
  expect(page).toContain('once more');
  await make.query(`UPDATE outbox SET status = 'suppressed', last_error = 'reason_gone', finished_at = now() WHERE about_id = $1`, [id]);
  expect(await room.look(`/invoices/${id}`)).toContain('has changed since it was queued, so it was not sent.');
  await make.parent(room.organization.id, { children: [room.child.id] });
  expect(await room.told(`/invoices/${id}/send`)).toEqual(['notice', 'Several parents are linked with the student. Choose who pays first.']);
});

it('a receipt is emailed with the payment, if that is wanted', async () => {
  const room = await office();
  const paid = { amount: '50.00', payment_type: 'cash', received_on: '2026-03-02' };
  await room.post(`/families/${room.parent.id}/pay`, paid).expect(303);
  await room.post(`/families/${room.parent.id}/pay`, { ...paid, receipt: 'yes' }).expect(303);
  const [, second] = await room.payments();
  expect(await mails(room)).toMatchObject([{ kind: 'receipt', about_id: second!.id }]);
  expect(await room.look(`/payments/${second!.id}`)).toContain(`/payments/${second!.id}/receipt"`);
  expect(await leads(room, `/payments/${second!.id}/receipt`)).toEqual([303, '/papers/']);
});

it('a parent has a statement of two days, at most a year apart', async () => {
  const room = await office();
  expect(await room.look(`/families/${room.parent.id}`)).toContain('Statement from');
  expect(await room.look(`/families/${room.child.id}`)).not.toContain('Statement from');
  const statement = (from: string, to: string) => leads(room, `/families/${room.parent.id}/statement?from=${from}&to=${to}`);
  expect(await statement('2026-01-01', '2026-12-31')).toEqual([303, '/papers/']);
  for (const [from, to] of [
    ['2026-02-01', '2026-01-01'],
    ['2024-01-01', '2026-01-01'],
    ['', 'x'],
  ] as const)
    // prettier-ignore
    expect(await statement(from, to)).toEqual([303, `${room.base}/families/${room.parent.id}`]);
});

it('an open invoice is written off, once', async () => {
  const room = await office();
  const id = await room.issued('60');
  expect(await room.told(`/invoices/${id}/write-off`)).toEqual(['success', 'The invoice was written off.']);
  expect(await room.invoice(id)).toMatchObject({ status: 'uncollectible', taxCents: 0 });
  expect(figures(await room.look(`/families/${room.parent.id}`))).toMatchObject({ Open: '$0.00' });
  const page = await room.look(`/invoices/${id}`);
  for (const words of ['Uncollectible', 'Wrote off an invoice', 'Record a payment']) expect(page).toContain(words);
  await room.post(`/invoices/${id}/pay`, { amount: '60', payment_type: 'cash', received_on: '2026-03-02' }).expect(303);
  expect((await room.invoice(id)).status).toBe('paid');
});

it('Xero gets a row for each line, with the day as it reads it', async () => {
  const room = await office();
  const { id } = await room.draft();
  await make.query(`UPDATE organizations SET tax_registered = true, business_number = '1' WHERE id = $1`, [room.organization.id]);
  await room.post(`/invoices/${id}/add-line`, { description: 'Two lessons', quantity: '2', unit: '60' }).expect(303);
  await room.post(`/invoices/${id}/add-line`, { description: 'Book', quantity: '1', unit: '20.50', tax: 'free' }).expect(303);
  await room.post(`/invoices/${id}/finalize`, { due_date: '2199-01-31' }).expect(303);
  const lost = await room.issued('10');
  await room.post(`/invoices/${lost}/void`).expect(303);
  await make.query('UPDATE invoices SET sent_at = $2 WHERE organization_id = $1', [room.organization.id, '2026-03-31T12:00:00Z']);
  const { text } = await portal.get(`${room.base}/invoices/download-xero?from=2026-03&to=2026-03`, room.owner.cookie).expect(200);
  expect(
    text
      .trim()
      .replace(/^\uFEFF/, '')
      .split('\r\n'),
  ).toEqual([
    '*ContactName,*InvoiceNumber,*InvoiceDate,*DueDate,*Description,*Quantity,*UnitAmount,*AccountCode,*TaxType',
    'Ann Lee,INV-000001,31/03/2026,31/01/2199,Two lessons,2,60.00,200,GST on Income',
    'Ann Lee,INV-000001,31/03/2026,31/01/2199,Book,1,20.50,200,GST Free Income',
  ]);
});
