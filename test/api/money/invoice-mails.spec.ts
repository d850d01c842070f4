import { Outbox } from '@app/jobs';
import { MoneyFixture, refusal, type ShownInvoice } from '../../support/data/money-fixture.js';
import { fixture } from '../../support/process/fixture.js';
import { attachedIn, FamilyPost } from '../../support/worker/family-post.js';

const post = await fixture(FamilyPost.open({ FAMILY_MAILS_PER_DAY: '6', UNPROVEN_FAMILY_MAILS_PER_DAY: '3' }));
const { api } = post;
const { make } = api;
let at: MoneyFixture, s1: string, s2: string, s3: string;
MoneyFixture.inEachTest(api, (...opened) => ([at, [s1, s2, s3]] = opened));
afterEach(async () => {
  post.received();
  await make.query('DELETE FROM outbox');
});

type Mailed = ShownInvoice & { sent_to: string | null; mailed_at: string | null };
const send = (id: string, idempotencyKey?: string) =>
  at.calendar.send<Mailed & { error?: { code: string } }>('post', `/v1/invoices/${id}/send`, undefined, { key: at.key, idempotencyKey });
const addressOf = async (id: string) => (await make.query<{ email: string }>('SELECT email FROM users WHERE id = $1', [id]))[0]!.email;
const proven = (id: string) => make.query('UPDATE users SET email_verified_at = now() WHERE id = $1', [id]);
const school = (set: string) => make.query(`UPDATE organizations SET ${set} WHERE id = $1`, [at.calendar.school]);
const queued = () =>
  make.query<{ status: string; last_error: string | null; recipient: string; kind: string; waits: boolean; payload: Buffer | null }>(
    'SELECT status, last_error, recipient, kind, payload, due_at > now() AS waits FROM outbox WHERE organization_id = $1 ORDER BY created_at, id',
    [at.calendar.school],
  );

describe('an invoice by mail', () => {
  it('reaches whoever pays, with the PDF, in the name of the organization', async () => {
    await school(`name = 'Wattle Lane', reply_address = 'office@wattle.example', phone = '+61 3 5550 1234',
      pay_url = 'https://pay.example.org/{invoice_number}?c={amount_cents}'`);
    await make.query(`UPDATE users SET first_name = 'Ánh', last_name = 'Nguyễn' WHERE id = $1`, [at.parent]);
    await at.paid(s1, 2_000);
    const { id, invoice_number: number } = await at.issued(s1, 12_000, { due_date: '2031-01-15' });
    const to = await addressOf(at.parent);
    const sent = await send(id);
    expect([sent.status, sent.body]).toMatchObject([200, { sent_to: to, mailed_at: expect.any(String) as string, status: 'open' }]);
    // The outbox holds what it is about, and nothing of it.
    expect(await queued()).toMatchObject([{ kind: 'invoice', recipient: to, payload: null, waits: false }]);
    await post.deliver();
    const [mail, ...others] = post.received();
    expect(others).toEqual([]);
    expect(mail!.to).toBe(to);
    expect(mail!.headers).toMatchObject({
      from: 'Wattle Lane via Tutoring <no-reply@tutoring.example>',
      'reply-to': 'office@wattle.example',
      subject: `Invoice ${number} from Wattle Lane`,
    });
    for (const part of [mail!.text, mail!.html])
      for (const said of [
        'Hello Ánh,',
        'Ada Lovelace',
        'Amount: AUD 120.00',
        'Left to pay: AUD 100.00',
        'Due: 15 January 2031',
        `Reference: ${number}`,
        'Pay at pay.example.org',
        `https://pay.example.org/${number}?c=10000`,
        '+61 3 5550 1234',
        'just answer this email',
      ])
        expect(part).toContain(said);
    const { name, text } = await attachedIn(mail!.raw);
    expect(name).toContain(`${number}.pdf`);
    for (const said of [number!, 'Ánh Nguyễn', 'Total in AUD 120.00']) expect(text).toContain(said);
  });

  it('is sent once for a repeated request, and again for another', async () => {
    const { id } = await at.issued(s1, 100);
    for (const key of ['one', 'one', 'two']) expect((await send(id, key)).status).toBe(200);
    await post.deliver();
    expect(post.received()).toHaveLength(2);
  });

  it('goes out with the issue, if that is asked for, or the invoice is not issued', async () => {
    const draft = await at.drafted(s1, 500);
    const done = at.done(await at.finalize(draft.id, { send: true }));
    expect(done).toMatchObject({ status: 'open', sent_to: await addressOf(at.parent) });
    expect(at.done(await at.finalize(draft.id, { send: true }))).toEqual(done);
    expect(await queued()).toHaveLength(1);
    await api.make.parent(at.calendar.school, { children: [s2] });
    const other = await at.drafted(s2, 500);
    expect(refusal(await at.finalize(other.id, { send: true }))).toEqual([409, 'no_payer']);
    expect(await at.invoice(other.id)).toMatchObject({ status: 'draft', invoice_number: null });
  });

  it('is refused unless it is known whom it reaches', async () => {
    expect(refusal(await send((await at.drafted(s1, 100)).id))).toEqual([409, 'invalid_state']);
    const imported = await make.invoice(at.calendar.school, s1, { invoiceNumber: 'OLD-1', amountDueCents: 100, status: 'open' });
    expect(refusal(await send(imported.id))).toEqual([409, 'invalid_state']);
    const gone = await at.issued(s1, 100);
    at.done(await at.void(gone.id));
    expect(refusal(await send(gone.id))).toEqual([409, 'invalid_state']);
    const own = await at.issued(s3, 100);
    await make.query('UPDATE users SET placeholder_email = true WHERE id = $1', [s3]);
    expect(refusal(await send(own.id))).toEqual([409, 'no_address']);
    const first = await at.issued(s1, 100);
    const other = await make.parent(at.calendar.school, { children: [s1] });
    expect(refusal(await send(first.id))).toEqual([409, 'no_payer']);
    await make.query('UPDATE parent_students SET pays = true WHERE student_id = $1 AND parent_id = $2', [s1, other.id]);
    // Its paper names the parent who paid before.
    expect(refusal(await send(first.id))).toEqual([409, 'payer_changed']);
    const foreign = await MoneyFixture.open(api);
    expect(refusal(await send((await foreign.issued(foreign.students[0], 100)).id))).toEqual([404, 'not_found']);
    expect(await queued()).toEqual([]);
  });

  it('that named the student is the parent’s once it was mailed to them', async () => {
    const [one, two] = [await make.parent(at.calendar.school, { children: [s3] }), await make.parent(at.calendar.school, { children: [s3] })];
    const { id } = await at.issued(s3, 100);
    const pays = (parent: string, value: boolean) =>
      make.query('UPDATE parent_students SET pays = $3 WHERE student_id = $1 AND parent_id = $2', [s3, parent, value]);
    await pays(one.id, true);
    expect((await send(id)).body.sent_to).toBe(await addressOf(one.id));
    await pays(one.id, false);
    await pays(two.id, true);
    expect(refusal(await send(id))).toEqual([409, 'payer_changed']);
  });

  it.each([
    ['it is void', (id: string) => at.void(id)],
    [
      'the address is another',
      () => make.query(`UPDATE users SET email = 'new@example.org', email_normalized = 'new@example.org' WHERE id = $1`, [at.parent]),
    ],
    ['somebody else pays', () => make.query('UPDATE members SET bills_self = true WHERE user_id = $1', [s1])],
    ['the link has ended', () => make.query('DELETE FROM parent_students WHERE parent_id = $1', [at.parent])],
  ])('is dropped if %s by then', async (_why, change) => {
    const { id } = await at.issued(s1, 100);
    expect((await send(id)).status).toBe(200);
    await change(id);
    await post.deliver();
    expect(post.received()).toEqual([]);
    expect(await queued()).toMatchObject([{ status: 'suppressed', last_error: 'reason_gone' }]);
    await make.query(`UPDATE users SET email = id || '@example.org', email_normalized = id || '@example.org' WHERE id = $1`, [at.parent]);
  });
});

