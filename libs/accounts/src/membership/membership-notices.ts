import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import type { Actor } from '@app/audit';
import { Env } from '@app/config';
import { Database } from '@app/database';
import { type EmailKind, type EmailPayload, Outbox } from '@app/jobs';

type Role = EmailPayload['role'];

/** Who does something, whatever their request. */
export type Doer = Pick<Actor, 'userId' | 'apiKeyId'>;

interface Manager {
  user_id: string;
  email: string;
  first_name: string;
  last_name: string;
  organization_slug: string;
}

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
    kinds: { person: EmailKind; managers: EmailKind | null },
  ): Promise<void> {
    if (!this.able) return;
    const person = await this.named(organizationId, userId);
    if (!person) return;
    const managers = kinds.managers && (await this.db.query<Manager>(sql`SELECT * FROM organization_administrators()`));
    const actor = managers?.find(({ user_id: id }) => id === by.userId);
    const membership = {
      person: fullName(person),
      by: by.userId === userId ? null : actor ? fullName(actor) : 'An operator of this service',
    };
    const url = `${this.env.portalUrl}/sign-in`;
    const toPerson = { kind: kinds.person, to: person.email ?? '', firstName: person.first_name, role };
    const link = kinds.person === 'role_changed' ? { url } : null;
    const toManagers = (managers ?? [])
      // A new owner or admin is also news to whoever made them: their session could be somebody else's.
      .filter(({ user_id: id }) => (id !== by.userId || kinds.managers === 'manager_added') && id !== userId)
      .map(({ email: to, first_name: firstName, organization_slug: slug }) => {
        const people = { url: `${this.env.portalUrl}/o/${slug}/people` };
        return { kind: kinds.managers!, to, firstName, role, link: people, membership };
      });
    const from = { organizationId, organization: { name: person.organization_name, timeZone: person.time_zone } };
    await this.outbox.addAdmitted(from, [...(person.email === null ? [] : [{ ...toPerson, link }]), ...toManagers]);
  }

  /** False for a command on a machine without the encryption key: the worker could not decrypt its mails. */
  private get able(): boolean {
    return this.outbox.sendsMail && this.env.get('ENCRYPTION_KEY') !== null;
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

const fullName = ({ first_name, last_name }: { first_name: string; last_name: string }) => `${first_name} ${last_name}`;
