import type { Readable } from 'node:stream';

/** A mail, ready to go. */
export interface Mail {
  /** Of the outbox: stays the same however often it is sent. */
  id: string;
  from: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  date: Date;
}

/** How mail leaves this process. */
export interface Mailer {
  /**
   * @param ready asked right before the point of no return; when it throws, nothing is sent
   * @throws what {@link ../email/refusals.ts} can read
   */
  send(mail: Mail, ready: () => Promise<void>, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** The headers and parts of a mail, as nodemailer takes them. */
export function messageOf(mail: Mail) {
  const { id, from, to, subject, text, html, date } = mail;
  return {
    from,
    to: { name: '', address: to },
    subject,
    text,
    html,
    date,
    messageId: `<${id}@${hostOf(from)}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    // A mail is its own text: nothing of it names a file or an address to be read.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** `host` of `Name <box@host>`. */
export function hostOf(from: string): string {
  return /@([^\s<>@]+?)>?\s*$/.exec(from)?.[1] ?? 'localhost';
}

/** Hands on what `source` holds, all at once, when `ready` has said so. Nothing of it is read before somebody wants it. */
export async function* heldBack(source: Readable, ready: () => Promise<void>): AsyncGenerator<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of source) chunks.push(chunk as Buffer);
  await ready();
  yield Buffer.concat(chunks);
}
