import { KeyNotices } from '@app/access';
import { type ManagerNotice, ManagerNotices } from '@app/people';
import { loadEnv } from '@app/config';
import { NOTICE_KINDS } from '@app/jobs';
import { EmailService } from '../../apps/worker/src/email/email.service.js';
import { fixture } from '../support/process/fixture.js';
import { type Received, TestSmtp } from '../support/worker/smtp.js';
import { OutboxFixture } from '../support/worker/worker.js';

const smtp = await fixture(TestSmtp.start());
const room = await fixture(OutboxFixture.open({ SMTP_URL: smtp.url, APP_URL: 'https://app.example.org' }));
const managers = new ManagerNotices(room.db, loadEnv(room.settings, {}), room.outbox);
const keys = new KeyNotices(managers);

let school: string;
let owners: string[];

beforeEach(async () => {
  school = (await room.make.organization({ name: 'Brighter Days' })).id;
  owners = [(await room.make.member(school, { role: 'owner' })).email, (await room.make.member(school, { role: 'admin' })).email].sort();
  await room.make.member(school, { role: 'tutor' });
});

afterEach(async () => {
  await room.clear();
  smtp.received.length = 0;
  smtp.atMessage = () => undefined;
});

const created = (name: string, at = school) =>
  room.db.transaction({ organizationId: at }, () =>
    keys.tell(at, 'key_created', null, { name, display: 'tk_live_1…2', scopes: ['read'], expiresAt: null }),
  );

const drain = async () => (await room.idleWorker()).get(EmailService).runOnce();

/** As if ten minutes had passed. */
const tenMinutes = () =>
  room.make.query(`UPDATE outbox SET due_at = due_at - interval '10 minutes', gathers_at = gathers_at - interval '10 minutes'`);

const recipients = () => smtp.received.map(({ to }) => to).sort();

/** The names of the keys that a mail tells of. */
const told = ({ text }: Received) => [...text.matchAll(/“(key \d+)”/g)].map(([, name]) => name);

it('the first notice is mailed at once; those of the next ten minutes wait, and become one mail that lists them', async () => {
  await created('key 0');
  await drain();
  expect(recipients()).toEqual(owners);
  expect(smtp.received[0]!.headers.subject).toBe('New API key for Brighter Days');
  for (let n = 1; n < 29; n++) await created(`key ${n}`);
  await drain();
  expect(smtp.received).toHaveLength(2);
  await tenMinutes();
  await drain();
  expect(recipients()).toEqual([...owners, ...owners].sort());
  for (const mail of smtp.received.slice(2)) {
    expect(mail.headers.subject).toBe('28 notices from Brighter Days');
    expect(told(mail)).toEqual(Array.from({ length: 28 }, (_, n) => `key ${n + 1}`));
    for (const part of [mail.text, mail.html]) {
      expect(part).toContain(`https://app.example.org/o/school-${school}/keys`);
    }
  }
  // Each mail begins another ten minutes.
  await created('key 29');
  await drain();
  expect(smtp.received).toHaveLength(4);
  await tenMinutes();
  await created('key 30');
  await drain();
  expect(smtp.received.slice(4).map(told)).toEqual([
    ['key 29', 'key 30'],
    ['key 29', 'key 30'],
  ]);
});

it('what matters cannot be buried: it comes first and in full, and five of each other kind with the number of the rest', async () => {
  const tell = (notice: Partial<ManagerNotice> & Pick<ManagerNotice, 'kind'>) =>
    room.db.transaction({ organizationId: school }, () => managers.tell(school, { page: '/people', ...notice }));
  const declined = (n: number) =>
    tell({ kind: 'invite_declined', role: 'parent', about: () => ({ membership: { person: `Stranger ${n}`, by: null } }) });
  const left = (person: string, role: 'tutor' | 'admin') =>
    tell({ kind: 'member_removed', role, about: () => ({ membership: { person, by: null } }) });
  for (let n = 0; n < 26; n++) await declined(n);
  for (let n = 0; n < 8; n++) await left(`Tutor ${n}`, 'tutor');
  await created('key 1');
  await tell({ kind: 'manager_added', about: () => ({ membership: { person: 'Mallory', by: null } }) });
  await left('Ada Admin', 'admin');
  const change = { name: 'Your app', before: null, after: 'https://phish.example/login' };
  await tell({ kind: 'settings_changed', owners: true, about: () => ({ settings: { by: 'Mallory', changes: [change] } }) });
  await drain();
  await tenMinutes();
  await drain();
  expect(smtp.received).toHaveLength(2);
  for (const { to, text } of smtp.received) {
    const lines = text.match(/^- .*$/gm)!;
    const owner =
      to ===
      (
        await room.make.query<{ email: string }>(
          `SELECT email FROM users u JOIN members m ON m.user_id = u.id WHERE m.organization_id = $1 AND m.role = 'owner'`,
          [school],
        )
      )[0]!.email;
    const important = ['“key 1”', 'Mallory is now an admin', 'Ada Admin', ...(owner ? ['Your app: none → https://phish.example/login'] : [])];
    for (const [at, words] of important.entries()) expect(lines[at]).toContain(words);
    const others = lines.slice(important.length).join('\n');
    expect(others.match(/Stranger \d+/g)).toHaveLength(5);
    expect(others).toContain('- 21 more invitations were declined.');
    expect(others.match(/Tutor \d/g)!.length).toBeGreaterThanOrEqual(4);
  }
});

