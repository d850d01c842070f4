import { randomUUID } from 'node:crypto';
import { figures, moneyOffice } from '../../support/portal/money-office.js';
import { TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();
const { make } = portal;
const office = () => moneyOffice(portal);

const PAID = { amount: '50.00', payment_type: 'bank_transfer', received_on: '2026-03-02' };

const listed = (html: string) =>
  [...html.matchAll(/<strong>([^<]+)<\/strong><\/a>(?: <span class="chip[^"]*">([^<]+))?/g)].map(([, number, chip]) => [number, chip]);

describe('an invoice', () => {
  it('goes from a draft to paid, each step once and with an audit row', async () => {
    const room = await office();
    const { id } = await room.draft();
    expect(await room.told(`/invoices/${id}/finalize`)).toEqual(['notice', 'The invoice has no lines yet: add some first.']);
    await room.post(`/invoices/${id}/add-line`, { description: 'Two lessons', quantity: '2', unit: '60' }).expect(303);
    await room.post(`/invoices/${id}/add-line`, { description: 'Book', unit: '20,50' }).expect(303);
    await room.post(`/invoices/${id}/add-line`, { description: 'Discount', quantity: '', unit: '-10' }).expect(303);
    const text = await room.look(`/invoices/${id}`);
    expect(figures(text)).toEqual({ Student: 'Ada Byron', Amount: '$130.50' });
    const [, book] = [...text.matchAll(/name="line_id" value="([^"]+)"/g)].map(([, line]) => line!);
    await room.post(`/invoices/${id}/remove-line`, { line_id: book! }).expect(303);
    expect(await room.told(`/invoices/${id}/finalize`, { due_date: '2199-01-31' })).toEqual(['success', 'The invoice was issued.']);
    expect(await room.invoice(id)).toMatchObject({ invoiceNumber: 'INV-000001', status: 'open', amountDueCents: 11_000 });
    expect(figures(await room.look(`/invoices/${id}`))).toMatchObject({
      Amount: '$110.00',
      Paid: '$0.00',
      'Left to pay': '$110.00',
      Due: '31 Jan 2199',
    });
    expect(await room.told(`/invoices/${id}/pay`, PAID)).toEqual(['success', 'The payment was recorded.']);
    expect(figures(await room.look(`/invoices/${id}`))).toMatchObject({ Paid: '$50.00', 'Left to pay': '$60.00' });
    await room.post(`/invoices/${id}/pay`, { ...PAID, amount: '80', payer: room.parent.id }).expect(303);
    expect((await room.invoice(id)).status).toBe('paid');
    const paid = await room.look(`/invoices/${id}`);
    for (const words of ['Ada Byron · received 2 Mar 2026', 'Ann Lee · received', 'Issued an invoice', 'Recorded a payment'])
      expect(paid).toContain(words);
    expect(paid).not.toContain('Record a payment');
    expect(figures(await room.look(`/families/${room.parent.id}`))).toEqual({
      ...{ Open: '$0.00', Invoiced: '$110.00', Paid: '$110.00', Credit: '$20.00' },
      Children: 'Ada Byron, Ben Byron',
    });
    const done = (await portal.audited(room.organization.id)).map(({ operation }) => operation);
    const at = 'v1/invoices/:invoice_id';
    const [line, pay] = [`POST /${at}/lines`, 'POST /v1/payments'];
    expect(done).toEqual([line, line, line, `DELETE /${at}/lines/:line_id`, `POST /${at}/finalize`, pay, pay]);
  });

  it('takes a form that is sent twice, even at once, as one', async () => {
    const room = await office();
    const id = await room.issued('200');
    const form = { ...PAID, form_token: randomUUID() };
    const answers = await Promise.all(Array.from({ length: 6 }, () => room.post(`/invoices/${id}/pay`, form)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(303));
    expect((await room.payments()).map(({ amount }) => amount)).toEqual([5_000]);
    expect((await room.told(`/invoices/${id}/pay`, form))[0]).toBe('notice');
    const [payment] = await room.payments();
    const refund = { amount: '10', form_token: randomUUID() };
    await Promise.all([1, 2, 3].map(() => room.post(`/payments/${payment!.id}/refund`, refund).expect(303)));
    expect((await make.find('payments', payment!.id)).refundAmountCents).toBe(1_000);
    const draft = await room.draft();
    const line = { description: 'Book', unit: '5', form_token: randomUUID() };
    await Promise.all([1, 2, 3].map(() => room.post(`/invoices/${draft.id}/add-line`, line).expect(303)));
    expect((await room.invoice(draft.id)).amountDueCents).toBe(500);
    const operations = (await portal.audited(room.organization.id)).map(({ operation }) => operation);
    const ofPayments = operations.filter((one) => one.startsWith('POST /v1/payments'));
    expect(ofPayments).toEqual(['POST /v1/payments', 'POST /v1/payments/:payment_id/refund']);
  });

  it('says at each field what is wrong, keeps what was typed, and lets the corrected form through', async () => {
    const room = await office();
    const [id, { id: draft }] = [await room.issued('200'), await room.draft()];
    const refused = async (path: string, fields: Record<string, string>) => {
      const { text } = await room.post(path, fields).expect(422);
      expect(text).toContain('There is a problem');
      return Object.fromEntries<string>([...text.matchAll(/<p class="error" id="([\w-]+)-error">([^<]+)/g)].map(([, at, what]) => [at!, what!]));
    };
    for (const amount of ['', 'x', '0', '-1', '1.234', '1e3', '1,000.00'])
      expect([amount, await refused(`/invoices/${id}/pay`, { ...PAID, amount })]).toEqual([
        amount,
        { 'pay-amount': 'Enter an amount such as 12.50.' },
      ]);
    expect(await refused(`/invoices/${id}/pay`, { ...PAID, received_on: '2199-01-01' })).toEqual({ 'pay-day': 'Must not be later than today.' });
    expect(await refused(`/invoices/${id}/pay`, { ...PAID, payment_type: 'card', received_on: '2026-02-30' })).toEqual({
      'pay-type': 'Choose how it was paid.',
      'pay-day': 'Enter a day.',
    });
    expect(await refused(`/invoices/${draft}/finalize`, { due_date: 'soon' })).toEqual({ 'field-due_date': 'Enter a day.' });
    expect(Object.keys(await refused(`/invoices/${draft}/add-line`, { quantity: '1001', unit: '--1' }))).toEqual([
      ...['field-description', 'field-quantity', 'field-unit'],
    ]);
    const form = { ...PAID, amount: '7.5O', form_token: randomUUID() };
    const { text } = await room.post(`/invoices/${id}/pay`, form).expect(422);
    for (const kept of [form.form_token, 'value="7.5O"', 'value="2026-03-02"']) expect(text).toContain(kept);
    await room.post(`/invoices/${id}/pay`, { ...form, amount: '7.50' }).expect(303);
    const [payment] = await room.payments();
    expect(payment!.amount).toBe(750);
    expect(await refused(`/payments/${payment!.id}/refund`, { amount: '7.51' })).toEqual({ 'field-amount': 'Only $7.50 of it is left.' });
    expect(await refused(`/families/${room.parent.id}/pay`, { ...PAID, amount: '' })).toEqual({ 'pay-amount': 'Enter an amount such as 12.50.' });
  });

  it('takes money only from its own family', async () => {
    const room = await office();
    const id = await room.issued('200');
    const stranger = await make.student(room.organization.id);
    for (const payer of [stranger.id, randomUUID(), room.owner.user.id, 'x']) await room.post(`/invoices/${id}/pay`, { ...PAID, payer }).expect(404);
    expect(await room.payments()).toEqual([]);
  });

  it('is void, bills its lines again, and leaves what was paid as credit, which pays what else is open', async () => {
    const room = await office();
    const id = await room.issued('120');
    await room.post(`/invoices/${id}/pay`, PAID).expect(303);
    expect(await room.told(`/invoices/${id}/void`, { rebill: 'yes' })).toEqual(['success', 'The invoice was voided.']);
    expect((await room.invoice(id)).status).toBe('void');
    expect(figures(await room.look(`/families/${room.child.id}`))).toMatchObject({ Open: '$0.00', Credit: '$50.00', Parents: 'Ann Lee' });
    const [draft] = await make.query<{ id: string }>(`SELECT id FROM invoices WHERE student_id = $1 AND collecting`, [room.child.id]);
    expect(await room.invoice(draft!.id)).toMatchObject({ status: 'draft', amountDueCents: 12_000 });
    await room.post(`/invoices/${draft!.id}/finalize`).expect(303);
    expect(figures(await room.look(`/invoices/${draft!.id}`))).toMatchObject({ Paid: '$50.00', 'Left to pay': '$70.00' });
    // Drafts and paid invoices are not voided.
    expect((await room.told(`/invoices/${(await room.draft()).id}/void`))[0]).toBe('notice');
    await room.post(`/invoices/${draft!.id}/pay`, { ...PAID, amount: '70' }).expect(303);
    expect((await room.told(`/invoices/${draft!.id}/void`))[0]).toBe('notice');
    expect((await room.invoice(draft!.id)).status).toBe('paid');
  });

  it('is open again when its payment is refunded', async () => {
    const room = await office();
    const id = await room.issued('50');
    await room.post(`/families/${room.parent.id}/pay`, { ...PAID, amount: '80' }).expect(303);
    const [payment] = await room.payments();
    expect(payment!.credit).toBe(3_000);
    const path = `/payments/${payment!.id}`;
    expect(await room.look(path)).toContain('INV-000001');
    expect(await room.told(`${path}/refund`, { amount: '45' })).toEqual(['success', 'The refund was recorded.']);
    expect(figures(await room.look(path))).toMatchObject({ From: 'Ann Lee', Refunded: '$45.00', Credit: '$0.00' });
    expect(await room.invoice(id)).toMatchObject({ status: 'open', amountPaidCents: 3_500 });
    await room.post(`${path}/refund`, { amount: '35' }).expect(303);
    expect((await room.payments())[0]!.status).toBe('refunded');
    expect(await room.look(path)).not.toContain('Record a refund');
  });
});

describe('the list', () => {
  it('begins with what is overdue, and filters by state, number and student', async () => {
    const room = await office();
    const paid = await room.issued('10', '2199-01-31', room.sibling.id);
    await room.post(`/invoices/${paid}/pay`, { ...PAID, amount: '10' }).expect(303);
    const late = await room.issued('20', '2026-01-31');
    await room.issued('30');
    await room.draft();
    const gone = await room.issued('40');
    await room.post(`/invoices/${gone}/void`).expect(303);
    const all = [['INV-000002', 'Overdue'], ['INV-000003', 'Open'], ['Draft', undefined], ['INV-000001', 'Paid'], ['INV-000004', 'Void']]; // prettier-ignore
    expect(listed(await room.look(''))).toEqual(all);
    expect(listed(await room.look('?state=nonsense&after=overdue-x&student=x'))).toEqual(all);
    for (const [state, index] of Object.entries({ overdue: 0, open: 1, draft: 2, paid: 3, void: 4 })) expect(listed(await room.look(`?state=${state}`))).toEqual([all[index]]); // prettier-ignore
    for (const number of ['INV-000002', 'inv-000002', '2', '000002'])
      expect([number, listed(await room.look(`?search=${number}`))]).toEqual([number, [all[0]]]);
    expect(listed(await room.look(`?student=${room.sibling.id}`))).toEqual([all[3]]);
    expect(await room.look('?search=99')).toContain('No matching invoices');
    // Due today is not overdue, where the organization is.
    const [{ today }] = (await make.query<{ today: string }>(`SELECT (now() AT TIME ZONE 'Australia/Melbourne')::date::text AS today`)) as [
      { today: string },
    ];
    await make.query('UPDATE invoices SET due_date = $2 WHERE id = $1', [late, today]);
    expect(listed(await room.look('?state=overdue'))).toEqual([]);
    await make.query('UPDATE invoices SET due_date = $2::date - 1 WHERE id = $1', [late, today]);
    expect(listed(await room.look('?state=overdue'))).toEqual([all[0]]);
  });

  it('pages through all states, without repeating or hiding any', async () => {
    const { organization, owner, child, base } = await office();
    for (let n = 0; n < 70; n++) {
      const status = (['open', 'open', 'draft', 'paid', 'void', 'uncollectible', 'open'] as const)[n % 7]!;
      const dueDate = n % 7 === 0 ? '2026-01-31' : '2199-01-31';
      // Three share each millisecond.
      await make.invoice(organization.id, child.id, {
        status,
        dueDate,
        invoiceNumber: `N${n}`,
        createdAt: new Date(Date.UTC(2026, 4, 1) + Math.floor(n / 3)),
      });
    }
    const text = await portal.walk(base, owner.cookie, 'Next page<', () =>
      make.invoice(organization.id, child.id, { status: 'open', dueDate: '2026-01-31' }),
    );
    const seen = listed(text).map(([number]) => number);
    expect(seen).toHaveLength(70);
    expect(new Set(seen).size).toBe(70);
  });
});

it('the files have a row for each invoice and payment of the months, with formulas and line breaks escaped', async () => {
  const room = await office();
  await make.query(`UPDATE users SET first_name = $2 WHERE id = $1`, [room.child.id, '=1+1\n+2']);
  const [first, second] = [await room.issued('1000.05'), await room.issued('20')];
  await room.draft();
  const set = `UPDATE invoices SET sent_at = $2 WHERE id = $1`;
  // The last instant of March in Melbourne, and the first of April.
  await make.query(set, [first, '2026-03-31T12:59:59.999Z']);
  await make.query(set, [second, '2026-03-31T13:00:00Z']);
  await room.post(`/invoices/${first}/pay`, { ...PAID, received_on: '2026-03-31' }).expect(303);
  await room.post(`/families/${room.parent.id}/pay`, { ...PAID, received_on: '2026-04-01' }).expect(303);
  const file = async (what: string, months: string) => {
    const { text, headers } = await portal.get(`${room.base}/${what}/download?${months}`, room.owner.cookie).expect(200);
    expect(headers['content-disposition']).toContain(`${what}-${room.organization.slug}`);
    return text.trim().split('\r\n').slice(1);
  };
  const march = 'from=2026-03&to=2026-03';
  const { id: child } = room.child;
  expect(await file('invoices', march)).toEqual([
    `2026-03,2026-03-31,INV-000001,${first},${child},"'=1+1\n+2 Byron",open,2199-01-31,1000.05,100.00,AUD`,
  ]);
  expect(await file('invoices', 'from=2026-03&to=2026-04')).toHaveLength(2);
  const payments = await room.payments();
  expect(await file('payments', march)).toEqual([
    `2026-03,2026-03-31,${payments[0]!.id},${child},"'=1+1\n+2 Byron",bank_transfer,succeeded,50.00,0.00,0.00,AUD`,
  ]);
  expect(await file('payments', 'from=2026-04&to=2026-04')).toEqual([
    `2026-04,2026-04-01,${payments[1]!.id},${room.parent.id},Ann Lee,bank_transfer,succeeded,50.00,0.00,0.00,AUD`,
  ]);
});

it('home leads to what is overdue and to what has begun and is not completed', async () => {
  const room = await office();
  const tutor = await make.tutor(room.organization.id);
  const home = async () => (await portal.get(room.base.replace('/money', ''), room.owner.cookie).expect(200)).text;
  expect(await home()).not.toMatch(/overdue|mark as done/);
  await room.issued('20', '2026-01-31');
  await room.issued('20');
  const session = (hours: number, status: 'scheduled' | 'completed', title: string) =>
    make.session(room.organization.id, { tutorId: tutor.id, status, title, startsAt: new Date(Date.now() + hours * 3_600_000) });
  await session(-30, 'scheduled', 'Algebra');
  await session(-60, 'scheduled', 'Botany');
  await session(-90, 'completed', 'Chemistry');
  await session(30, 'scheduled', 'Drama');
  const text = await home();
  expect(text).toContain(`<a href="${room.base}?state=overdue">1 overdue invoice, `);
  const due = `/o/${room.organization.slug}/lessons?state=due`;
  expect(text).toContain(`<a href="${due}">2 lessons to mark as done</a>`);
  expect([...(await room.look(due)).matchAll(/>(Algebra|Botany|Chemistry|Drama)<\/a>/g)].map(([, title]) => title)).toEqual(['Algebra', 'Botany']);
});

it('money is for owners and admins alone', async () => {
  const room = await office();
  const id = await room.issued('20');
  const tutor = await portal.someone('tutor', { organization: room.organization });
  for (const path of ['', `/invoices/${id}`, `/families/${room.child.id}`, '/invoices/download', '/payments/download'])
    expect([path, (await portal.get(`${room.base}${path}`, tutor.cookie)).status]).toEqual([path, 403]);
  await portal.post(`${room.base}/invoices/${id}/pay`, PAID, tutor.cookie).expect(403);
  expect(await room.payments()).toEqual([]);
});
