import { Injectable } from '@nestjs/common';
import { type InvoiceInMail, InvoiceMails, ReceiptMails } from '@app/billing';
import { Env } from '@app/config';
import { Database } from '@app/database';
import { FamilyPeople } from '@app/families';
import { type FamilyKind, FAMILY_KINDS } from '@app/jobs';
import { dayInWords, decimal, Papers } from '@app/papers';
import { payUrlFor } from '@app/people';
import type { Outcome } from '../outbox/courier.js';
import { type Claimed, OutboxStore } from '../outbox/outbox.store.js';
import { LessonLetters } from './lesson-letters.js';
import type { Attachment } from './mailer.js';
import { personName, plainName } from './names.js';
import { renderFamily, type Rendered } from './templates.js';

export type Written = Rendered & {
  replyTo?: string | null;
  attachments?: Attachment[];
  /** Where its reader can switch such mails off. */
  optOut?: string;
  /** Called once it has been sent, or refused. What may have arrived calls neither, and may say something else the next time. */
  settled?: (sent: boolean) => Promise<void>;
};

/** What a mail to a family says, before it is put into words. */
export interface Letter extends Pick<Written, 'attachments' | 'settled'> {
  firstName: string | null;
  /** Where to continue. */
  link: string | null;
  /** Facts, one a line. */
  lines: string[];
  /** What its words in mails.yaml name. */
  about: object;
  /** Of the link that switches such mails off. */
  token?: string;
}

const GONE: Outcome = { status: 'suppressed', problem: 'reason_gone' };
const LATER: Outcome = { status: 'failed', problem: 'earlier_mail' };

/** Writes mails to families as things are when they are sent. */
@Injectable()
export class FamilyLetters {
  /** What each kind says of what it is about, to this address, since it was queued; null if there is no reason to send it any more. */
  private readonly letters: Record<
    FamilyKind,
    (organizationId: string, aboutId: string, to: string, since: Date) => Promise<Letter | null>
  > = {
    invoice: (school, id, to) => this.invoice(school, id, to),
    receipt: (school, id, to) => this.receipt(school, id, to),
    invoice_reminder: (school, id, to) => this.reminder(school, id, to),
    lesson_news: (school, id, to) => this.lessons.ofNews(school, id, to),
    lessons_tomorrow: (...about) => this.lessons.ofTomorrow(...about),
  };

  constructor(
    private readonly store: OutboxStore,
    private readonly invoices: InvoiceMails,
    private readonly receipts: ReceiptMails,
    private readonly papers: Papers,
    private readonly lessons: LessonLetters,
    private readonly people: FamilyPeople,
    private readonly db: Database,
    private readonly env: Env,
  ) {}

  /** @returns the outcome of one that is not to be sent, now or ever */
  async write({ id, organizationId, kind, aboutId, recipient, createdAt }: Claimed): Promise<Written | Outcome> {
    const known = FAMILY_KINDS.find((one) => one === kind);
    if (!known) throw new Error(`A mail to a family of an unknown kind "${kind}"`);
    // Two at once would both say the same.
    if (known === 'lesson_news' && (await this.people.isBeingMailed(organizationId!, known, aboutId!, id)))
      return LATER;
    const letter = await this.letters[known](organizationId!, aboutId!, recipient, createdAt);
    if (!letter) return GONE;
    const sender = await this.store.senderOf(organizationId!);
    const about = { ...letter.about, answers: sender.replyTo !== null };
    const optOut = letter.token && `${this.env.portalUrl}/mails/${letter.token}`;
    return {
      ...renderFamily(known, sender, { ...letter, about, optOut }),
      ...{ replyTo: sender.replyTo, attachments: letter.attachments, settled: letter.settled, optOut },
    };
  }

  /** Not to whoever has paid meanwhile, wants no reminders, or is spared them. */
  private async reminder(organizationId: string, id: string, to: string): Promise<Letter | null> {
    const invoice = await this.invoices.look(organizationId, id, to);
    if (!invoice || invoice.status !== 'open' || invoice.paidCents >= invoice.dueCents) return null;
    const reader = await this.db.transaction({ organizationId }, async () =>
      this.people.at(organizationId, await this.people.payers(organizationId, [invoice.payer]), to),
    );
    const letter = reader && (await this.letterOf(organizationId, id, invoice));
    if (!letter) return null;
    const { overdue, dueOn } = invoice;
    return { ...letter, token: reader.token, about: { ...letter.about, overdue, due: dueOn ? dayInWords(dueOn) : '' } };
  }

  private async invoice(organizationId: string, id: string, to: string): Promise<Letter | null> {
    const invoice = await this.invoices.look(organizationId, id, to);
    return invoice && this.letterOf(organizationId, id, invoice);
  }

  private async letterOf(organizationId: string, id: string, invoice: InvoiceInMail): Promise<Letter | null> {
    const paper = await this.papers.toMail('invoice', organizationId, id);
    if (!paper) return null;
    const { number, currency, dueCents, paidCents, dueOn, snapshot, payer } = invoice;
    const left = dueCents - paidCents;
    const money = (cents: bigint) => `${currency} ${decimal(cents)}`;
    const url = left > 0n ? snapshot.seller.pay_url : null;
    const pays = url === null ? null : payUrlFor(url, { number, amountCents: left });
    const student = snapshot.buyer?.student_name === snapshot.buyer?.name ? null : snapshot.buyer?.student_name;
    return {
      firstName: payer.firstName,
      link: pays?.href ?? null,
      lines: [
        `Amount: ${money(dueCents)}`,
        ...(paidCents > 0n ? [left > 0n ? `Left to pay: ${money(left)}` : 'It is paid: nothing is left to pay.'] : []),
        ...(left > 0n && dueOn ? [`Due: ${dayInWords(dueOn)}`] : []),
        ...(left > 0n ? [`Reference: ${number}`] : []),
      ],
      about: { number: plainName(number), student: personName(student ?? ''), host: pays?.host ?? '' },
      attachments: [{ filename: paper.name, contentType: 'application/pdf', content: paper.file }],
    };
  }

  private async receipt(organizationId: string, id: string, to: string): Promise<Letter | null> {
    const receipt = await this.receipts.look(organizationId, id, to);
    const paper = receipt && (await this.papers.toMail('receipt', organizationId, id));
    if (!paper) return null;
    const { currency, cents, receivedOn, firstName } = receipt;
    return {
      firstName,
      link: null,
      lines: [],
      about: { amount: `${currency} ${decimal(cents)}`, day: dayInWords(receivedOn) },
      attachments: [{ filename: paper.name, contentType: 'application/pdf', content: paper.file }],
    };
  }
}
