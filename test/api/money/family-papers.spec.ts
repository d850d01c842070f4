import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { melbourne, MoneyFixture, refusal } from '../../support/data/money-fixture.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';
import { textOf } from '../../support/worker/family-post.js';

const folder = mkdtempSync(join(tmpdir(), 'tutoring-family-papers-'));
const api = await fixture(TestApi.start({ DATA_DIR: folder }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { make } = api;
let at: MoneyFixture, s1: string, s2: string, s3: string;
MoneyFixture.inEachTest(api, (...opened) => ([at, [s1, s2, s3]] = opened));

async function bytesAt(link: string) {
  const answer = await api
    .get(link)
    .buffer(true)
    .parse((response, done) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => done(null, Buffer.concat(chunks)));
    });
  return { status: answer.status, body: answer.body as Buffer };
}

/** A paper, by the path that leads to it. */
async function paperAt(path: string, key = at.key) {
  const led = await api.get(path, key);
  expect([led.status, led.body]).toEqual([302, {}]);
  const link = led.headers.location as string;
  const { status, body } = await bytesAt(link);
  expect(status).toBe(200);
  return { link, bytes: body, text: await textOf(body) };
}

const receipt = (id: string) => `/v1/payments/${id}/receipt.pdf`;
const note = (id: string) => `/v1/invoices/${id}/adjustment-note.pdf`;
const statement = (from: string, to: string, parent = at.parent) => `/v1/parents/${parent}/statement.pdf?from=${from}&to=${to}`;
const refused = async (path: string, key = at.key) => refusal(await api.get(path, key));
const stored = () => readdirSync(join(folder, 'private', at.calendar.school));
const sells = (set: string) => make.query(`UPDATE organizations SET ${set} WHERE id = $1`, [at.calendar.school]);
const named = (id: string, first: string, last: string) =>
  make.query('UPDATE users SET first_name = $2, last_name = $3 WHERE id = $1', [id, first, last]);
const REGISTERED = `name = 'Wattle Lane', tax_registered = true, business_number_label = 'ABN', business_number = '51 824 753 556'`;
const NAMES = [
  ['Vietnamese', 'Ánh', 'Nguyễn Thị Ngọc'],
  ['Greek', 'Αλέξανδρος', 'Παπαδόπουλος'],
  ['Cyrillic', 'Дмитрий', 'Жуков-Їжак'],
] as const;

describe('a receipt', () => {
  it.each(NAMES)('says who paid what, when and how, also with names in %s', async (_script, first, last) => {
    await named(at.parent, first, last);
    const invoice = await at.issued(s1, 10_000);
    const sent = { parent_id: at.parent, amount_cents: 123_456, received_on: '2026-05-03', reference: 'REF 77', invoice_id: invoice.id };
    const payment = at.done(await at.pay(sent));
    const { text } = await paperAt(receipt(payment.id));
    for (const said of ['Receipt', `Received from ${first} ${last}`, 'Received 3 May 2026', 'By Bank transfer', 'Reference REF 77'])
      expect(text).toContain(said);
    expect(text).toContain(`Payment for invoice ${invoice.invoice_number} 1,234.56`);
    expect(text).toContain('Received in AUD 1,234.56');
  });

  it('stays as it was first made, whatever becomes of the money', async () => {
    const payment = await at.paid(s1, 5_000);
    const first = await paperAt(receipt(payment.id));
    await sells(`name = 'Another', postal_address = 'Elsewhere'`);
    at.done(await at.refund(payment.id, 5_000));
    expect((await paperAt(receipt(payment.id))).bytes.equals(first.bytes)).toBe(true);
    expect(stored()).toEqual([payment.id]);
  });

  it('is of money that was received, to those who may read it', async () => {
    const taken = await at.paid(s1, 5_000);
    at.done(await at.takeBack(taken.id));
    expect(await refused(receipt(taken.id))).toEqual([409, 'invalid_state']);
    const paid = await at.paid(s1, 5_000);
    const other = await api.key((await make.organization()).id, { scopes: ['read'] });
    expect(await refused(receipt(paid.id), other)).toEqual([404, 'not_found']);
    expect(await refused(receipt(at.parent))).toEqual([404, 'not_found']);
    expect((await api.get(receipt(paid.id), await api.key(at.calendar.school, { scopes: ['payments:write'] }))).status).toBe(403);
    const { link } = await paperAt(receipt(paid.id));
    await make.query('UPDATE payments SET person_erased = true WHERE id = $1', [paid.id]);
    expect([(await bytesAt(link)).status, await refused(receipt(paid.id))]).toEqual([404, [404, 'not_found']]);
  });
});

