import { MoneyFixture } from '../support/data/money-fixture.js';
import { fixture } from '../support/process/fixture.js';
import { FamilyPost } from '../support/worker/family-post.js';
import { FamilyRound, zoneAt } from '../support/worker/family-round.js';

const post = await fixture(FamilyPost.open());
const { api } = post;
const { make } = api;
const round = new FamilyRound(post);
let at: MoneyFixture, s1: string, s2: string;
MoneyFixture.inEachTest(api, (...opened) => ([at, [s1, s2]] = opened));

const ZONE = zoneAt(12);
const dayOf = (days: number) => new Intl.DateTimeFormat('en-CA', { timeZone: ZONE }).format(Date.now() + days * 86_400_000);

beforeEach(async () => {
  await make.query('UPDATE organizations SET time_zone = $2 WHERE id = $1', [at.calendar.school, ZONE]);
  await make.query(`INSERT INTO family_switches (organization_id, kind, created_at) VALUES ($1, 'reminders', now() - interval '60 days')`, [
    at.calendar.school,
  ]);
});
afterEach(async () => {
  await make.query('DELETE FROM family_switches');
  await make.query('DELETE FROM outbox');
  post.received();
});

/** An invoice that was issued long ago, and is due so many days from today. */
async function due(days: number, student = s1): Promise<string> {
  const { id } = await at.issued(student, 10_000);
  await dueIn(id, days);
  return id;
}
const dueIn = (id: string, days: number) =>
  make.query(`UPDATE invoices SET due_date = $2, sent_at = now() - interval '50 days' WHERE id = $1`, [id, dayOf(days)]);
/** The worker looks, as it does once an hour. */
async function hour() {
  await make.query('UPDATE family_rounds SET reminded_at = NULL');
  await round.look();
  return (await round.sent()).map(({ subject }) => subject.replace(/INV-\d+ /, ''));
}
const [SOON, LATE] = ['Invoice is due soon', 'Invoice is overdue'];

describe('reminders', () => {
  it('come three days before an invoice is due and 3, 10 and 20 days after, each once', async () => {
    const id = await due(4);
    const told: Record<number, string[]> = {};
    for (let days = 4; days >= -25; days--) {
      await make.query(`UPDATE invoices SET due_date = $2 WHERE id = $1`, [id, dayOf(days)]);
      await make.query('UPDATE invoice_reminders SET due_date = $2 WHERE invoice_id = $1', [id, dayOf(days)]);
      const subjects = [...(await hour()), ...(await hour())];
      if (subjects.length > 0) told[days] = subjects;
    }
    expect(told).toEqual({ 3: [SOON], [-3]: [LATE], [-10]: [LATE], [-20]: [LATE] });
  });

  it('say the last of several that were missed, and nothing that was crossed before they were switched on or the invoice was issued', async () => {
    await due(-12);
    expect(await hour()).toEqual([LATE]);
    const before = await due(-12, s2);
    await make.query(`UPDATE family_switches SET created_at = now() - interval '1 day'`);
    expect(await hour()).toEqual([]);
    await make.query(`UPDATE family_switches SET created_at = now() - interval '60 days'`);
    await make.query(`UPDATE invoices SET sent_at = now() WHERE id = $1`, [before]);
    expect(await hour()).toEqual([]);
  });

  it('say what is left to pay, with the PDF and a way to have no more, and nothing once it is settled', async () => {
    await due(-3);
    await at.paid(s1, 4_000);
    await make.query('UPDATE family_rounds SET reminded_at = NULL');
    await round.look();
    const [{ mail, lines }] = (await round.sent()) as [Awaited<ReturnType<typeof round.sent>>[number]];
    expect(lines).toContain('Left to pay: AUD 60.00');
    expect(mail.text).toMatch(/A reminder from .*: invoice INV-\d+ .*was due on \d+ \w+ \d{4}\. It is attached\./);
    expect(mail.raw).toContain('application/pdf');
    expect(mail.headers['list-unsubscribe']).toMatch(/\/mails\/[0-9a-f-]{36}>$/);
    // Paid between the round and the mail.
    await due(-10, s2);
    await make.query('UPDATE family_rounds SET reminded_at = NULL');
    await round.look();
    await at.paid(s2, 50_000);
    expect(await round.sent()).toEqual([]);
  });

  it('go to no address that wants none, are for invoices issued here alone, and only by day', async () => {
    const id = await due(-3);
    await make.query('UPDATE invoices SET snapshot = NULL, tax_cents = NULL WHERE id = $1', [id]);
    expect(await hour()).toEqual([]);
    await due(-3, s2);
    await make.query('UPDATE organizations SET time_zone = $2 WHERE id = $1', [at.calendar.school, zoneAt(18)]);
    expect(await hour()).toEqual([]);
    await make.query('UPDATE organizations SET time_zone = $2 WHERE id = $1', [at.calendar.school, ZONE]);
    await make.query(`INSERT INTO mail_opt_outs (organization_id, address, kind) SELECT $1, email_normalized, 'reminders' FROM users WHERE id = $2`, [
      at.calendar.school,
      at.parent,
    ]);
    expect(await hour()).toEqual([]);
  });

  it('go to whoever gets the invoice itself, also before they have accepted; not to who has declined', async () => {
    const invited = { status: 'pending' as const, suppliedFirstName: 'Mio', suppliedEmail: 'mio@byron.example' };
    const [, , s3] = at.students;
    const { id } = await make.parent(at.calendar.school, { ...invited, children: [s3] });
    const invoice = await due(-3, s3);
    expect((await at.send('post', `/v1/invoices/${invoice}/send`)).status).toBe(200);
    await make.query('UPDATE family_rounds SET reminded_at = NULL');
    await round.look();
    expect((await round.sent()).map(({ to }) => to)).toEqual(['mio@byron.example', 'mio@byron.example']);
    await make.query(`UPDATE parents SET status = 'archived', refused_at = now() WHERE user_id = $1`, [id]);
    await dueIn(invoice, -10);
    expect(await hour()).toEqual([]);
    expect((await at.send('post', `/v1/invoices/${invoice}/send`)).status).toBe(409);
  });

  it('spare whom the organization exempts, also once one is queued; what came up meanwhile is not made up for', async () => {
    const spare = (table: string, id: string, spared: boolean) =>
      make.query(`UPDATE ${table} SET no_reminders = $3 WHERE organization_id = $1 AND user_id = $2`, [at.calendar.school, id, spared]);
    const invoice = await due(-3);
    await make.query('UPDATE family_rounds SET reminded_at = NULL');
    await round.look();
    await spare('parents', at.parent, true);
    expect(await round.sent()).toEqual([]);
    await dueIn(invoice, -10);
    expect(await hour()).toEqual([]);
    // Of a student who pays for themselves.
    await at.send('patch', `/v1/students/${s2}`, { bills_self: true }, await api.key(at.calendar.school, { scopes: ['accounts:write'] }));
    await due(-3, s2);
    await spare('members', s2, true);
    expect(await hour()).toEqual([]);
    await spare('parents', at.parent, false);
    expect(await hour()).toEqual([]);
    await dueIn(invoice, -20);
    expect(await hour()).toEqual([LATE]);
  });
});
