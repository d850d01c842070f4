import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { AuditLog } from '@app/audit';
import { KeyNotices, type ListedKey, maskedKey } from '@app/access';
import { Env } from '@app/config';
import { Database } from '@app/database';
import { Log } from '@app/logging';

/** Keys per query; the next round takes the rest. */
const MOST_KEYS = 200;

interface Expiring {
  id: string;
  organizationId: string;
  /** 14 or 3. */
  days: number;
}

type Warned = Pick<ListedKey, 'name' | 'lastUsedAt'> & Record<'firstFour' | 'lastFour', string> & { expiresAt: Date };

/** Warns owners and admins 14 and 3 days before an API key expires. */
@Injectable()
export class KeyExpiryService {
  constructor(
    private readonly db: Database,
    private readonly env: Env,
    private readonly notices: KeyNotices,
    private readonly audit: AuditLog,
    private readonly log: Log,
  ) {}

  /** Each key has its own transaction, so that a failing one doesn't affect the others. */
  async runOnce(): Promise<void> {
    // Without mail nothing is marked as sent, so the warnings go out once mail is set up.
    if (!this.notices.able) return;
    const due = await this.db.lookUp<Expiring>(sql`
      SELECT id, organization_id AS "organizationId", days FROM expiring_api_keys(${MOST_KEYS})`);
    for (const key of due) {
      try {
        await this.warn(key);
      } catch (error) {
        this.log.failure(error, null, 'key_expiry_not_mailed');
      }
    }
  }

  /** The mark and the mails commit together. Of several workers, only the first one marks a key. */
  private warn({ id, organizationId, days }: Expiring): Promise<void> {
    return this.db.transaction({ organizationId }, async () => {
      const [key] = await this.db.query<Warned>(sql`
        WITH marked AS (
          UPDATE api_keys SET expiry_warned_days = ${days}
          WHERE organization_id = ${organizationId} AND id = ${id} AND revoked_at IS NULL AND expires_at > now()
            AND (expiry_warned_days IS NULL OR expiry_warned_days > ${days})
          RETURNING name, first_four, last_four, expires_at, last_used_at)
        SELECT name, first_four AS "firstFour", last_four AS "lastFour", expires_at AS "expiresAt",
          last_used_at AS "lastUsedAt" FROM marked`);
      if (!key) return;
      await this.notices.tell(organizationId, 'key_expiring', null, {
        name: key.name,
        display: maskedKey(this.env.get('API_KEY_PREFIX'), key),
        expiresAt: key.expiresAt.toISOString(),
        lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
      });
      const by = { userId: null, requestId: `worker-${id}` };
      await this.audit.add(organizationId, by, 'warn of API key expiry', { api_key_id: id, days });
    });
  }
}
