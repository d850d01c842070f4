import { Readable } from 'node:stream';
import { createTransport, type Transporter } from 'nodemailer';
import { parseConnectionUrl } from 'nodemailer/lib/shared';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { heldBack, type Mail, type Mailer, messageOf } from './mailer.js';

/** Connections to the server. Providers allow ten to a hundred per sender. */
export const CONNECTIONS = 10;

/** A connection is replaced after this many mails, because servers close long-lived ones. */
const MAILS_PER_CONNECTION = 500;

/** Timeout for connecting, and for the greeting (ms). */
const CONNECT_TIMEOUT_MS = 10_000;

/** How long a server may be silent within a mail (ms). Some scan for half a minute; giving up then would send the mail twice. */
const SILENCE_MS = 45_000;

/** RFC 6531: what comes before the @ has other letters than ASCII's. A domain is sent as punycode, which every server takes. */
const NEEDS_SMTPUTF8 = /[^\0-\x7f].*@/;

/** A pool of connections to the SMTP server of SMTP_URL. */
export class SmtpMailer implements Mailer {
  private readonly transport: Transporter;

  /** @param url smtp: or smtps:, with any options that nodemailer supports in it */
  constructor(private readonly url: string) {
    this.transport = createTransport({
      url,
      pool: true,
      maxConnections: CONNECTIONS,
      maxMessages: MAILS_PER_CONNECTION,
      connectionTimeout: CONNECT_TIMEOUT_MS,
      greetingTimeout: CONNECT_TIMEOUT_MS,
      dnsTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SILENCE_MS,
      // Covers connections that turn out to be closed. The outbox has its own, slower retries.
      maxRequeues: 1,
    });
    // The last stage, because earlier ones would read ahead, long before the server has accepted the recipient.
    this.transport.use('stream', (mail, done) => {
      const { ready } = mail.data as { ready: () => Promise<void> };
      mail.message.processFunc((input) => Readable.from(heldBack(input, ready), { objectMode: false }));
      done();
    });
  }

  async send(mail: Mail, ready: () => Promise<void>, signal: AbortSignal): Promise<void> {
    if (NEEDS_SMTPUTF8.test(mail.to) && !(await this.offersSmtpUtf8()))
      throw Object.assign(new Error('The server does not offer SMTPUTF8'), { code: 'ENOSMTPUTF8' });
    // `ready` is for the stage in the constructor.
    const message = { ...messageOf(mail), ready, signal };
    await this.transport.sendMail(message);
  }

  /** Asked on a connection of its own: nodemailer would send the letters as raw bytes to a server that does not offer it. */
  private offersSmtpUtf8(): Promise<boolean> {
    const connection = new SMTPConnection({
      ...parseConnectionUrl(this.url),
      connectionTimeout: CONNECT_TIMEOUT_MS,
      greetingTimeout: CONNECT_TIMEOUT_MS,
      dnsTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: CONNECT_TIMEOUT_MS,
    });
    return new Promise((resolve, reject) => {
      connection.on('error', reject);
      connection.on('end', () => reject(Object.assign(new Error('Connection closed'), { code: 'ECONNECTION' })));
      // The last response is the one to EHLO, after STARTTLS the second one.
      connection.connect(() => {
        resolve(/[ -]SMTPUTF8\b/i.test(String(connection.lastServerResponse)));
        connection.quit();
      });
    });
  }

  close(): void {
    this.transport.close();
  }
}
