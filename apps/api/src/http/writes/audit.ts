import { Injectable } from '@nestjs/common';
import { type AuditDetails, AuditLog } from '@app/audit';
import { Database, Deadline } from '@app/database';
import type { Attempt } from '../request/attempt.js';

/** What the row of a write says. */
interface Noted {
  details: AuditDetails;
  result: 'done' | 'unchanged';
}

/** How long recording a refusal may take (ms). If the database is too slow, it is only logged. */
const REFUSAL_PATIENCE = 2_000;

/** One append-only row per write, in the write's own transaction; refused ones are counted, in a separate one. */
@Injectable()
export class Audit {
  /** By transaction. */
  private readonly noted = new WeakMap<object, Noted>();

  constructor(
    private readonly db: Database,
    private readonly log: AuditLog,
  ) {}

  /** Adds details to the current write's row: what was done. @param changed whether anything was, or it had happened before */
  note(details: AuditDetails, changed = true): void {
    const noted = this.noted.get(this.db.unitOfWork);
    if (!noted) throw new Error('Nothing is being written: details are noted inside a write');
    Object.assign(noted.details, details);
    if (!changed) noted.result = 'unchanged';
  }

  /** Runs a write inside the ambient transaction and adds its row. @param keep what else to store, in the same round trip */
  async record<T>(
    attempt: Attempt,
    work: () => Promise<T>,
    statusOf: () => number,
    keep?: (result: T) => Promise<void>,
  ): Promise<T> {
    const noted: Noted = { details: attempt.fields.length > 0 ? { fields: attempt.fields } : {}, result: 'done' };
    this.noted.set(this.db.unitOfWork, noted);
    const result = await work();
    await Promise.all([this.add(attempt, statusOf(), noted.result, noted.details), keep?.(result)]);
    return result;
  }

  /** Limited by the request's deadline if the response waits for it. @param code why it was refused */
  async recordRefusal(attempt: Attempt, status: number, code: string): Promise<void> {
    const left = status < 500 ? (attempt.caller.deadline?.left ?? Infinity) : Infinity;
    const deadline = new Deadline(Math.min(REFUSAL_PATIENCE, left));
    const { caller, operation, requestId, network } = attempt;
    const by = { userId: null, apiKeyId: caller.keyId, requestId, network };
    await this.db.transaction({ ...caller, deadline }, () =>
      this.log.refuse(caller.organizationId, by, operation, { status, result: code }),
    );
  }

  private add(
    { caller, operation, requestId, network }: Attempt,
    status: number,
    result: string,
    details: AuditDetails,
  ) {
    const { organizationId, keyId: apiKeyId } = caller;
    return this.log.add(organizationId, { userId: null, apiKeyId, requestId, network }, operation, details, {
      status,
      result,
    });
  }
}
