import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { Refused } from '@app/rules';
import type { ActorIds } from './membership-notices.js';
import type { Principal, Role } from './who-may.js';

const LAST_OWNER = 'This is the last owner who can sign in. Make somebody else an owner first.';

/** What owners and admins have beyond other members: a say, and keys. */
@Injectable()
export class Managers {
  constructor(private readonly db: Database) {}

  /** Who changes the membership of this person, inside the ambient transaction. */
  async principal(organizationId: string, by: ActorIds, userId: string): Promise<Principal> {
    if (by.userId === null) return { kind: by.apiKeyId ? 'key' : 'operator' };
    const [row] = await this.db.query<{ role: Role }>(sql`
      SELECT role FROM members
      WHERE organization_id = ${organizationId} AND user_id = ${by.userId} AND status = 'accepted'`);
    return { kind: 'person', role: row?.role ?? null, self: by.userId === userId };
  }

  /** @throws Refused unless another owner of the transaction's organization can sign in (`last_owner`) */
  async requireAnotherOwner(userId: string): Promise<void> {
    const [row] = await this.db.query<{ other: boolean }>(sql`SELECT other_owner_signs_in(${userId}) AS other`);
    if (!row!.other) throw Refused.conflict('last_owner', LAST_OWNER);
  }

  /**
   * Keys do not outlive the rights of whoever made them: who needs one replaces it before. Webhook endpoints wait until another owner
   * or admin enables them. @returns how many keys ended
   */
  async endKeys(organizationId: string, userId: string): Promise<number> {
    const revoked = await this.db.query(sql`
      WITH revoked AS (
        UPDATE api_keys SET revoked_at = now()
        WHERE organization_id = ${organizationId} AND created_by = ${userId} AND revoked_at IS NULL
          AND (expires_at IS NULL OR expires_at > now()) RETURNING 1)
      SELECT FROM revoked`);
    await this.db.query(sql`
      UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = 'maker_left', updated_at = now()
      WHERE organization_id = ${organizationId} AND created_by = ${userId} AND disabled_at IS NULL`);
    return revoked.length;
  }
}
