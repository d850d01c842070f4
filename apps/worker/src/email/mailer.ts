import type { Readable } from 'node:stream';

/** Whom a mail is from, as its reader sees it. */
export interface Sender {
  name: string;
  address: string;
}

/** A mail, ready to go. */
export interface Mail {
  /** Of the outbox: stays the same however often it is sent. */
  id: string;
  from: Sender;
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
   * @throws what {@link ../email/smtp-failures.ts} can read
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
    // Quoted-printable would break the links for whoever looks at the text itself.
    textEncoding: 'base64' as const,
    date,
    messageId: `<${id}@${hostOf(from.address)}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    // A mail is its own text: nothing of it names a file or an address to be read.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** The sender of MAIL_FROM: `Name <box@host>`, or an address alone, which is named after its host. */
export function senderOf(from: string): Sender {
  const [, name = '', address = from.trim()] = /^\s*"?([^"<]*?)"?\s*<([^<>]+)>\s*$/.exec(from) ?? [];
  return { name: name || hostOf(address), address };
}

function hostOf(address: string): string {
  return /@([^\s@]+)$/.exec(address)?.[1] ?? 'localhost';
}

/** Hands on what `source` holds, all at once, when `ready` has said so. Nothing of it is read before somebody wants it. */
export async function* heldBack(source: Readable, ready: () => Promise<void>): AsyncGenerator<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of source) chunks.push(chunk as Buffer);
  await ready();
  yield Buffer.concat(chunks);
}
