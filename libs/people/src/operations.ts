import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { type Actor, AuditLog, doneOf, type Exactly, type IdNames, type Result, type Worded } from '@app/audit';
import { Database } from '@app/database';
import { Logins } from './provisioning/logins.js';
import { asManager, asTeacher } from './staff.js';

export interface Performed {
  /** Counts once with this key. Of two at once, the second waits for the first; one that was refused does not count. */
  key?: string | null;
  /** It is about people: the organization is locked, too. */
  people?: boolean;
  /** Whoever acts need not manage the organization: it is about themselves. */
  own?: boolean;
  /** Likewise, but for their teaching: they teach here. */
  teaching?: boolean;
}

/** What people do in the portal, and the operator on the command line: each in one transaction, with its audit row. */
@Injectable()
export class Operations {
  constructor(
    private readonly db: Database,
    private readonly logins: Logins,
    private readonly audit: AuditLog,
  ) {}

  /**
   * @param run the rule: its result is the audit row
   * @returns the rule's result; null if the key was used before
   * @throws Refused for a person who does not manage the organization (any more)
   */
  perform<Of extends Worded, Made extends Result>(
    organizationId: string,
    by: Actor,
    operation: Of,
    ids: Record<IdNames<Of>, string>,
    run: () => Promise<Exactly<Made>>,
    { key = null, people = false, own = false, teaching = false }: Performed = {},
  ): Promise<Made | null> {
    const work = async () => {
      if (key !== null && !(await this.claim(organizationId, operation, key))) return null;
      const made = await run();
      const { audit, changed = true } = doneOf(made);
      await this.audit.add(organizationId, by, operation, { ...ids, ...audit }, changed ? {} : { result: 'unchanged' });
      return made;
    };
    if (own) return this.db.transaction({ organizationId }, work);
    if (teaching) return asTeacher(this.db, organizationId, by, work);
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
