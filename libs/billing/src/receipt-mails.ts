import { Injectable } from '@nestjs/common';
import { Database, normalizeEmail } from '@app/database';
import { FamilyMails, type Payer } from '@app/people';
import sql from 'sql-template-tag';
import type { Received } from './payments.js';

/** What a mail with a receipt says. */
export interface ReceiptInMail {
  currency: string;
  cents: bigint;
  /** A day. */
  receivedOn: string;
  firstName: string | null;
}

/** Mails receipts: a parent's to that parent, a student's to whoever pays for the student. */
@Injectable()
export class ReceiptMails {
  constructor(
    private readonly db: Database,
    private readonly mails: FamilyMails,
  ) {}

  /** Queues a mail with a payment's receipt, in the ambient transaction. @throws Refused if nobody can be reached */
  async send(organizationId: string, paymentId: string, payer: Received['payer']): Promise<void> {
    const to =
      'studentId' in payer
        ? await this.mails.payerOf(organizationId, payer.studentId)
        : await this.mails.parentOf(organizationId, payer.parentId);
    await this.mails.send(organizationId, 'receipt', paymentId, to);
  }

  /** What a mail to this address says just before it is sent; null if the payment was taken back, or somebody else pays now. */
  async look(organizationId: string, paymentId: string, recipient: string): Promise<ReceiptInMail | null> {
    type Found = Payer & Pick<ReceiptInMail, 'currency' | 'receivedOn'> & { cents: string };
    const [[found]] = await this.db.read<[Found]>(
      { organizationId },
      sql`SELECT y.currency, y.amount_cents::text AS cents, y.received_on::text AS "receivedOn", w.*
        FROM payments y CROSS JOIN LATERAL (
          SELECT * FROM (${FamilyMails.parentOf(organizationId, sql`y.parent_id`)}) a
          UNION ALL SELECT * FROM (${FamilyMails.payerOf(organizationId, sql`y.student_id`)}) b) w
        WHERE y.organization_id = ${organizationId} AND y.id = ${paymentId} AND NOT y.person_erased
          AND y.recorded AND y.status IN ('succeeded', 'refunded')`,
    );
    if (!found?.email || normalizeEmail(found.email) !== normalizeEmail(recipient)) return null;
    const { currency, cents, receivedOn, firstName } = found;
    return { currency, cents: BigInt(cents), receivedOn, firstName };
  }
}
