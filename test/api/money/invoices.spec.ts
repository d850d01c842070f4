import { melbourne, MoneyFixture, refusal, type ShownInvoice } from '../../support/data/money-fixture.js';
import { told } from '../../support/events/shown.js';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
let at: MoneyFixture, s1: string, s2: string;
MoneyFixture.inEachTest(api, (...opened) => ([at, [s1, s2]] = opened));

describe('an invoice', () => {
  it('is drafted, gets lines, and loses them', async () => {
    const body = { student_id: s1, lines: [{ description: 'Papers', quantity: 2, unit_amount_cents: 1_200 }] };
    const { id, ...drafted } = at.done(await at.send<{ id: string }>('post', '/v1/invoices', body));
    expect(drafted).toMatchObject({
      status: 'draft',
      amount_due_cents: 2_400,
      line_items: [{ quantity: 2, amount_cents: 2_400, item_type: 'other' }],
    });
    const added = await at.send('post', `/v1/invoices/${id}/lines`, { description: 'Siblings', unit_amount_cents: -3_000 });
    expect([added.status, added.body]).toEqual([201, await at.invoice(id)]);
    const [papers, discount] = (await at.invoice(id)).line_items;
    expect(discount).toMatchObject({ amount_cents: -3_000, item_type: 'discount', quantity: 1 });
    expect(refusal(await at.finalize(id))).toEqual([409, 'invalid_state']);
    const other = await at.drafted(s1, 100);
    expect((await at.send('delete', `/v1/invoices/${other.id}/lines/${discount!.id}`)).status).toBe(404);
    expect((await at.send('delete', `/v1/invoices/${id}/lines/${discount!.id}`)).status).toBe(204);
    expect((await at.send('delete', `/v1/invoices/${id}/lines/${papers!.id}`)).status).toBe(204);
    expect(refusal(await at.finalize(id))).toEqual([409, 'invalid_state']);
    for (const line of [{ quantity: 0 }, { quantity: 1_001 }, { description: '' }, { unit_amount_cents: 0.5 }])
      expect((await at.send('post', `/v1/invoices/${id}/lines`, { description: 'X', unit_amount_cents: 1, ...line })).status).toBe(422);
  });

  it('is deleted with its lines while it is a draft on which no lesson is billed', async () => {
    const remove = (id: string) => at.send('delete', `/v1/invoices/${id}`);
    const { id } = await at.drafted(s1, 100, 200);
    expect([(await remove(id)).status, (await remove(id)).status]).toEqual([204, 404]);
    expect(await api.make.query('SELECT FROM invoice_lines WHERE invoice_id = $1', [id])).toEqual([]);
    expect(refusal(await remove((await at.issued(s1, 500)).id))).toEqual([409, 'invalid_state']);
    await at.taught(60);
    const collecting = await at.draft(s1);
    expect(refusal(await remove(collecting.id))).toEqual([409, 'still_referenced']);
    for (const line of collecting.line_items) await at.send('delete', `/v1/invoices/${collecting.id}/lines/${line.id}`);
    expect((await remove(collecting.id)).status).toBe(204);
  });

  it('is issued once, with the next number, and due by the organization’s terms or as told', async () => {
    const first = await at.drafted(s1, 12_000);
    for (let time = 0; time < 2; time++) {
      expect(await at.finalize(first.id)).toMatchObject({
        status: 200,
        body: { status: 'open', invoice_number: 'INV-000001', due_date: melbourne(14), amount_paid_cents: 0 },
      });
    }
    expect(refusal(await at.finalize(first.id, { due_date: '2031-01-01' }))).toEqual([409, 'invalid_state']);
    expect((await at.finalize(first.id, { due_date: melbourne(14) })).status).toBe(200);
    expect((await at.issued(s2, 1, { due_date: '2031-01-01' })).due_date).toBe('2031-01-01');
    await api.make.query('UPDATE organizations SET payment_terms_days = 30 WHERE id = $1', [at.calendar.school]);
    expect(await at.issued(s2, 1)).toMatchObject({ invoice_number: 'INV-000003', due_date: melbourne(30) });
    for (const [method, path] of [['post', 'lines'], ['delete', `lines/${first.line_items[0]!.id}`]] as const) // prettier-ignore
      expect(refusal(await at.send(method, `/v1/invoices/${first.id}/${path}`, method === 'post' ? { description: 'X', unit_amount_cents: 1 } : undefined))).toEqual([409, 'invalid_state']); // prettier-ignore
  });

  it('comes to 10^12 cents at most, whatever its lines are', async () => {
    const [most, least] = [1, -1].map((sign) => ({ description: 'X', quantity: 1_000, unit_amount_cents: sign * 1_000_000_000 })) as [object, object];
    const drafted = await at.send<{ id: string }>('post', '/v1/invoices', { student_id: s1, lines: [most, most] });
    expect([drafted.status, drafted.body.detail[0]!.loc]).toEqual([422, ['body']]);
    expect(await at.invoices(s1)).toEqual([]);
    const { id } = await at.drafted(s1);
    const add = async (line: object) => (await at.send('post', `/v1/invoices/${id}/lines`, line)).status;
    expect([await add(most), await add(most), await add(least), await add(least), await add(least)]).toEqual([201, 422, 201, 201, 422]);
    expect((await at.invoice(id)).amount_due_cents).toBe(-1_000_000_000_000);
  });

  it('of zero is paid at once', async () => {
    const { id } = await at.drafted(s1, 500, -500);
    expect(await at.finalize(id)).toMatchObject({ status: 200, body: { status: 'paid', invoice_number: 'INV-000001' } });
    expect((await at.finalize(id)).status).toBe(200);
  });

  it('that is voided gives back what was applied, which pays what else is open; its lines may go back to the draft', async () => {
    const session = await at.taught(90);
    const { id } = await at.draft(s1);
    await at.finalize(id);
    await at.paid(s1, 5_000);
    const other = await at.issued(s1, 6_000);
    expect(await at.states({ id }, other)).toEqual([['open', 5_000], ['open', 0]]); // prettier-ignore
    for (let time = 0; time < 2; time++) {
      expect(await at.void(id, { rebill: true })).toMatchObject({ status: 200, body: { status: 'void', amount_paid_cents: 0 } });
    }
    expect(await at.states(other)).toEqual([['open', 5_000]]);
    expect(await at.draft(s1)).toMatchObject({ amount_due_cents: 12_000, line_items: [{ session_id: session.id }] });
    expect(await at.balance()).toEqual([6_000, 5_000, 1_000, 1, 0]);
    await at.finalize((await at.draft(s1)).id);
    expect((await at.invoices(s1)).map((one) => one.invoice_number)).toEqual(['INV-000001', 'INV-000002', 'INV-000003']);
    await at.paid(s1, 1_000);
    expect(refusal(await at.void(other.id))).toEqual([409, 'invalid_state']);
    expect(refusal(await at.void((await at.drafted(s1, 5)).id))).toEqual([409, 'invalid_state']);
  });

  it('that is voided leaves credit if nothing else is open', async () => {
    const { id } = await at.issued(s1, 12_000);
    await at.paid(s1, 5_000);
    await at.void(id);
    expect(await at.balance()).toEqual([0, 0, 0, 0, 5_000]);
    expect(await at.draft(s1).catch(() => null)).toBeUndefined();
    expect(await at.issued(s1, 6_000)).toMatchObject({ status: 'open', amount_paid_cents: 5_000 });
  });
});

