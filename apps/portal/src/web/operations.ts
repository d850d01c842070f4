import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { AuditLog, doneOf, type Exactly, type IdNames, type Result, type Worded } from '@app/audit';
import { Database } from '@app/database';
import { asManager, Logins } from '@app/people';
import type { Managed } from './access.decorators.js';

interface Way {
  /** Its form may be sent twice: the second one changes nothing, or is refused. */
  repeatable?: boolean;
  /** It is about people: the organization is locked, too. */
  people?: boolean;
}

/** What owners and admins do: each in one transaction that locks them, with its audit row. */
@Injectable()
export class Operations {
  constructor(
    private readonly db: Database,
    private readonly logins: Logins,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Performs an operation. Its form counts once, however often a browser sends it: of two that are sent at once, the second
   * waits for the first. A form that was refused may be sent again.
   *
   * @param run the rule: its result is the audit row
   * @returns the rule's result; null if the form had been sent before
   * @throws PageError for a form without a token
   */
  async perform<Of extends Worded, Made extends Result>(
    { organizationId, by, form }: Pick<Managed, 'organizationId' | 'by' | 'form'>,
    operation: Of,
    ids: Record<IdNames<Of>, string>,
    run: () => Promise<Exactly<Made>>,
    { repeatable = false, people = false }: Way = {},
  ): Promise<Made | null> {
    const key = repeatable ? null : [form.token, ...Object.values<string>(ids)].join(' ');
    const work = async () => {
      if (key !== null && !(await this.claim(organizationId, operation, key))) return null;
      const made = await run();
      const { audit, changed = true } = doneOf(made);
      await this.audit.add(organizationId, by, operation, { ...ids, ...audit }, changed ? {} : { result: 'unchanged' });
      return made;
    };
    return people ? this.logins.managingPeople(organizationId, by, work) : asManager(this.db, organizationId, by, work);
  }

  /** @returns false if the key was used before */
  private async claim(organizationId: string, operation: Worded, key: string): Promise<boolean> {
    const hash = createHash('sha256').update(key).digest();
    const claimed = await this.db.query(sql`
      INSERT INTO idempotency_keys (organization_id, operation, key, request_hash, expires_at)
      VALUES (${organizationId}, ${`portal ${operation}`}, ${key}, ${hash}, now() + interval '1 day')
      ON CONFLICT DO NOTHING RETURNING true`);
    return claimed.length > 0;
  }
}
