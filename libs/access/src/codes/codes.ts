import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import type { Actor, Done } from '@app/audit';
import { Database, type Tables } from '@app/database';
import { Invitations, Invites, InviteTargets, Logins, type PermanentCode } from '@app/people';
import { Refused } from '@app/rules';
import type { ActorIds } from '../membership/membership-notices.js';

interface Stored extends Pick<Tables['invites'], 'scope' | 'role'> {
  targetId: string;
  subjectId: string | null;
  standing: boolean;
  /** Replaced, or revoked for good. */
  closed: boolean;
  /** Switched off. */
  off: boolean;
}

/** A code's successor, whose secret is shown once unless it is a code that is kept. */
export interface ReplacedCode {
  id: string;
  secret: string;
}

const GONE = 'What this code was for no longer exists, so it cannot be replaced.';
const SUCCEEDED = 'This code has been replaced already.';

/** The codes and links of an organization that anybody can use, in the ambient transaction. */
@Injectable()
export class Codes {
  constructor(
    private readonly db: Database,
    private readonly logins: Logins,
    private readonly invites: Invites,
    private readonly invitations: Invitations,
    private readonly targets: InviteTargets,
  ) {}

  /** Replaces the permanent codes. Those that are switched off stay so. */
  async replacePermanent(organizationId: string, by: ActorIds): Promise<PermanentCode[]> {
    await this.logins.lockOrganization(organizationId);
    return this.invites.replacePermanentCodes(organizationId, by.userId);
  }

  /**
   * Replaces a code: the old one stops working at once. This also turns on one that was switched off or has expired.
   *
   * @throws Refused for an unknown code, and for one that has a successor or whose target is gone
   */
  async replace(organizationId: string, by: Actor, id: string): Promise<Done & { answer: ReplacedCode }> {
    const code = await this.lock(organizationId, id);
    if (code.closed) throw Refused.conflict('code_replaced', SUCCEEDED);
    if (!(await this.targets.has(organizationId, code.scope, code.targetId)))
      throw Refused.conflict('target_gone', GONE);
    await this.db.query(sql`
      UPDATE invites SET revoked_at = coalesce(revoked_at, now()), switched_off = false
      WHERE organization_id = ${organizationId} AND id = ${id}`);
    const answer = await this.make(organizationId, by, code);
    return { audit: { invite_id: answer.id, replaces: id }, answer };
  }

  /**
   * Nobody joins by the code any more, until it is replaced.
   *
   * @returns false if it was off
   * @throws Refused for an unknown code, and for one that has a successor
   */
  async switchOff(organizationId: string, id: string): Promise<boolean> {
    const code = await this.lock(organizationId, id);
    if (code.closed) throw Refused.conflict('code_replaced', SUCCEEDED);
    if (!code.off) await this.invitations.end(organizationId, id, true);
    return !code.off;
  }

  private async make(organizationId: string, { userId, apiKeyId }: Actor, code: Stored): Promise<ReplacedCode> {
    const { scope, role, targetId, subjectId } = code;
    if (code.standing) {
      const made = await this.invites.addPermanentCodes(organizationId, userId);
      const standing = made.find((one) => one.role === role)!;
      return { id: standing.id, secret: standing.code };
    }
    const who = { createdBy: userId, apiKeyId: apiKeyId ?? null };
    const wanted = { scope, role, targetId, subjectId, code: scope !== 'tutor_student', ...who };
    const [minted] = await this.invites.mint(organizationId, [wanted]);
    return { id: minted!.id, secret: minted!.secret };
  }

  private async lock(organizationId: string, id: string): Promise<Stored> {
    const [code] = await this.db.query<Stored>(sql`
      SELECT scope, role, target_id AS "targetId", subject_id AS "subjectId", standing,
        revoked_at IS NOT NULL AND NOT switched_off AS closed, switched_off AS off FROM invites
      WHERE organization_id = ${organizationId} AND id = ${id} AND email IS NULL FOR NO KEY UPDATE`);
    if (!code) throw Refused.notFound();
    return code;
  }
}
