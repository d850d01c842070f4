import { Injectable } from '@nestjs/common';
import type { Done } from '@app/audit';
import { Database, INVOICE, normalizeEmail } from '@app/database';
import { FamilyMails, type Payer } from '@app/people';
import { Refused } from '@app/rules';
import sql from 'sql-template-tag';
import type { Snapshot } from './snapshots.js';

type Status = (typeof INVOICE.values)[number];

/** What a mail with an invoice says. */
export interface InvoiceInMail {
  status: Status;
  payer: Payer;
  /** Its day has passed where the organization is. */
  overdue: boolean;
  number: string;
  currency: string;
  dueCents: bigint;
  paidCents: bigint;
  dueOn: string | null;
  snapshot: Snapshot;
}

interface Row {
  status: Status;
  billedParentId: string | null;
  studentId: string;
  issuedHere: boolean;
}

const SENT: Status[] = ['open', 'paid', 'uncollectible'];

/** Mails invoices to whoever pays for the student: the paper names them, so that it goes to nobody else. */
@Injectable()
export class InvoiceMails {
  constructor(
    private readonly db: Database,
    private readonly mails: FamilyMails,
  ) {}

  /** Queues a mail with an invoice that is locked, each time again. @throws Refused if nobody can be reached */
  async send(organizationId: string, id: string): Promise<Done> {
    const [row] = await this.db.query<Row>(sql`
      SELECT status, billed_parent_id AS "billedParentId", student_id AS "studentId", snapshot IS NOT NULL AS "issuedHere" FROM invoices
      WHERE organization_id = ${organizationId} AND id = ${id} AND NOT person_erased`);
    if (!row) throw Refused.notFound();
    const { status, billedParentId, studentId, issuedHere } = row;
    if (!SENT.includes(status)) throw Refused.invalidState(status, SENT);
    if (!issuedHere) throw Refused.invalidState(status, [], 'The invoice was imported: it was issued elsewhere.');
    const payer = await this.mails.payerOf(organizationId, studentId);
    if (billedParentId !== null && billedParentId !== payer.parentId)
      throw Refused.conflict('payer_changed', 'The invoice names somebody who no longer pays for the student. Void it, and issue it again.'); // prettier-ignore
    const sentTo = await this.mails.send(organizationId, 'invoice', id, payer);
    await this.db.query(sql`
      UPDATE invoices SET sent_to = ${sentTo}, mailed_at = now(), billed_parent_id = ${payer.parentId}::uuid
      WHERE organization_id = ${organizationId} AND id = ${id}`);
    return { audit: payer.parentId ? { parent_id: payer.parentId } : { student_id: payer.id } };
  }

  /** What a mail to this address says just before it is sent; null if the invoice does not go there any more. */
  async look(organizationId: string, id: string, recipient: string): Promise<InvoiceInMail | null> {
    type Found = Pick<InvoiceInMail, 'status' | 'number' | 'currency' | 'dueOn' | 'overdue' | 'snapshot'> &
      Payer & { due: string; paid: string; billedParentId: string | null };
    const [[found]] = await this.db.read<[Found]>(
      { organizationId },
      sql`SELECT i.status, i.invoice_number AS number, i.currency, i.due_date::text AS "dueOn",
          i.due_date < (SELECT (now() AT TIME ZONE o.time_zone)::date FROM organizations o WHERE o.id = ${organizationId}) AS overdue, i.snapshot, i.billed_parent_id AS "billedParentId",
          i.amount_due_cents::text AS due, i.amount_paid_cents::text AS paid, p.*
        FROM invoices i CROSS JOIN LATERAL (${FamilyMails.payerOf(organizationId, sql`i.student_id`)}) p
        WHERE i.organization_id = ${organizationId} AND i.id = ${id} AND NOT i.person_erased AND i.status = ANY (${SENT}) AND i.snapshot IS NOT NULL`,
    );
    if (!found?.email || normalizeEmail(found.email) !== normalizeEmail(recipient)) return null;
    if (found.billedParentId !== found.parentId) return null;
    const { status, number, currency, dueOn, overdue, snapshot, due, paid } = found;
    const { id: payerId, parentId, firstName, email, spared } = found;
    const sums = { dueCents: BigInt(due), paidCents: BigInt(paid) };
    const payer = { id: payerId, parentId, firstName, email, spared };
    return { status, payer, number, currency, dueOn, overdue, snapshot, ...sums };
  }
}
