import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import type { Actor, Done } from '@app/audit';
import { Logins, type StaffRole } from '@app/people';
import { Refused } from '@app/rules';
import { Managers } from './managers.js';
import { MembershipNotices } from './membership-notices.js';
import { WaysIn } from './ways-in.js';
import { isManager, requireMayChangeRole, type Role } from './who-may.js';

/** Changes the roles of owners, admins and tutors. */
@Injectable()
export class Roles {
  constructor(
    private readonly db: Database,
    private readonly logins: Logins,
    private readonly managers: Managers,
    private readonly waysIn: WaysIn,
    private readonly notices: MembershipNotices,
  ) {}

  /**
   * Gives a member another role, in the ambient transaction, with mails. Somebody who is no longer a manager loses their keys, and
   * the ways in that they know end.
   *
   * @param keepCodes codes that go on working
   * @throws Refused for nobody who has accepted, for whoever may not, and for the last owner who can sign in
   */
  async change(
    organizationId: string,
    by: Actor,
    userId: string,
    role: StaffRole,
    keepCodes: readonly string[] = [],
  ): Promise<Done & { changed: boolean }> {
    await this.logins.lockOrganization(organizationId);
    await this.db.lockPeople(organizationId, [], [userId]);
    const [member] = await this.db.query<{ role: Role }>(sql`
      SELECT role FROM members WHERE organization_id = ${organizationId} AND user_id = ${userId} AND status = 'accepted'`);
    if (!member) throw Refused.notFound();
    requireMayChangeRole(await this.managers.principal(organizationId, by, userId), member.role, role);
    const audit = { from: member.role, to: role };
    if (member.role === role) return { changed: false, audit };
    if (member.role === 'owner') await this.managers.requireAnotherOwner(userId);
    await this.db.query(sql`
      UPDATE members SET role = ${role} WHERE organization_id = ${organizationId} AND user_id = ${userId}`);
    let ended = {};
    if (!isManager(role)) {
      const keys = await this.managers.endKeys(organizationId, userId);
      ended = { keys, ...(await this.waysIn.end(organizationId, by, { userId }, true, keepCodes)) };
    }
    await this.notices.roleChanged(organizationId, by, userId, role);
    return { changed: true, audit: { ...audit, ...ended } };
  }
}
