import { percentOf, payUrlFor, SELLER } from '@app/people';
import { MoneyFixture, refusal, type ShownInvoice } from '../../support/data/money-fixture.js';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;
let at: MoneyFixture, s1: string, s3: string;
MoneyFixture.inEachTest(api, (...opened) => ([at, [s1, , s3]] = opened));

type Paper = ShownInvoice & {
  tax_cents: number | null;
  billed_to: { student_name: string; name: string; address: string | null } | null;
  line_items: { tax: string | null }[];
};

const sells = (set: string) => make.query(`UPDATE organizations SET ${set} WHERE id = $1`, [at.calendar.school]);
const registered = (rate = 1_000) => sells(`tax_registered = true, business_number = '51 824 753 556', tax_rate = ${rate}`);
const shown = (id: string) => at.invoice(id) as Promise<Paper>;
const issued = async (student: string, ...lines: [cents: number, tax?: string][]) => {
  const body = { student_id: student, lines: lines.map(([unit_amount_cents, tax]) => ({ description: 'X', unit_amount_cents, tax })) };
  const { id } = at.done(await at.send<{ id: string }>('post', '/v1/invoices', body));
  at.done(await at.finalize(id));
  return shown(id);
};
const accounts = () => api.key(at.calendar.school, { scopes: ['read', 'students:write', 'accounts:write'] });
const change = async (path: string, body: object) => at.send<Record<string, unknown>>('patch', `/v1/${path}`, body, await accounts());
const snapshotOf = async (id: string) =>
  (await make.query<{ snapshot: Record<string, Record<string, unknown>> }>('SELECT snapshot FROM invoices WHERE id = $1', [id]))[0]!.snapshot;

describe('tax', () => {
  it('is none unless the organization is registered, and no draft has any', async () => {
    const draft = (await at.drafted(s1, 11_000)) as Paper;
    expect([draft.tax_cents, draft.billed_to, draft.line_items[0]!.tax]).toEqual([null, null, null]);
    expect(await issued(s1, [11_000])).toMatchObject({ tax_cents: 0, amount_due_cents: 11_000, line_items: [{ tax: 'taxable' }] });
  });

  it('is that of the lines that are taxable, discounts subtracted, rounded once with half a cent up', async () => {
    await registered();
    expect(await issued(s1, [11_000], [550, 'free'], [-1_100])).toMatchObject({ tax_cents: 900, amount_due_cents: 10_450 });
    // 5 × 1/11 is 0.45; 6 × 1/11 is 0.55. Each line alone would be rounded to nothing.
    expect((await issued(s1, [5], [5], [5])).tax_cents).toBe(1);
    await registered(2_500);
    // 5 / 2 × 1/5: half a cent.
    expect((await issued(s1, [1], [1, 'free'])).tax_cents).toBe(0);
    await registered(10_000);
    expect((await issued(s1, [1])).tax_cents).toBe(1);
    expect((await issued(s1, [-1], [100, 'free'])).tax_cents).toBe(0);
    expect((await issued(s1, [-3], [100, 'free'])).tax_cents).toBe(-1);
  });

  it('is what the subject says of its lessons, unless only the organization does, as it is at the issue', async () => {
    await registered();
    const { id: subjectId } = await make.row('subjects', { organizationId: at.calendar.school, name: 'Speech' });
    const lesson = await at.taught(60, { subject_id: subjectId });
    const settings = await api.key(at.calendar.school, { scopes: ['read', 'settings:write'] });
    const subject = await at.send('patch', `/v1/subjects/${subjectId}`, { tax: 'free' }, settings);
    expect(subject).toMatchObject({ status: 200, body: { tax: 'free' } });
    const first = await at.draft(s1);
    at.done(await at.finalize(first.id));
    expect(await shown(first.id)).toMatchObject({ tax_cents: 0, line_items: [{ tax: 'free', session_id: lesson.id }] });
    // Void, corrected, and billed again: what the subject says now.
    await at.send('patch', `/v1/subjects/${subjectId}`, { tax: null }, settings);
    at.done(await at.void(first.id, { rebill: true }));
    const again = await at.draft(s1);
    at.done(await at.finalize(again.id));
    expect(await shown(again.id)).toMatchObject({ tax_cents: 727, line_items: [{ tax: 'taxable' }] });
    // What somebody wrote stays with the line.
    const { id } = await issued(s1, [500, 'free']);
    at.done(await at.void(id, { rebill: true }));
    expect((await at.draft(s1)).line_items).toMatchObject([{ tax: 'free' }]);
    expect(
      (await at.send('post', '/v1/invoices', { student_id: s1, lines: [{ description: 'X', unit_amount_cents: 1, tax: 'exempt' }] })).status,
    ).toBe(422);
  });

  it('changes with nothing that happens to an invoice later', async () => {
    await registered();
    const { id } = await issued(s1, [11_000]);
    const before = await snapshotOf(id);
    await sells(`legal_name = 'Another', postal_address = 'Elsewhere', tax_registered = false, tax_rate = 0, payment_instructions = 'Cash'`);
    await change(`parents/${at.parent}`, { billing_name: 'Other', billing_address: 'Moved' });
    const payment = await at.paid(s1, 11_000);
    at.done(await at.refund(payment.id, 5_000));
    expect([await snapshotOf(id), (await shown(id)).tax_cents]).toEqual([before, 1_000]);
  });
});

