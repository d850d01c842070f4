import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { TakenBackNotices } from '@app/accounts';
import { type AuditDetails, AuditLog, type Operation } from '@app/audit';
import { type Attended, Completion, Invoices, Payments, type Received, type WrittenLine } from '@app/billing';
import { Database } from '@app/database';
import { asManager } from '@app/people';
import type { Managed } from '../web/access.decorators.js';

type By = Pick<Managed, 'organizationId' | 'by'>;

type Done = Promise<AuditDetails | false>;

/**
 * What managers do about invoices, payments and lessons: each in one transaction with its audit row. A form counts once,
 * however often a browser sends it: all methods return false if it had been sent before, or else what the audit row says.
 */
@Injectable()
export class Bookkeeping {
  constructor(
    private readonly db: Database,
    private readonly invoices: Invoices,
    private readonly payments: Payments,
    private readonly completion: Completion,
    private readonly notices: TakenBackNotices,
    private readonly audit: AuditLog,
  ) {}

  /** Makes a draft beside the one that lessons are added to. */
  draft(
    by: By,
    formToken: string,
    studentId: string,
    lines: readonly WrittenLine[],
  ): Promise<{ invoice_id: string } | false> {
    return this.once(by, formToken, 'draft_invoice', async () => {
      return [{ invoice_id: await this.invoices.create(by.organizationId, studentId, lines) }];
    });
  }

  finalize(by: By, formToken: string, id: string, dueDate: string | null): Done {
    return this.once(by, formToken, 'issue_invoice', async () => {
      return [{ invoice_id: id }, await this.invoices.finalize(by.organizationId, id, dueDate)];
    });
  }

  void(by: By, formToken: string, id: string, rebill: boolean | null): Done {
    return this.once(by, formToken, 'void_invoice', async () => {
      const voided = await this.invoices.void(by.organizationId, id, rebill);
      return [{ invoice_id: id, ...(voided && { rebill: rebill ?? false }) }, voided];
    });
  }

  addLine(by: By, formToken: string, id: string, line: WrittenLine): Done {
    return this.once(by, formToken, 'add_invoice_line', async () => {
      await this.invoices.addLine(by.organizationId, id, line);
      return [{ invoice_id: id }];
    });
  }

  removeLine(by: By, formToken: string, id: string, lineId: string): Done {
    return this.once(by, `${formToken} ${lineId}`, 'remove_invoice_line', async () => {
      await this.invoices.removeLine(by.organizationId, id, lineId);
      return [{ invoice_id: id, line_id: lineId }];
    });
  }

  record(by: By, formToken: string, received: Received): Done {
    return this.once(by, formToken, 'record_payment', async () => {
      const id = await this.payments.record(by.organizationId, received);
      return [{ payment_id: id, ...(received.invoiceId !== null && { invoice_id: received.invoiceId }) }];
    });
  }

  refund(by: By, formToken: string, id: string, cents: number): Done {
    return this.once(by, formToken, 'refund_payment', async () => {
      await this.payments.refund(by.organizationId, id, cents);
      return [{ payment_id: id, refunded_cents: cents }];
    });
  }

  /** Takes back a payment that was entered by mistake. */
  takeBack(by: By, formToken: string, id: string, reason: string): Done {
    return this.once(by, formToken, 'void_payment', async () => {
      const voided = await this.payments.void(by.organizationId, id, reason);
      if (voided) await this.notices.tell(by.organizationId);
      return [{ payment_id: id }, voided];
    });
  }

  complete(by: By, formToken: string, id: string, attended: readonly Attended[]): Done {
    return this.once(by, formToken, 'complete_session', async () => {
      return [{ session_id: id }, await this.completion.complete(by.organizationId, id, attended)];
    });
  }

  reopen(by: By, formToken: string, id: string): Done {
    return this.once(by, formToken, 'reopen_session', async () => {
      return [{ session_id: id }, await this.completion.reopen(by.organizationId, id)];
    });
  }

  /**
   * Of two that are sent at once, the second waits here for the first. What is refused may be sent again.
   *
   * @param work returns what the audit row says, and whether it had not happened before
   */
  private once<Details extends AuditDetails>(
    { organizationId, by }: By,
    key: string,
    operation: Operation,
    work: () => Promise<[details: Details, changed?: boolean]>,
  ): Promise<Details | false> {
    return asManager(this.db, organizationId, by, async () => {
      const hash = createHash('sha256').update(key).digest();
      const [first] = await this.db.query(sql`
        INSERT INTO idempotency_keys (organization_id, operation, key, request_hash, expires_at)
        VALUES (${organizationId}, ${operation}, ${key}, ${hash}, now() + interval '1 day')
        ON CONFLICT DO NOTHING RETURNING true AS first`);
      if (!first) return false;
      const [details, changed = true] = await work();
      await this.audit.add(organizationId, by, operation, details, changed ? {} : { result: 'unchanged' });
      return details;
    });
  }
}