describe('money', () => {
  it('is written by keys with the scope alone, and only in their organization', async () => {
    const { id } = await at.issued(s1, 100);
    const { id: payment } = await at.paid(s1, 10);
    const kr = await api.key(at.calendar.school);
    const kb = (await MoneyFixture.open(api)).key;
    const lesson = await at.lesson(60);
    const writes = [
      ['POST', '/v1/invoices', { student_id: s1 }],
      ['POST', `/v1/invoices/${id}/lines`, { description: 'X', unit_amount_cents: 1 }],
      ['DELETE', `/v1/invoices/${id}/lines/${id}`, undefined],
      ['POST', `/v1/invoices/${id}/finalize`, {}],
      ['POST', `/v1/invoices/${id}/void`, {}],
      ['POST', '/v1/payments', { student_id: s1, amount_cents: 1, payment_type: 'cash' }],
      ['POST', `/v1/payments/${payment}/refund`, { amount_cents: 1 }],
      ['PUT', `/v1/sessions/${lesson.id}/complete`, {}],
      ['POST', `/v1/sessions/${lesson.id}/reopen`, {}],
    ] as const;
    for (const [method, path, body] of writes) {
      const send = (key: string) => at.send(method.toLowerCase() as 'post', path, body, key);
      expect([path, ...refusal(await send(kr))]).toEqual([path, 403, 'insufficient_scope']);
      expect([path, ...refusal(await send(kb))]).toEqual([path, 404, 'not_found']);
    }
    for (const path of [`/v1/invoices/${id}`, `/v1/payments/${payment}`]) expect((await at.send('get', path, undefined, kb)).status).toBe(404);
    expect(await at.states({ id })).toEqual([['open', 10]]);
  });
});

it('an open invoice is written off once: no balance counts it, no credit pays it, and its tax stays', async () => {
  const { id } = await at.issued(s1, 5_000);
  await at.paid(s1, 1_000);
  const off = (what: string) => at.send<ShownInvoice & { tax_cents: number }>('post', `/v1/invoices/${what}/write-off`);
  const events = await told(api.make, at.calendar.school, async () => {
    expect(at.done(await off(id))).toMatchObject({ status: 'uncollectible', amount_paid_cents: 1_000, tax_cents: 0 });
  });
  expect(events.map(({ type, resource_id }) => [type, resource_id])).toEqual([['invoice.written_off', id]]);
  expect(at.done(await off(id))).toMatchObject({ status: 'uncollectible' });
  await at.paid(s1, 500);
  expect(await at.states({ id })).toEqual([['uncollectible', 1_000]]);
  expect((await at.balance()).slice(2)).toEqual([0, 0, 500]);
  await at.paid(s1, 4_000, { invoice_id: id });
  expect(await at.states({ id })).toEqual([['paid', 5_000]]);
  for (const other of [id, (await at.drafted(s1, 1)).id]) expect(refusal(await off(other))).toEqual([409, 'invalid_state']);
});