describe('an adjustment note', () => {
  it.each(NAMES)('takes back a void invoice with its tax, also with names in %s', async (_script, first, last) => {
    await sells(REGISTERED);
    await named(at.parent, first, last);
    const one = await at.issued(s1, 110_000);
    expect(await refused(note(one.id))).toEqual([409, 'invalid_state']);
    expect(at.done(await at.void(one.id, { rebill: true }))).toMatchObject({ adjustment_note_number: 'ADJ-000001' });
    const { text, bytes } = await paperAt(note(one.id));
    for (const said of ['Adjustment note', 'ABN 51 824 753 556', 'Number ADJ-000001', `Invoice ${one.invoice_number}`, `Billed to ${first} ${last}`])
      expect(text).toContain(said);
    for (const said of ['Total in AUD -1,100.00', 'GST included -100.00', 'is 0.00 instead of 1,100.00, and GST is less by 100.00.'])
      expect(text).toContain(said);
    expect(text).not.toContain('Tax invoice');
    await sells(`name = 'Another'`);
    expect((await paperAt(note(one.id))).bytes.equals(bytes)).toBe(true);
    // The numbers have no gaps.
    const two = await at.issued(s2, 200);
    expect(at.done(await at.void(two.id))).toMatchObject({ adjustment_note_number: 'ADJ-000002' });
    expect(at.done(await at.void(two.id))).toMatchObject({ adjustment_note_number: 'ADJ-000002' });
  });

  it('there is none if no tax was charged, or the invoice was imported', async () => {
    const plain = await at.issued(s1, 1_000);
    expect(at.done(await at.void(plain.id))).toMatchObject({ adjustment_note_number: null });
    const imported = await make.invoice(at.calendar.school, s1, { invoiceNumber: 'OLD-1', amountDueCents: 100, status: 'void' });
    for (const { id } of [plain, imported]) expect(await refused(note(id))).toEqual([404, 'not_found']);
  });
});

