import { Readable } from 'node:stream';
import { createTransport, type Transporter } from 'nodemailer';
import { heldBack, type Mail, type Mailer, messageOf } from './mailer.js';

/** Connections to the server. Providers allow ten to a hundred per sender. */
export const CONNECTIONS = 10;

/** A connection is replaced after this many mails, because servers close long-lived ones. */
const MAILS_PER_CONNECTION = 500;

/** Timeout for connecting, and for the greeting (ms). */
const CONNECT_TIMEOUT_MS = 10_000;

/** How long a server may be silent within a mail (ms). Some scan for half a minute; giving up then would send the mail twice. */
const SILENCE_MS = 45_000;

/** A pool of connections to the SMTP server of SMTP_URL. */
export class SmtpMailer implements Mailer {
  private readonly transport: Transporter;

  /** @param url smtp: or smtps:, with any options that nodemailer supports in it */
  constructor(url: string) {
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
    // `ready` is for the stage in the constructor.
    const message = { ...messageOf(mail), ready, signal };
    await this.transport.sendMail(message);
  }

  close(): void {
    this.transport.close();
  }
}