it('every kind has a line, and notices of several kinds lead to the organization’s home', async () => {
  for (const kind of NOTICE_KINDS) {
    const about = () => ({
      key: { name: 'Site', display: 'tk_live_1…2', by: null },
      membership: { person: 'Ben Cole', by: 'Ann Lee' },
      settings: { by: 'Ann Lee', changes: [] },
    });
    await room.db.transaction({ organizationId: school }, () => managers.tell(school, { kind, page: `/${kind}`, about }));
  }
  await drain();
  expect(smtp.received).toHaveLength(2);
  const [{ text }] = smtp.received as [Received];
  expect(text.match(/^- \S.*\.$/gm)).toHaveLength(NOTICE_KINDS.length);
  expect(text).toContain('Ann Lee has removed Ben Cole');
  expect(text.split('\n')).toContain(`https://app.example.org/o/school-${school}`);
  expect(text).not.toMatch(/undefined|null|\{\{/);
});

it('is lost by nobody: a mail that is being sent takes in nothing more, and one that fails keeps what it has', async () => {
  await created('key 0');
  smtp.atMessage = () => ({ code: 451 });
  await drain();
  await created('key 1');
  smtp.atMessage = () => undefined;
  await tenMinutes();
  await drain();
  expect(smtp.received.flatMap(told).sort()).toEqual(['key 0', 'key 0', 'key 1', 'key 1']);
});

it('a write that is rolled back leaves nothing, neither in a new mail nor in one that waits', async () => {
  const failing = (name: string) =>
    room.db.transaction({ organizationId: school }, async () => {
      await keys.tell(school, 'key_revoked', null, { name, display: 'tk_live_1…2' });
      throw new Error('rolled back');
    });
  await expect(failing('key 1')).rejects.toThrow('rolled back');
  expect(await room.rows()).toEqual([]);
  await created('key 0');
  await expect(failing('key 2')).rejects.toThrow('rolled back');
  await drain();
  expect(smtp.received.map(told)).toEqual([['key 0'], ['key 0']]);
});

it('loses and repeats nothing beside concurrent writers and a worker that sends', async () => {
  const worker = await room.worker();
  const sending = (async () => {
    for (let n = 0; n < 10; n++) await worker.get(EmailService).runOnce();
  })();
  await Promise.all(Array.from({ length: 30 }, (_, n) => created(`key ${n}`)));
  await sending;
  for (let n = 0; n < 2; n++) {
    await tenMinutes();
    await drain();
  }
  const counts = await room.make.query<{ recipient: string; n: number; mails: number }>(
    'SELECT recipient, sum(gathered_count + 1)::integer AS n, count(*)::integer AS mails FROM outbox GROUP BY 1 ORDER BY 1',
  );
  expect(counts.map(({ recipient, n }) => [recipient, n])).toEqual(owners.map((owner) => [owner, 30]));
  // One at once, and one for all that followed; both may be one if the worker came late.
  for (const { mails } of counts) expect(mails).toBeLessThanOrEqual(2);
});

it('two writes at once begin one mail, not two', async () => {
  const [begun, ended] = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
  const first = room.db.transaction({ organizationId: school }, async () => {
    await keys.tell(school, 'key_revoked', null, { name: 'key 0', display: 'tk_live_1…2' });
    begun.resolve(null);
    await ended.promise;
  });
  await begun.promise;
  let done = false;
  const second = created('key 1').then(() => (done = true));
  // It waits, or has not waited for the first one.
  await vi.waitFor(async () => expect(done || (await room.make.query('SELECT FROM pg_locks WHERE NOT granted')).length > 0).toBe(true));
  ended.resolve(null);
  await Promise.all([first, second]);
  const mails = await room.make.query<{ n: number }>('SELECT gathered_count AS n FROM outbox');
  expect(mails).toEqual([{ n: 1 }, { n: 1 }]);
});

it('concerns one organization and one manager: others’ notices, and mails to people, go out at once', async () => {
  const other = (await room.make.organization({ name: 'Elsewhere' })).id;
  const both = await room.make.member(other, { role: 'owner' });
  await created('key 0');
  await created('key 1', other);
  await room.queue([both.email], { organizationId: other, kind: 'approval_given' });
  await drain();
  expect(recipients()).toEqual([...owners, both.email, both.email].sort());
});

it.each([`status = 'archived', archived_at = now()`, `role = 'tutor'`, `status = 'pending'`])(
  'who no longer manages the organization (%s) gets none of those that wait',
  async (change) => {
    const [gone, stays] = owners as [string, string];
    await created('key 0');
    await drain();
    await created('key 1');
    await room.make.query(`UPDATE members SET ${change} WHERE user_id = (SELECT id FROM users WHERE email_normalized = $1)`, [gone]);
    await tenMinutes();
    smtp.received.length = 0;
    await drain();
    expect(recipients()).toEqual([stays]);
    expect(await room.make.query(`SELECT status, last_error FROM outbox WHERE recipient = $1 AND status <> 'sent'`, [gone])).toEqual([
      { status: 'suppressed', last_error: 'not_manager' },
    ]);
  },
);