describe('a statement', () => {
  const [from, to] = [melbourne(-30), melbourne(0)];

  it.each(NAMES)('lists what was billed and paid, with the balance, also with names in %s', async (_script, first, last) => {
    await named(at.parent, first, last);
    const [one, two] = [await at.issued(s1, 12_000), await at.issued(s2, 30_050)];
    at.done(await at.pay({ parent_id: at.parent, amount_cents: 20_000, received_on: melbourne(0), reference: 'May' }));
    const { text } = await paperAt(statement(from, to));
    for (const said of ['Statement', `For ${first} ${last}`, 'Balance before 0.00', 'Payment by bank transfer, reference May 200.00'])
      expect(text).toContain(said);
    for (const invoice of [one, two]) expect(text).toContain(`Invoice ${invoice.invoice_number}, for lessons of`);
    expect(text).toContain('To pay in AUD 220.50');
    expect(stored).toThrow();
  });

  it('begins with what was owed before, and ends with what is owed, less credit', async () => {
    const old = await at.issued(s1, 10_000);
    await make.query(`UPDATE invoices SET sent_at = now() - interval '60 days' WHERE id = $1`, [old.id]);
    const lost = await at.issued(s2, 5_000);
    at.done(await at.void(lost.id));
    const paid = at.done(await at.pay({ parent_id: at.parent, amount_cents: 25_000 }));
    at.done(await at.refund(paid.id, 2_000));
    const { text } = await paperAt(statement(from, to));
    expect(text).toContain('Balance before 100.00');
    expect(text).not.toContain(lost.invoice_number);
    expect(text).toContain('of which 20.00 went back');
    expect(text).toContain('Credit in AUD 130.00');
    expect((await at.balance()).at(-1)).toBe(13_000);
    expect((await paperAt(statement(melbourne(-90), melbourne(-31)))).text).toContain('To pay in AUD 100.00');
  });

  it('is of one payer alone: what others paid counts, and nobody is named', async () => {
    const other = await make.parent(at.calendar.school, { children: [s2, s3] });
    await named(other.id, 'Zephyrine', 'Quillfeather');
    await make.query('UPDATE parent_students SET pays = true WHERE student_id = $1 AND parent_id = $2', [s2, at.parent]);
    const mine = await at.issued(s2, 9_000);
    const theirs = await at.issued(s3, 4_000);
    at.done(await at.pay({ parent_id: other.id, amount_cents: 10_000 }));
    at.done(await at.pay({ parent_id: at.parent, amount_cents: 500 }));
    const { text } = await paperAt(statement(from, to));
    expect(text).not.toMatch(/Zephyrine|Quillfeather/);
    expect(text).not.toContain(theirs.invoice_number);
    expect(text).toContain(`Paid by somebody else, invoice ${mine.invoice_number}`);
    const { text: another } = await paperAt(statement(from, to, other.id));
    expect(another).toContain('Used for invoices of others');
    expect(another).not.toContain(mine.invoice_number);
    // What is open of theirs less their credit, of each.
    const open = async (id: string) => (await at.invoice(id)).amount_due_cents - (await at.invoice(id)).amount_paid_cents;
    const credit = async (parent: string) =>
      Number((await make.query<{ c: string }>('SELECT coalesce(sum(credit_cents), 0) AS c FROM payments WHERE parent_id = $1', [parent]))[0]!.c);
    for (const [said, owed] of [
      [text, (await open(mine.id)) - (await credit(at.parent))],
      [another, (await open(theirs.id)) - (await credit(other.id))],
    ] as const)
      expect(said).toContain(`${owed < 0 ? 'Credit' : 'To pay'} in AUD ${(Math.abs(owed) / 100).toFixed(2)}`);
  });

  it('counts what was imported as it is, and what cannot be collected not at all', async () => {
    await make.invoice(at.calendar.school, s1, { invoiceNumber: 'OLD-1', amountDueCents: 1_000, amountPaidCents: 400, status: 'open' });
    await make.invoice(at.calendar.school, s1, { invoiceNumber: 'OLD-2', amountDueCents: 3_000, amountPaidCents: 100, status: 'uncollectible' });
    const { text } = await paperAt(statement(from, to));
    for (const said of ['Invoice OLD-1', 'Paid before, invoice OLD-1 4.00', 'Written off, invoice OLD-2 29.00', 'To pay in AUD 6.00'])
      expect(text).toContain(said);
  });

  it('needs a period of at most a year, and a parent who is linked here', async () => {
    const wrong: [string, string][] = [[to, from], ['2025-01-01', '2026-01-03'], ['', to], ['2026-13-01', to]]; // prettier-ignore
    for (const days of wrong) expect((await api.get(statement(...days), at.key)).status).toBe(422);
    expect(await refused(statement(from, to, s1))).toEqual([404, 'not_found']);
    const elsewhere = await MoneyFixture.open(api);
    expect(await refused(statement(from, to, elsewhere.parent))).toEqual([404, 'not_found']);
    const { link } = await paperAt(statement(from, to));
    expect((await bytesAt(`${link.slice(0, -2)}AA`)).status).toBe(404);
  });
});
