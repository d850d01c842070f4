import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import type { Actor } from '@app/audit';
import { Env } from '@app/config';
import { Database } from '@app/database';
import { type EmailKind, type EmailPayload, type NoticeKind, Outbox } from '@app/jobs';
import { ManagerNotices } from '../manager-notices.js';

type Role = EmailPayload['role'];

/** Who does something, whatever their request. */
export type Doer = Pick<Actor, 'userId' | 'apiKeyId'>;

interface Named {
  email: string | null;
  first_name: string;
  last_name: string;
  organization_name: string;
  time_zone: string;
}

/** Mails about changes of membership: to the person, and to the other owners and admins. */
@Injectable()
export class MembershipNotices {
  constructor(
    private readonly db: Database,
    private readonly env: Env,
    private readonly outbox: Outbox,
    private readonly managers: ManagerNotices,
  ) {}

  /**
   * Queues the mails about a membership that has ended, inside the ambient transaction. The person is told that it has,
   * not why; managers are not told of what a key did: one program may remove a whole year's students.
   */
  ended(organizationId: string, by: Doer, userId: string, role: Role): Promise<void> {
    return this.tell(organizationId, by, userId, role, {
      person: 'membership_ended',
      managers: by.apiKeyId ? null : 'member_removed',
    });
  }

  /** Queues the mails about another role: to the person, and to the managers if there is a new one. */
  roleChanged(organizationId: string, by: Doer, userId: string, role: Role): Promise<void> {
    return this.tell(organizationId, by, userId, role, {
      person: 'role_changed',
      managers: role === 'owner' || role === 'admin' ? 'manager_added' : null,
    });
  }

  private async tell(
    organizationId: string,
    by: Doer,
    userId: string,
    role: Role,
    kinds: { person: EmailKind; managers: NoticeKind | null },
  ): Promise<void> {
    if (!this.managers.able) return;
    const person = await this.named(organizationId, userId);
    if (!person) return;
    const from = { organizationId, organization: { name: person.organization_name, timeZone: person.time_zone } };
    const link = kinds.person === 'role_changed' ? { url: `${this.env.portalUrl}/sign-in` } : null;
    const mail = { kind: kinds.person, to: person.email ?? '', firstName: person.first_name, role, link };
    if (person.email !== null) await this.outbox.addAdmitted(from, [mail]);
    if (!kinds.managers) return;
    await this.managers.tell(organizationId, {
      kind: kinds.managers,
      page: '/people',
      role,
      except: [by.userId, userId],
      about: (nameOf) => ({
        membership: {
          person: `${person.first_name} ${person.last_name}`,
          by: by.userId === userId ? null : (nameOf(by.userId) ?? 'An operator of this service'),
        },
      }),
    });
  }

  /** Undefined for a login that the organization does not see. */
  private async named(organizationId: string, userId: string): Promise<Named | undefined> {
    const [row] = await this.db.query<Named>(sql`
      SELECT CASE WHEN NOT u.placeholder_email THEN u.email END AS email, u.first_name, u.last_name,
        o.name AS organization_name, o.time_zone
      FROM users u, organizations o WHERE u.id = ${userId} AND o.id = ${organizationId}`);
    return row;
  }
}
