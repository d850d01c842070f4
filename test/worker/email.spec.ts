import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EMAIL_KINDS } from '@app/jobs';
import { EmailService } from '../../apps/worker/src/email/email.service.js';
import { JITTER, PAUSES_MINUTES, TRIES } from '../../apps/worker/src/outbox/schedule.js';
import { fixture } from '../support/process/fixture.js';
import { TestSmtp } from '../support/worker/smtp.js';
import { OutboxFixture } from '../support/worker/worker.js';

const smtp = await fixture(TestSmtp.start());
const room = await fixture(OutboxFixture.open({ SMTP_URL: smtp.url }));

describe('the email queue', () => {
  afterEach(async () => {
    await room.clear();
    smtp.received.length = 0;
    smtp.asked.length = 0;
    smtp.atRecipient = smtp.atMessage = () => undefined;
  });

  /** One drain by a worker whose queues do not run. */
  const drain = async (settings: Record<string, string> = {}) => {
    const worker = await room.idleWorker(settings);
    return worker.get(EmailService).runOnce();
  };

  it('sends each kind of mail exactly once, to its recipient', async () => {
    const links = new Map<string, string>();
    const key = { name: 'Website', display: 'tk_live_5961…d7f5', by: 'Kim Lee', successor: 'tk_live_7a10…93cc' };
    for (const kind of EMAIL_KINDS) {
      const joinUrl = `https://app.tutoring.example/join/token-${kind}`;
      links.set(`${kind}@example.org`, joinUrl);
      await room.queue([`${kind}@example.org`], { kind, payload: { joinUrl, firstName: 'Zoë', key } });
    }
    expect(await drain()).toEqual({ sent: EMAIL_KINDS.length });
    expect(smtp.received).toHaveLength(EMAIL_KINDS.length);
    const rows = await room.rows();
    for (const mail of smtp.received) {
      const { id } = rows.find(({ recipient }) => recipient === mail.to)!;
      expect(mail.headers).toMatchObject({
        to: mail.to,
        from: 'Demo Tutoring via Tutoring <no-reply@tutoring.example>',
        'message-id': `<${id}@tutoring.example>`,
        'auto-submitted': 'auto-generated',
      });
      expect(mail.text.split('\n')).toContain(links.get(mail.to));
      expect(mail.html).toContain(`>${links.get(mail.to)!}</a>`);
      for (const part of [mail.text, mail.html]) expect(part).toContain('Hello Zoë,');
    }
    expect(await room.tally()).toEqual({ sent: EMAIL_KINDS.length });
  });

  it('shows the organization as the sender, and does not break links across lines', async () => {
    const link = `https://app.tutoring.example/join/${'t'.repeat(43)}`;
    const payload = { organizationName: 'Wattle Lane, Tutoring – Méthodes', joinUrl: link };
    await room.queue(['whole@example.org'], { payload });
    await drain({ MAIL_FROM: '"Brighter Days" <box@tutoring.example>' });
    const [mail] = smtp.to('whole@example.org');
    const from = [...mail!.headers.from!.matchAll(/=\?UTF-8\?([BQ])\?([^?]*)\?=/gi)];
    expect(from.length).toBeGreaterThan(0);
    expect(mail!.headers.from).toMatch(/ <box@tutoring\.example>$/);
    expect(decodeWords(mail!.headers.from!)).toBe('Wattle Lane, Tutoring – Méthodes via Brighter Days <box@tutoring.example>');
    expect(mail!.raw.match(/content-transfer-encoding: .*/gi)).toEqual(['Content-Transfer-Encoding: base64', 'Content-Transfer-Encoding: base64']);
    expect(mail!.text.split('\n')).toContain(link);
  });

  it('ends with address and phone of the organization as they are now, but not to its managers or about an account', async () => {
    const set = `UPDATE organizations SET postal_address = $2, phone = $3 WHERE id = $1`;
    await room.make.query(set, [room.organizationId, 'Old Street 1', null]);
    await room.queue(['student@example.org'], { kind: 'approval_given' });
    await room.make.query(set, [room.organizationId, '12 High St, https://evil.example/x <b>', '+61 3 9000 0000']);
    await room.make.query(
      `INSERT INTO outbox (id, topic, kind, recipient, payload) SELECT gen_random_uuid(), 'email', 'password_reset', 'own@example.org', payload FROM outbox`,
    );
    expect(await drain()).toEqual({ sent: 2 });
    const said = (to: string) => smtp.received.find((mail) => mail.to === to)!;
    expect(said('student@example.org').text.trimEnd()).toMatch(/\n12 High St, <b>, \+61 3 9000 0000$/);
    expect(said('student@example.org').html).toContain('Demo Tutoring, 12 High St, &lt;b&gt;, +61 3 9000 0000');
    expect(said('own@example.org').text).not.toContain('High St');
    await room.make.query(set, [room.organizationId, null, null]);
    await room.queue(['another@example.org']);
    expect(await drain()).toEqual({ sent: 1 });
    expect(said('another@example.org').text.trimEnd()).toMatch(/\nDemo Tutoring$/);
  });

  it('writes neither personal data nor links to the log', async () => {
    smtp.atRecipient = (address) =>
      address.startsWith('canary-refused') ? { code: 550, message: `5.1.1 <${address}> canary-refused is unknown` } : undefined;
    smtp.atMessage = (address) => (address.startsWith('canary-later') ? { code: 451, message: `not now, ${address}` } : undefined);
    await room.queue(['canary-refused@example.org', 'canary-later@example.org', 'canary-well@example.org'], {
      payload: { firstName: 'Canarina', joinUrl: 'https://app.tutoring.example/join/canary-token' },
    });
    await drain();
    expect(await room.tally()).toEqual({ dead: 1, failed: 1, sent: 1 });
    const log = room.logged.join('');
    expect(log).toContain('outbox try failed');
    expect(log + JSON.stringify((await room.rows()).map((row) => row.last_error))).not.toMatch(/canar|example\.org/i);
  });

  it('tries eight times with the same Message-ID and growing pauses, then gives up', async () => {
    smtp.atMessage = () => ({ code: 451, message: 'greylisted, come back later' });
    await room.queue(['later@example.org']);
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      expect(await drain()).toEqual(attempt < TRIES ? { failed: 1 } : { dead: 1 });
      const [row] = await room.rows();
      expect(row).toMatchObject({ attempts: attempt, last_error: 'smtp_451' });
      if (attempt === TRIES) break;
      const minutes = PAUSES_MINUTES[attempt - 1]!;
      expect(Number(row!.due_in) / 60).toBeGreaterThan(minutes * (1 - JITTER) - 0.1);
      expect(Number(row!.due_in) / 60).toBeLessThanOrEqual(minutes * (1 + JITTER));
      // Nothing is sent before the pause is over.
      expect(await drain()).toEqual({});
      await room.pass(`${minutes * (1 + JITTER)} minutes`);
    }
    expect(smtp.asked).toHaveLength(TRIES);
    await room.pass('1 year');
    expect(await drain()).toEqual({});

    // The operator's retry sends the same message.
    smtp.atMessage = () => undefined;
    const id = (await room.rows())[0]!.id;
    await room.make.query('SELECT retry_outbox($1)', [id]);
    expect(await drain()).toEqual({ sent: 1 });
    expect(smtp.received[0]!.headers['message-id']).toBe(`<${id}@tutoring.example>`);
  });

  it('does not send mail queued before its address was suppressed, nor a link that no longer works', async () => {
    const past = new Date(Date.now() - 1_000);
    for (const [state, wish] of Object.entries({
      open: {},
      revoked: { revokedAt: past },
      accepted: { acceptedAt: past },
      expired: { expiresAt: past },
    })) {
      await room.queue([`${state}@example.org`], { inviteId: await room.invite(wish) });
    }
    await room.queue(['late@example.org'], { payload: { expiresAt: past.toISOString() } });
    await room.queue(['purged@example.org'], { inviteId: randomUUID() });
    await room.queue(['refused@example.org', 'ÜTE@example.org']);
    await room.make.query(
      `INSERT INTO suppressions (organization_id, email_normalized, suppressed_until)
       SELECT $1, unnest('{üte@example.org,refused@example.org}'::text[]), now() + interval '1 day'`,
      [room.organizationId],
    );
    expect(await drain()).toEqual({ sent: 1, suppressed: 7 });
    expect(smtp.asked).toEqual(['open@example.org']);
    const [row] = await room.rows(`recipient LIKE 'revoked%'`);
    expect(row).toMatchObject({ status: 'suppressed', last_error: 'link_closed' });
  });

  it('a poisoned message and a stalled server do not delay other mails', async () => {
    // Five mails that the server refuses, three that it does not answer before all others are sent, and three that
    // cannot even be decrypted.
    const others = smtp.taken(100, 'well');
    smtp.atRecipient = (address) => (address.startsWith('stall') ? { until: others, code: 451 } : undefined);
    smtp.atMessage = (address) => (address.startsWith('poison') ? { code: 554, message: 'boom' } : undefined);
    const numbered = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}${index}@example.org`);
    await room.queue([...numbered('stall', 3), ...numbered('poison', 5)]);
    await room.queue(numbered('broken', 3));
    await room.make.query(`UPDATE outbox SET payload = '\\x00' WHERE recipient LIKE 'broken%'`);
    await room.queue(numbered('well', 100));
    expect(await drain()).toEqual({ sent: 100, failed: 11 });
    const [broken] = await room.rows(`recipient LIKE 'broken%'`);
    expect(broken!.last_error).toBe('payload_unreadable');
  });

  it('an unavailable server costs a few attempts, not one for each mail', async () => {
    await room.queue(Array.from({ length: 200 }, (_, index) => `person${index}@example.org`));
    const drained = await drain({ SMTP_URL: 'smtp://127.0.0.1:1' });
    expect(drained.failed).toBeLessThan(30);
    const untried = await room.rows(`status = 'queued' AND attempts = 0 AND leased_by IS NULL`);
    expect(untried.length).toBe(200 - drained.failed!);
    // The server is back: untried mails are sent at once, the others after their pause.
    expect(await drain()).toEqual({ sent: untried.length });
    await room.pass('2 minutes');
    expect(await drain()).toEqual({ sent: drained.failed });
    expect(new Set(smtp.received.map(({ to }) => to)).size).toBe(200);
    expect(smtp.received).toHaveLength(200);
  });

  it('leaves mails queued without SMTP_URL, and logs that', async () => {
    await room.queue(['somebody@example.org']);
    expect(await drain({ SMTP_URL: '' })).toEqual({});
    expect(await room.tally()).toEqual({ queued: 1 });
    expect(room.logged.join('')).toContain('SMTP_URL is not set');
  });

  it('writes .eml files if SMTP_URL is a folder, and logs only their paths', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tutoring-mail-'));
    const mail = join(folder, 'a folder');
    await room.queue(['reader@example.org'], { payload: { joinUrl: 'https://app.example/join/short' } });
    expect(await drain({ SMTP_URL: pathToFileURL(mail).href })).toEqual({ sent: 1 });
    const [row] = await room.rows();
    expect(readdirSync(mail)).toEqual([`${row!.id}.eml`]);
    const text = readFileSync(join(mail, `${row!.id}.eml`), 'utf8');
    expect(text).toContain('To: reader@example.org\r\n');
    const [, part] = /Content-Type: text\/plain[^]*?\r\n\r\n([A-Za-z0-9+/=\r\n]+)\r\n--/.exec(text)!;
    expect(Buffer.from(part!, 'base64').toString()).toContain('https://app.example/join/short');
    const log = room.logged.join('');
    expect(log).toContain(`${row!.id}.eml`);
    expect(log).not.toMatch(/reader|join\/short/);
    rmSync(folder, { recursive: true });
  });
});

/** A header with encoded words (RFC 2047) as a mail program shows it. */
function decodeWords(header: string): string {
  return header
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?UTF-8\?([BQ])\?([^?]*)\?=/gi, (_, kind: string, text: string) =>
      kind.toUpperCase() === 'B'
        ? Buffer.from(text, 'base64').toString()
        : decodeURIComponent(text.replaceAll('_', ' ').replaceAll('%', '=25').replaceAll('=', '%')),
    );
}
