import { Injectable } from '@nestjs/common';
import { InvoiceMails, ReceiptMails } from '@app/billing';
import { type FamilyKind, FAMILY_KINDS } from '@app/jobs';
import { dayInWords, decimal, Papers } from '@app/papers';
import { payUrlFor } from '@app/people';
import { type Claimed, OutboxStore } from '../outbox/outbox.store.js';
import type { Attachment } from './mailer.js';
import { personName, plainName } from './names.js';
import { renderFamily, type Rendered } from './templates.js';

export type Written = Rendered & { replyTo?: string | null; attachments?: Attachment[] };

/** What a mail to a family says, before it is put into words. */
interface Letter {
  firstName: string | null;
  /** Where to continue. */
  link: string | null;
  /** Facts, one a line. */
  lines: string[];
  /** What its words in mails.yaml name. */
  about: object;
  attachments?: Attachment[];
}

/** Writes mails to families as things are when they are sent. */
@Injectable()
export class FamilyLetters {
  /** What each kind says of what it is about, to this address; null if there is no reason to send it any more. */
  private readonly letters: Record<
    FamilyKind,
    (organizationId: string, aboutId: string, to: string) => Promise<Letter | null>
  > = {
    invoice: (...about) => this.invoice(...about),
    receipt: (...about) => this.receipt(...about),
  };

  constructor(
    private readonly store: OutboxStore,
    private readonly invoices: InvoiceMails,
    private readonly receipts: ReceiptMails,
    private readonly papers: Papers,
  ) {}

  /** @returns null for one that is not to be sent any more */
  async write({ organizationId, kind, aboutId, recipient }: Claimed): Promise<Written | null> {
    const known = FAMILY_KINDS.find((one) => one === kind);
    if (!known) throw new Error(`A mail to a family of an unknown kind "${kind}"`);
    const letter = await this.letters[known](organizationId!, aboutId!, recipient);
    if (!letter) return null;
    const sender = await this.store.senderOf(organizationId!);
    const about = { ...letter.about, answers: sender.replyTo !== null };
    return {
      ...renderFamily(known, sender, { ...letter, about }),
      replyTo: sender.replyTo,
      attachments: letter.attachments,
    };
  }

  private async invoice(organizationId: string, id: string, to: string): Promise<Letter | null> {
    const invoice = await this.invoices.look(organizationId, id, to);
    const paper = invoice && (await this.papers.toMail('invoice', organizationId, id));
    if (!paper) return null;
    const { number, currency, dueCents, paidCents, dueOn, snapshot, firstName } = invoice;
    const left = dueCents - paidCents;
    const money = (cents: bigint) => `${currency} ${decimal(cents)}`;
    const url = left > 0n ? snapshot.seller.pay_url : null;
    const pays = url === null ? null : payUrlFor(url, { number, amountCents: left });
    const student = snapshot.buyer?.student_name === snapshot.buyer?.name ? null : snapshot.buyer?.student_name;
    return {
      firstName,
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
