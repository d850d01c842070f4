import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { type Actor, AuditLog, type Done } from '@app/audit';
import { Database, type Tables, type Tenant } from '@app/database';
import { shownName } from '@app/people';
import { Refused } from '@app/rules';
import { MembershipNotices } from '../membership/membership-notices.js';
import { type Closing, Offboarding } from '../membership/offboarding.js';

/** Somebody who belongs to the organization, or waits, only because of a code. */
export interface CameByCode {
  id: string;
  name: string;
  waits: boolean;
  joinedAt: Date;
}

/** How many were removed, and how many are left. */
export type Undone = Record<'removed' | 'left', number>;

/** What a code did since a moment, and undoing it. */
@Injectable()
export class JoinedByCode {
  constructor(
    private readonly db: Database,
    private readonly offboarding: Offboarding,
    private readonly notices: MembershipNotices,
    private readonly audit: AuditLog,
  ) {}

  /** Those whom {@link undo} would remove, and how many they are. @throws Refused for an unknown code */
  async since(tenant: Tenant, inviteId: string, since: Date, shown: number): Promise<[CameByCode[], number]> {
    const { organizationId } = tenant;
    const [codes, people, [{ count } = { count: 0 }]] = await this.db.read<[object, CameByCode, { count: number }]>(
      tenant,
      sql`SELECT FROM invites WHERE organization_id = ${organizationId} AND id = ${inviteId} AND email IS NULL`,
      sql`SELECT t.user_id AS id, ${shownName('t')} AS name, t.approval IS NOT NULL AS waits,
          t.joined_at AS "joinedAt"
        FROM (${onlyBy(organizationId, inviteId, since)} ORDER BY j.joined_at, j.user_id LIMIT ${shown}) t
        LEFT JOIN users u ON u.id = t.user_id ORDER BY t.joined_at, t.user_id`,
      sql`SELECT count(*)::integer AS count FROM (${onlyBy(organizationId, inviteId, since)}) t`,
    );
    if (codes.length === 0) throw Refused.notFound();
    return [people, count];
  }

  /**
   * Removes everybody who came by a code since a moment, in the ambient transaction. Those stay who belonged before, came by
   * another invite as well, were approved, or manage the organization.
   *
   * @param until stops removing further people at this time: each takes 10 to 20 ms
   * @throws Refused for an unknown code
   */
  async undo(
    organizationId: string,
    by: Actor,
    inviteId: string,
    since: Date,
    until = Infinity,
  ): Promise<Done & { answer: Undone }> {
    const [code] = await this.db.query<Pick<Tables['invites'], 'role'>>(sql`
      SELECT role FROM invites WHERE organization_id = ${organizationId} AND id = ${inviteId} AND email IS NULL`);
    if (!code) throw Refused.notFound();
    const people = await this.db.query<{ id: string; proven: boolean }>(sql`
      SELECT t.user_id AS id, u.email_verified_at IS NOT NULL AS proven
      FROM (${onlyBy(organizationId, inviteId, since)}) t LEFT JOIN users u ON u.id = t.user_id ORDER BY t.user_id`);
    const as = code.role === 'student' || code.role === 'parent' ? code.role : 'staff';
    await this.offboarding.lock(
      organizationId,
      people.map(({ id }) => id),
    );
    const removed: typeof people = [];
    const closing: Closing[] = [];
    for (const person of people) {
      if (removed.length > 0 && Date.now() > until) break;
      const { id: userId } = person;
      const { changed: _, ...ended } = await this.offboarding.end(
        organizationId,
        by,
        { userId, as, silently: true },
        closing,
      );
      // Each of them has a row: this acts for several people at once.
      await this.audit.add(organizationId, by, 'end membership', { user_id: userId, invite_id: inviteId, ...ended });
      removed.push(person);
    }
    await this.notices.undone(organizationId, by, removed, code.role);
    await this.offboarding.close(organizationId, closing);
    const answer = { removed: removed.length, left: people.length - removed.length };
    return { audit: { since: since.toISOString(), people: removed.length }, answer };
  }
}

/**
 * People whom a code alone made members or parents: the row of their membership is as old as their joining. Another code
 * by which they came as well speaks for them only while it works: both may have leaked, and be replaced.
 */
function onlyBy(organizationId: string, inviteId: string, since: Date): Sql {
  return sql`
    SELECT j.user_id, j.approval, j.joined_at, t.accepted_at, t.frozen_at, t.supplied_first_name, t.supplied_last_name
    FROM invites i JOIN joins j ON j.organization_id = i.organization_id AND j.invite_id = i.id
    JOIN LATERAL (
      SELECT m.created_at, m.accepted_at, m.frozen_at, m.supplied_first_name, m.supplied_last_name FROM members m
      WHERE i.role <> 'parent' AND m.organization_id = i.organization_id AND m.user_id = j.user_id
        AND m.status <> 'archived' AND m.role = i.role
      UNION ALL SELECT p.created_at, p.accepted_at, p.frozen_at, p.supplied_first_name, p.supplied_last_name FROM parents p
      WHERE i.role = 'parent' AND p.organization_id = i.organization_id AND p.user_id = j.user_id
        AND p.status <> 'archived') t ON t.created_at >= j.joined_at
    WHERE i.organization_id = ${organizationId} AND i.id = ${inviteId} AND j.joined_at >= ${since.toISOString()}::timestamptz
      AND j.approval IS DISTINCT FROM 'approved'
      AND NOT EXISTS (SELECT FROM joins o JOIN invites b ON b.organization_id = o.organization_id AND b.id = o.invite_id
        WHERE o.organization_id = i.organization_id AND o.user_id = j.user_id AND o.invite_id <> i.id
          AND (b.role = 'parent') = (i.role = 'parent')
          AND (b.email IS NOT NULL OR b.revoked_at IS NULL OR o.approval = 'approved'))`;
}