describe('the allowance', () => {
  const sent = async (count: number) => {
    const { id } = await at.issued(s1, 100);
    for (let time = 0; time < count; time++) expect((await send(id)).status).toBe(200);
  };
  const notices = async () => (await queued()).filter(({ kind }) => kind === 'family_mails_wait').length;
  const waiting = async () => (await queued()).map(({ kind, waits }) => kind === 'invoice' && waits).filter(Boolean).length;

  it('of addresses that nobody has shown to read is smaller; mails beyond it wait for a day, and owners are told once', async () => {
    await make.member(at.calendar.school, { role: 'owner', status: 'accepted' });
    await sent(5);
    expect([await waiting(), await notices()]).toEqual([2, 1]);
    await post.deliver();
    expect(post.received().filter(({ headers }) => headers.subject!.startsWith('Invoice'))).toHaveLength(3);
  });

  it('grows with accepted students, and costs invites nothing', async () => {
    await proven(at.parent);
    await make.query(`UPDATE members SET status = 'archived', accepted_at = NULL WHERE organization_id = $1 AND role = 'student' AND user_id <> $2`, [
      at.calendar.school,
      s1,
    ]);
    await sent(12);
    expect(await waiting()).toBe(2);
    const { used } = await api.app.get(Outbox, { strict: false }).allowance(at.calendar.school);
    expect(used).toBe(0);
  });

  it('lets invites pass: mails to families have a turn of their own', async () => {
    await sent(3);
    expect(await make.query(`SELECT DISTINCT owner FROM outbox WHERE organization_id = $1`, [at.calendar.school])).toEqual([
      { owner: `families:${at.calendar.school}` },
    ]);
  });
});

describe('a receipt by mail', () => {
  const paid = (body: object) => at.pay({ amount_cents: 12_345, receipt: true, ...body });

  it('goes to the parent who paid, or to whoever pays for the student, with the PDF', async () => {
    const to = await addressOf(at.parent);
    at.done(await paid({ parent_id: at.parent }));
    at.done(await paid({ student_id: s1 }));
    at.done(await paid({ student_id: s3 }));
    at.done(await at.pay({ student_id: s3, amount_cents: 1 }));
    await post.deliver();
    const mails = post.received();
    expect(mails.map((mail) => mail.to).sort()).toEqual([to, to, await addressOf(s3)].sort());
    for (const mail of mails) {
      for (const part of [mail.text, mail.html]) expect(part).toContain('received AUD 123.45 from you on');
      expect((await attachedIn(mail.raw)).text).toContain('Received in AUD 123.45');
    }
  });

  it('is refused, and so is the payment, if nobody can be reached; and dropped once it was taken back', async () => {
    await make.parent(at.calendar.school, { children: [s1] });
    expect(refusal(await paid({ student_id: s1 }))).toEqual([409, 'no_payer']);
    expect(await at.balance()).toEqual([0, 0, 0, 0, 0]);
    const { id } = at.done(await paid({ parent_id: at.parent }));
    at.done(await at.takeBack(id));
    await post.deliver();
    expect(post.received()).toEqual([]);
    expect(await queued()).toMatchObject([{ status: 'suppressed', last_error: 'reason_gone' }]);
  });
});
