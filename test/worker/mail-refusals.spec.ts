import { EmailService } from '../../apps/worker/src/email/email.service.js';
import { smtpFailureOf } from '../../apps/worker/src/email/smtp-failures.js';
import { fixture } from '../support/process/fixture.js';
import { NO_MAILBOX, SOMETHING_ELSE } from '../support/worker/mail-replies.js';
import { TestSmtp } from '../support/worker/smtp.js';
import { OutboxFixture } from '../support/worker/worker.js';

const smtp = await fixture(TestSmtp.start());
const room = await fixture(OutboxFixture.open({ SMTP_URL: smtp.url }));

afterEach(async () => {
  await room.clear();
  smtp.asked.length = 0;
  smtp.atRecipient = smtp.atMessage = () => undefined;
});

const drain = async () => (await room.idleWorker()).get(EmailService).runOnce();
const address = 'gone@example.com';

/** As if a day had passed since the first refusal. */
const aDay = () => room.make.query(`UPDATE suppressions SET refused_at = refused_at - interval '1 day'`);
const refuse = () => ({ code: 550, message: '5.1.1 No such user here' });

describe.each(['RCPT TO', 'DATA'])('a reply to %s', (command) => {
  const read = (responseCode: number, text: string) =>
    smtpFailureOf(Object.assign(new Error(), { command, responseCode, response: `${responseCode} ${text}` })).noMailbox;
  it.each(NO_MAILBOX)('%i %s: there is no such mailbox', (code, text) => expect(read(code, text)).toBe(true));
  it.each(SOMETHING_ELSE)('%i %s: is about something else', (code, text) => expect(read(code, text)).toBe(false));
});

it.each(['atRecipient', 'atMessage'] as const)('the first refusal (%s) parks the mail, one a day later suppresses the address', async (stage) => {
  smtp[stage] = refuse;
  for (const outcome of ['dead', 'suppressed']) {
    await room.queue([address]);
    expect(await drain()).toEqual({ [outcome]: 1 });
    expect((await room.rows())[0]).toMatchObject({ last_error: 'mailbox_unknown' });
    await room.make.query('DELETE FROM outbox');
    await aDay();
  }
  await room.queue([address]);
  expect(await room.rows()).toEqual([]);
});

/** Two refusals a day apart of an organization's mail. */
async function proveGone(organizationId = room.organizationId): Promise<void> {
  smtp.atRecipient = refuse;
  for (const _ of [1, 2]) {
    await room.queue([address], { organizationId });
    await drain();
    await room.make.query('DELETE FROM outbox');
    await aDay();
  }
  smtp.atRecipient = () => undefined;
}

it('two refusals on one day suppress nothing, and a delivery forgets the first', async () => {
  smtp.atRecipient = refuse;
  for (const _ of [1, 2]) {
    await room.queue([address]);
    expect(await drain()).toEqual({ dead: 1 });
    await room.make.query('DELETE FROM outbox');
  }
  smtp.atRecipient = () => undefined;
  await room.queue([address]);
  expect(await drain()).toEqual({ sent: 1 });
  expect(await room.make.query('SELECT FROM suppressions')).toEqual([]);
});

it('holds back one organization for 90 days, everybody once three have found out, and never mail about people’s own accounts', async () => {
  const [second, third, fourth] = await Promise.all([1, 2, 3].map(async () => (await room.make.organization()).id));
  await proveGone();
  const queued = async (organizationId?: string) => {
    await room.queue([address.toUpperCase()], { organizationId });
    const rows = await room.rows();
    await room.make.query('DELETE FROM outbox');
    return rows.length;
  };
  expect([await queued(), await queued(second)]).toEqual([0, 1]);
  await proveGone(second);
  expect(await queued(fourth)).toBe(1);
  await proveGone(third);
  expect(await queued(fourth)).toBe(0);
  await room.queue(['other@example.com']);
  await room.make.query(`UPDATE outbox SET organization_id = NULL, recipient = $1, email_normalized = $1, kind = 'password_reset'`, [address]);
  expect(await drain()).toEqual({ sent: 1 });
  await room.make.query('DELETE FROM outbox');
  await room.make.query(`UPDATE suppressions SET suppressed_until = suppressed_until - interval '90 days'`);
  expect([await queued(), await queued(fourth)]).toEqual([1, 1]);
});

it('a refused mail about somebody’s own account is parked and recorded nowhere', async () => {
  smtp.atRecipient = refuse;
  await room.queue([address]);
  await room.make.query(`UPDATE outbox SET organization_id = NULL, kind = 'password_reset'`);
  expect(await drain()).toEqual({ dead: 1 });
  expect(await room.make.query('SELECT FROM suppressions')).toEqual([]);
});

it('many refusals within an hour are a fault of the sender: those after the twentieth are tried again', async () => {
  smtp.atRecipient = refuse;
  await room.queue(Array.from({ length: 30 }, (_, n) => `person${n}@example.com`));
  const { dead = 0, failed = 0 } = await drain();
  expect([dead >= 20, dead + failed]).toEqual([true, 30]);
  expect(failed).toBeGreaterThan(0);
  expect((await room.rows(`status = 'failed'`)).map((row) => row.last_error)).toEqual(Array<string>(failed).fill('many_refused'));
  expect(room.logged.join('')).toContain('something may be wrong with the sender');
  // Not if most mails arrive.
  await room.make.query(`UPDATE outbox SET status = 'sent', finished_at = now() WHERE status = 'failed'`);
  await room.make.query(
    `INSERT INTO outbox (id, organization_id, topic, kind, recipient, status, finished_at)
     SELECT gen_random_uuid(), $1, 'email', 'x', 'x', 'sent', now() FROM generate_series(1, 300)`,
    [room.organizationId],
  );
  await room.queue(['last@example.com']);
  expect(await drain()).toEqual({ dead: 1 });
});

it('an address that only SMTPUTF8 can carry is not sent to a server without it, in any form', async () => {
  const old = await TestSmtp.start({ hideSMTPUTF8: true });
  try {
    await room.queue(['josé@example.com', 'jose@bücher.example']);
    const worker = await room.idleWorker({ SMTP_URL: old.url });
    expect(await worker.get(EmailService).runOnce()).toEqual({ dead: 1, sent: 1 });
    expect(old.asked).toEqual(['jose@bücher.example']);
    const [row] = await room.rows(`status = 'dead'`);
    expect(row).toMatchObject({ recipient: 'josé@example.com', last_error: 'smtputf8_missing' });
    expect(await room.make.query('SELECT FROM suppressions')).toEqual([]);
    await room.make.query('SELECT retry_outbox($1)', [row!.id]);
    expect(await drain()).toEqual({ sent: 1 });
    expect(smtp.asked).toEqual(['josé@example.com']);
  } finally {
    await old.stop();
  }
});