describe('who is billed', () => {
  it('is the only parent, whom the organization may choose, or the student', async () => {
    expect((await api.get(`/v1/students/${s1}`, at.key)).body).toMatchObject({ billing_parent_id: at.parent, bills_self: false });
    expect((await issued(s1, [1])).billed_to).toMatchObject({ student_name: 'Ada Lovelace', name: 'Ada Lovelace', address: null });
    const second = await make.parent(at.calendar.school, { children: [s1], user: { firstName: 'Ngọc', lastName: 'Trần' } });
    // Several, and nobody chosen.
    expect((await api.get(`/v1/students/${s1}`, at.key)).body).toMatchObject({ billing_parent_id: null });
    const chosen = await change(`students/${s1}`, { billing_parent_id: second.id });
    expect(chosen).toMatchObject({ status: 200, body: { billing_parent_id: second.id } });
    await change(`parents/${second.id}`, { billing_address: '4 Station Street\nFootscray' });
    expect((await issued(s1, [1])).billed_to).toEqual({ student_name: 'Ada Lovelace', name: 'Ngọc Trần', address: '4 Station Street\nFootscray' });
    const self = await change(`students/${s1}`, { bills_self: true, billing_name: 'Byron Pty Ltd' });
    expect(self.body).toMatchObject({ billing_parent_id: null, bills_self: true });
    expect((await issued(s1, [1])).billed_to).toEqual({ student_name: 'Ada Lovelace', name: 'Byron Pty Ltd', address: null });
    // A choice ends with its link.
    await change(`students/${s1}`, { billing_parent_id: second.id });
    await make.query('DELETE FROM parent_students WHERE parent_id = $1', [second.id]);
    expect((await api.get(`/v1/students/${s1}`, at.key)).body).toMatchObject({ billing_parent_id: at.parent, bills_self: false });
    expect((await api.get(`/v1/students/${s3}`, at.key)).body).toMatchObject({ billing_parent_id: null });
    expect((await issued(s3, [1])).billed_to).toMatchObject({ address: null });
  });

  it('is nobody who is not linked, and never two', async () => {
    const stranger = await make.parent(at.calendar.school, { children: [s3] });
    expect((await change(`students/${s1}`, { billing_parent_id: stranger.id })).status).toBe(404);
    expect(refusal(await change(`students/${s1}`, { billing_parent_id: at.parent, bills_self: true }))[0]).toBe(422);
    const others = await Promise.all([1, 2].map(() => make.parent(at.calendar.school, { children: [s1] })));
    const key = await accounts();
    const all = await Promise.all(others.map(({ id }) => at.send('patch', `/v1/students/${s1}`, { billing_parent_id: id }, key)));
    expect(all.map(({ status }) => status)).toEqual([200, 200]);
    expect(await make.query('SELECT count(*)::int AS n FROM parent_students WHERE student_id = $1 AND pays', [s1])).toEqual([{ n: 1 }]);
  });
});

it('an invoice that was imported has no snapshot', async () => {
  const { id } = await make.invoice(at.calendar.school, s1, { invoiceNumber: 'OLD-1', amountDueCents: 100, status: 'open' });
  expect(await shown(id)).toMatchObject({ tax_cents: null, billed_to: null });
});

describe('the page to pay at', () => {
  const read = (text: string) => SELLER.payUrl.read(text);

  it('has placeholders behind its host alone, which are encoded', () => {
    const template = 'https://pay.example.org/i/{invoice_number}?cents={amount_cents}&again={invoice_number}';
    expect(read(template)).toBe(template);
    const url = payUrlFor(template, { number: 'A/B?&#1', amountCents: 12_050n });
    expect(url.href).toBe('https://pay.example.org/i/A%2FB%3F%26%231?cents=12050&again=A%2FB%3F%26%231');
  });

  it.each([
    'http://pay.example.org',
    'https://{invoice_number}.example.org/',
    'https://pay.example.org:{amount_cents}/',
    'https://pay.example.org\\{invoice_number}.example.com/',
    'https://a:b@example.org/',
    'https://localhost/{invoice_number}',
    'https://pay.example.org/{student}',
    'https://pay.example.org/{invoice_number',
    'https://pay.example.org/a b',
    'javascript:alert(1)',
    `https://pay.example.org/${'x'.repeat(500)}`,
  ])('is never %s', (text) => expect(read(text)).toBeNull());

  it('rates are hundredths of a percent, however they are written', () => {
    expect(['10', '12.5', '0', '100', '7.25'].map((text) => SELLER.taxRate.read(text))).toEqual([1_000, 1_250, 0, 10_000, 725]);
    expect(['100.01', '-1', '1e1', '1.234', '', '101'].map((text) => SELLER.taxRate.read(text))).toEqual([null, null, null, null, null, null]);
    expect([1_000, 1_250, 725].map(percentOf)).toEqual(['10', '12.5', '7.25']);
  });
});
