import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sync, type VEvent } from 'node-ical';
import { MoneyFixture } from '../support/data/money-fixture.js';
import { fixture } from '../support/process/fixture.js';
import { TestPortal } from '../support/portal/portal.js';
import { attachedIn, FamilyPost, textOf } from '../support/worker/family-post.js';
import { FamilyRound } from '../support/worker/family-round.js';

const post = await fixture(FamilyPost.open());
const { api } = post;
const { make } = api;
const portal = await fixture(TestPortal.start({ ENCRYPTION_KEY: '5e'.repeat(32) }, api.database));
const round = new FamilyRound(post);
const folder = await mkdtemp(join(tmpdir(), 'tutoring-families-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

const guide = await readFile(new URL('../../docs/families.md', import.meta.url), 'utf8');
const commands = [...guide.matchAll(/```sh\n([^]*?)```/g)].map(([, command]) => command!.replaceAll(/^ {3}/gm, ''));
const HOUR = 3_600_000;

/** Two parents and two children, whose names are in five scripts. */
const NAMES = {
  mother: ['Ánh', 'Nguyễn'],
  father: ['Αλέξανδρος', 'Παπαδόπουλος'],
  daughter: ['Zoë', 'O’Hara'],
  son: ['Дмитрий', 'Жуков'],
  tutor: ['王', '小明'],
} as const;

async function familyOfFour() {
  const at = await MoneyFixture.open(api);
  const { school, students, t1 } = at.calendar;
  const [daughter, son] = students;
  const father = (await make.parent(school, { children: [son] })).id;
  await make.query('DELETE FROM parent_students WHERE parent_id = $1 AND student_id = $2', [at.parent, son]);
  const ids = { mother: at.parent, father, daughter, son, tutor: t1 };
  const emails: Record<string, string> = {};
  for (const [who, [first, last]] of Object.entries(NAMES)) {
    const set = 'UPDATE users SET first_name = $2, last_name = $3, email_verified_at = now() WHERE id = $1 RETURNING email';
    const [user] = await make.query<{ email: string }[]>(set, [ids[who as keyof typeof ids], first, last]);
    emails[who] = (user as unknown as { email: string }[])[0]!.email;
  }
  const owner = await make.member(school, { role: 'owner', status: 'accepted' });
  return { at, ...ids, emails, owner: await portal.session(owner.id) };
}

it('a family of four with two payers gets lessons, invoices, receipts, statements and calendars, as docs/families.md says', async () => {
  const { at, mother, father, daughter, son, emails, owner } = await familyOfFour();
  const { calendar } = at;
  const [{ slug }] = (await make.query<{ slug: string }>('SELECT slug FROM organizations WHERE id = $1', [calendar.school])) as [{ slug: string }];
  const base = `/o/${slug}/settings`;
  const form = (path: string, fields: Record<string, string>) => portal.post(`${base}${path}`, fields, owner).expect(303);

  // Who sells, and what is mailed by itself.
  await form('/invoices', {
    legal_name: 'Wattle Lane Pty Ltd', business_number_label: 'ABN', business_number: '51 824 753 556', tax_registered: 'yes', tax_label: 'GST', tax_rate: '10',
    line_tax: 'taxable', payment_terms_days: '14', payment_instructions: 'BSB 000-000', pay_url: '', reply_address: 'office@wattle.example',
  }); // prettier-ignore
  for (const kind of ['lessons_booked', 'lessons_moved', 'lessons_cancelled', 'reminders']) await form('/mails/on', { kind });
  await round.look();

  // A lesson for each child: each parent is told of their own, and follows it in a calendar.
  const soon = new Date(Math.ceil(Date.now() / HOUR) * HOUR + 72 * HOUR);
  for (const [student_id, hours] of [
    [daughter, 0],
    [son, 2],
  ] as const) {
    const booked = await calendar.book(new Date(soon.getTime() + hours * HOUR).toISOString(), { student_id });
    expect(booked.status).toBe(201);
  }
  const news = await round.pass();
  for (const [parent, child, other] of [
    ['mother', 'daughter', 'son'],
    ['father', 'son', 'daughter'],
  ] as const) {
    const [mail, ...more] = news.filter(({ to }) => to === emails[parent]);
    expect(more).toEqual([]);
    expect(mail!.lines).toEqual([expect.stringContaining(NAMES[child][0])]);
    expect(mail!.mail.text).not.toContain(NAMES[other][0]);
  }
  for (const [parent, child] of [
    [mother, 'daughter'],
    [father, 'son'],
  ] as const) {
    const made = await portal.post('/account/calendar/make', { organization: slug }, await portal.session(parent)).expect(200);
    const { text } = await portal.get(/\/calendar\/[\w-]{43}\.ics/.exec(made.text)![0]).expect(200);
    const events = Object.values(sync.parseICS(text)).filter((one): one is VEvent => one?.type === 'VEVENT');
    expect(events.map(({ summary }) => summary)).toEqual([expect.stringContaining(NAMES[child][0])]);
  }

  // Both children were taught; each invoice goes to the parent who pays it, with its PDF.
  const invoices: Record<string, string> = {};
  for (const [who, student_id] of [
    ['mother', daughter],
    ['father', son],
  ] as const) {
    await at.taught(60, { student_id });
    const { id } = await at.draft(student_id);
    at.done(await at.finalize(id, { send: true }));
    invoices[who] = id;
  }
  await post.deliver();
  const mailed = post.received();
  expect(mailed.map(({ to }) => to).sort()).toEqual([emails.mother, emails.father].sort());
  for (const [who, child] of [
    ['mother', 'daughter'],
    ['father', 'son'],
  ] as const) {
    const { text } = await attachedIn(mailed.find(({ to }) => to === emails[who])!.raw);
    for (const said of ['Tax invoice', '51 824 753 556', NAMES[who].join(' '), NAMES[child].join(' '), 'Total in AUD 80.00', 'GST included 7.27'])
      expect(text).toContain(said);
  }

  // It is paid, and the receipt mailed.
  at.done(await at.pay({ parent_id: mother, invoice_id: invoices.mother, amount_cents: 8_000, receipt: true }));
  await post.deliver();
  const [receipt] = post.received();
  expect(receipt!.to).toBe(emails.mother);
  expect((await attachedIn(receipt!.raw)).text).toContain('80.00');
  expect(await at.balance(mother)).toEqual([8_000, 8_000, 0, 0, 0]);

  // What the page says to type.
  const year = new Date().getFullYear();
  for (const command of commands)
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', command.replaceAll('2027', String(year)).replace('-03-31', '-12-31')], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        API: `http://127.0.0.1:${(api.server.address() as AddressInfo).port}`,
        KEY: at.key,
        INVOICE: invoices.mother,
        PARENT: mother,
      },
    });
  const [invoice, statement] = await Promise.all(['invoice.pdf', 'statement.pdf'].map(async (name) => textOf(await readFile(join(folder, name)))));
  expect(invoice).toContain(NAMES.mother.join(' '));
  for (const said of [NAMES.mother.join(' '), '80.00', 'INV-']) expect(statement).toContain(said);
  expect(statement).not.toContain(NAMES.father[0]);
});
