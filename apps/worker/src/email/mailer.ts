import type { Readable } from 'node:stream';

/** The sender that readers see. */
export interface Sender {
  name: string;
  address: string;
}

export interface Mail {
  /** The outbox id: the same for every attempt. */
  id: string;
  from: Sender;
  to: string;
  subject: string;
  text: string;
  html: string;
  date: Date;
  replyTo?: string | null;
  attachments?: Attachment[];
  optOut?: string;
}

export interface Attachment {
  filename: string;
  contentType: string;
  content: Buffer;
}

export interface Mailer {
  /** @param ready called right before the point of no return; if it throws, nothing is sent @throws errors that smtp-failures.ts interprets */
  send(mail: Mail, ready: () => Promise<void>, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** The headers and parts of a mail, in nodemailer's form. */
export function messageOf(mail: Mail) {
  const { id, from, to, subject, text, html, date, replyTo, attachments, optOut } = mail;
  return {
    from,
    to: { name: '', address: to },
    ...(replyTo && { replyTo: { name: '', address: replyTo } }),
    ...(attachments && { attachments }),
    ...(optOut && { list: { unsubscribe: optOut } }),
    subject,
    text,
    html,
    // Quoted-printable would break the links for readers of the raw text.
    textEncoding: 'base64' as const,
    date,
    messageId: `<${id}@${hostOf(from.address)}>`,
    headers: {
      'Auto-Submitted': 'auto-generated',
      // RFC 8058: one click in the mail program is enough.
      ...(optOut && { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
    },
    // Nothing in a mail refers to a file or URL to be read.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Parses MAIL_FROM: `Name <box@host>`, or an address alone, which gets its host as name. */
export function senderOf(from: string): Sender {
  const [, name = '', address = from.trim()] = /^\s*"?([^"<]*?)"?\s*<([^<>]+)>\s*$/.exec(from) ?? [];
  return { name: name || hostOf(address), address };
}

function hostOf(address: string): string {
  return /@([^\s@]+)$/.exec(address)?.[1] ?? 'localhost';
}

/** Yields the content of `source` as one chunk, after `ready`. Reads nothing before the consumer asks. */
export async function* heldBack(source: Readable, ready: () => Promise<void>): AsyncGenerator<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of source) chunks.push(chunk as Buffer);
  await ready();
  yield Buffer.concat(chunks);
}
