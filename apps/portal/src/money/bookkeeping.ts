import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { type AuditDetails, AuditLog, type Operation } from '@app/audit';
import { Invoices, Payments, type Received, type WrittenLine } from '@app/billing';
import { Database } from '@app/database';
import { requireManager } from '@app/people';
import type { Managed } from '../web/access.decorators.js';

type By = Pick<Managed, 'organizationId' | 'by'>;

/**
 * What managers do about invoices and payments: each in one transaction with its audit row. A form counts once, however often
 * a browser sends it: all methods return false if it had been sent before.
 */
@Injectable()
export class Bookkeeping {
  constructor(
    private readonly db: Database,
    private readonly invoices: Invoices,
    private readonly payments: Payments,
    private readonly audit: AuditLog,
  ) {}

  finalize(by: By, formToken: string, id: string, dueDate: string | null): Promise<boolean> {
    return this.once(by, formToken, 'issue_invoice', async () => {
      await this.invoices.finalize(by.organizationId, id, dueDate);
      return { invoice_id: id };
    });
  }

  void(by: By, formToken: string, id: string, rebill: boolean): Promise<boolean> {
    return this.once(by, formToken, 'void_invoice', async () => {
      await this.invoices.void(by.organizationId, id, rebill);
      return { invoice_id: id, rebill };
    });
  }

  addLine(by: By, formToken: string, id: string, line: WrittenLine): Promise<boolean> {
    return this.once(by, formToken, 'add_invoice_line', async () => {
      await this.invoices.addLine(by.organizationId, id, line);
      return { invoice_id: id };
    });
  }

  removeLine(by: By, formToken: string, id: string, lineId: string): Promise<boolean> {
    return this.once(by, `${formToken} ${lineId}`, 'remove_invoice_line', async () => {
      await this.invoices.removeLine(by.organizationId, id, lineId);
      return { invoice_id: id, line_id: lineId };
    });
  }

  record(by: By, formToken: string, received: Received): Promise<boolean> {
    return this.once(by, formToken, 'record_payment', async () => {
      const id = await this.payments.record(by.organizationId, received);
      return { payment_id: id, ...(received.invoiceId !== null && { invoice_id: received.invoiceId }) };
    });
  }

  refund(by: By, formToken: string, id: string, cents: number): Promise<boolean> {
    return this.once(by, formToken, 'refund_payment', async () => {
      await this.payments.refund(by.organizationId, id, cents);
      return { payment_id: id, refunded_cents: cents };
    });
  }

  /** Of two that are sent at once, the second waits here for the first. What is refused may be sent again. */
  private once(
    { organizationId, by }: By,
    key: string,
    operation: Operation,
    work: () => Promise<AuditDetails>,
  ): Promise<boolean> {
    return this.db.transaction({ organizationId }, async () => {
      await requireManager(this.db, organizationId, by);
      const hash = createHash('sha256').update(key).digest();
      const [first] = await this.db.query(sql`
        INSERT INTO idempotency_keys (organization_id, operation, key, request_hash, expires_at)
        VALUES (${organizationId}, ${operation}, ${key}, ${hash}, now() + interval '1 day')
        ON CONFLICT DO NOTHING RETURNING true AS first`);
      if (!first) return false;
      await this.audit.add(organizationId, by, operation, await work());
      return true;
    });
  }
}
