import { Readable } from 'node:stream';
import { createTransport, type Transporter } from 'nodemailer';
import { heldBack, type Mail, type Mailer, messageOf } from './mailer.js';

/** Connections that are kept to the server. Providers allow ten to a hundred from one sender. */
export const CONNECTIONS = 10;

/** A connection is renewed after this many mails: servers close those that stay for too long. */
const MAILS_PER_CONNECTION = 500;

/** What a server may take to take the connection, and to greet (ms). */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * How long a server may be silent in the middle of a mail (ms). Some scan for half a minute before they accept; hanging up on
 * one that has accepted by then would send the mail twice.
 */
const SILENCE_MS = 45_000;

/** A pool of connections to the SMTP server of SMTP_URL. */
export class SmtpMailer implements Mailer {
  private readonly transport: Transporter;

  /** @param url smtp: or smtps:, with whatever options nodemailer reads from it */
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
      // Of a mail on a connection that turned out to be closed: the outbox has its own, slower tries.
      maxRequeues: 1,
    });
    // As the last stage: what stands before it would read ahead, long before the server has taken the recipient.
    this.transport.use('stream', (mail, done) => {
      const { ready } = mail.data as { ready: () => Promise<void> };
      mail.message.processFunc((input) => Readable.from(heldBack(input, ready), { objectMode: false }));
      done();
    });
  }

  async send(mail: Mail, ready: () => Promise<void>, signal: AbortSignal): Promise<void> {
    // A field of our own, for the stage above.
    const message = { ...messageOf(mail), ready, signal };
    await this.transport.sendMail(message);
  }

  close(): void {
    this.transport.close();
  }
}
