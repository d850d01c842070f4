import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Env, Vault } from '@app/config';
import { EMAIL_KINDS, type EmailKind, type EmailPayload, openEmail } from '@app/jobs';
import { Log } from '@app/logging';
import { normalizeEmail } from '@app/database';
import type { Courier, Outcome } from '../outbox/courier.js';
import { type Claimed, type Contact, OutboxStore } from '../outbox/outbox.store.js';
import { FamilyLetters, type Written } from './family-letters.js';
import { FileMailer } from './file.mailer.js';
import { TimedMutex } from './timed-mutex.js';
import { type Mailer, type Sender, senderOf } from './mailer.js';
import { smtpFailureOf } from './smtp-failures.js';
import { SmtpMailer } from './smtp.mailer.js';
import { render, renderGathered } from './templates.js';

/** The lease time that must be left to start sending a mail's text (ms), which takes a moment to arrive. */
const LAST_MOMENT_MS = 1_000;

/** Delivers mails: renders and sends them, and interprets the server's reply. */
@Injectable()
export class EmailCourier implements Courier {
  readonly topic = 'email';
  private readonly mutex = new TimedMutex();
  private readonly mailer: Mailer | null;
  private readonly sender: Sender;

  constructor(
    private readonly store: OutboxStore,
    private readonly vault: Vault,
    private readonly families: FamilyLetters,
    env: Env,
    private readonly log: Log,
  ) {
    const url = env.get('SMTP_URL');
    this.mailer = url === null ? null : url.startsWith('file:') ? new FileMailer(url, log) : new SmtpMailer(url);
    this.sender = senderOf(env.get('MAIL_FROM'));
  }

  /** Without SMTP_URL, messages stay queued, because the setting may only have been forgotten. */
  get able(): boolean {
    return this.mailer !== null;
  }

  close(): void {
    this.mailer?.close();
  }

  async deliver(message: Claimed, signal: AbortSignal): Promise<Outcome> {
    const { id, recipient, createdAt, lease } = message;
    const letter = await this.write(message);
    if ('status' in letter) return letter;
    let release: () => void = () => undefined;
    const after = () => release();
    let lost = false as boolean;
    const ready = async () => {
      release = await this.mutex.acquire();
      lost = lease.leftMs < LAST_MOMENT_MS;
      if (lost || signal.aborted) throw new Error('too late');
    };
    const { organizationName, settled, ...content } = letter;
    const via = organizationName === this.sender.name ? '' : ` via ${this.sender.name}`;
    const from = { name: `${organizationName}${via}`, address: this.sender.address };
    // Mail programs hide a second mail with the same Message-ID, so one that says something else gets another.
    const known = settled ? `${id}.${digestOf(content.text)}` : id;
    const mail = { id: known, from, to: recipient.normalize('NFC'), date: createdAt, ...content };
    try {
      await this.mailer!.send(mail, ready, signal);
      await settled?.(true);
      return { status: 'sent', after };
    } catch (error) {
      const { noMailbox, refused, unreachable, problem } = smtpFailureOf(error);
      if (lost || refused || unreachable) await settled?.(false);
      if (lost) return { status: 'lost', after };
      if (signal.aborted) return { status: 'failed', problem: 'timeout', after };
      if (noMailbox) return { ...(await this.refused(message)), after };
      if (problem === 'smtputf8_missing') return { status: 'dead', problem, after };
      return { status: 'failed', problem, unreachable, after };
    }
  }

  /** What it says: of a mail to a family, as things are now. */
  private async write(message: Claimed): Promise<Written | Outcome> {
    const { kind } = message;
    if (message.aboutId) return this.families.write(message);
    const payloads = this.open(message);
    if (!payloads) return { status: 'failed', problem: 'payload_unreadable' };
    if (!isKind(kind)) return { status: 'failed', problem: 'template_missing' };
    return payloads.length === 1
      ? render(kind, payloads[0]!, await this.contactFor(message, payloads[0]!))
      : renderGathered(payloads, message.gatheredKinds);
  }

  /** The server says that there is no such mailbox. Mails about people's own accounts never suppress an address, nor are they held back by one. */
  private async refused({ organizationId, recipient }: Claimed): Promise<Outcome> {
    const verdict = organizationId && (await this.store.refused(normalizeEmail(recipient), organizationId));
    if (verdict === 'sender') {
      this.log.warn('The mail server refuses many addresses: something may be wrong with the sender', 'Worker');
      return { status: 'failed', problem: 'many_refused' };
    }
    return { status: verdict === 'suppressed' ? 'suppressed' : 'dead', problem: 'mailbox_unknown' };
  }

  /** Managers know how their organization is reached. Mails about people's own accounts are nobody's. */
  private async contactFor({ organizationId }: Claimed, { notice }: EmailPayload): Promise<Contact | null> {
    return organizationId === null || notice ? null : this.store.contactOf(organizationId);
  }

  /** The mail, and the notices that it takes in. */
  private open({ payload, gathered }: Claimed): EmailPayload[] | null {
    try {
      return payload && [payload, ...gathered].map((sealed) => openEmail(this.vault, sealed));
    } catch {
      return null;
    }
  }
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);

function isKind(kind: string): kind is EmailKind {
  return (EMAIL_KINDS as readonly string[]).includes(kind);
}
