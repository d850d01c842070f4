import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import type { Actor } from '@app/audit';
import { Env } from '@app/config';
import { Database } from '@app/database';
import { type Email, type EmailKind, type EmailPayload, Outbox } from '@app/jobs';

type Role = EmailPayload['role'];

/** Who does something, whatever their request. */
export type Doer = Pick<Actor, 'userId' | 'apiKeyId'>;

interface Manager {
  user_id: string;
  email: string;
  first_name: string;
  last_name: string;
  organization_slug: string;
  organization_name: string;
  time_zone: string;
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

  /**
   * Queues the mails about people who came by a code and were removed together. Those who have proven their address are
   * told, as the others may have entered anybody's; managers get one mail.
   */
  async undone(organizationId: string, by: Doer, userIds: string[], role: Role): Promise<void> {
    if (!this.able || userIds.length === 0) return;
    const proven = await this.db.query<{ id: string }>(sql`
      SELECT u.id FROM users u WHERE u.id = ANY (${userIds}) AND u.email_verified_at IS NOT NULL ORDER BY u.id`);
    for (const { id } of proven)
      await this.tell(organizationId, by, id, role, { person: 'membership_ended', managers: null });
    const managers = await this.managers();
    const [first] = managers;
    if (!first) return;
    const from = { organizationId, organization: { name: first.organization_name, timeZone: first.time_zone } };
    const person = `${userIds.length === 1 ? '1 person' : `${userIds.length} people`} who joined by a code`;
    await this.outbox.addAdmitted(from, this.toManagers(managers, by, 'member_removed', role, person));
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
    const url = `${this.env.portalUrl}/sign-in`;
    const toPerson = { kind: kinds.person, to: person.email ?? '', firstName: person.first_name, role };
    const link = kinds.person === 'role_changed' ? { url } : null;
    const toManagers = kinds.managers
      ? this.toManagers(await this.managers(), by, kinds.managers, role, fullName(person), userId)
      : [];
    const from = { organizationId, organization: { name: person.organization_name, timeZone: person.time_zone } };
    await this.outbox.addAdmitted(from, [...(person.email === null ? [] : [{ ...toPerson, link }]), ...toManagers]);
  }

  private managers(): Promise<Manager[]> {
    return this.db.query<Manager>(sql`SELECT * FROM organization_administrators()`);
  }

  /** A mail to each manager but the one who acts, and the one whom it is about. */
  private toManagers(
    managers: Manager[],
    by: Doer,
    kind: EmailKind,
    role: Role,
    person: string,
    userId: string | null = null,
  ): Email[] {
    const actor = managers.find(({ user_id: id }) => id === by.userId);
    const name = actor ? fullName(actor) : 'An operator of this service';
    const membership = { person, by: userId !== null && by.userId === userId ? null : name };
    return managers
      .filter(({ user_id: id }) => id !== by.userId && id !== userId)
      .map(({ email: to, first_name: firstName, organization_slug: slug }) => {
        const people = { url: `${this.env.portalUrl}/o/${slug}/people` };
        return { kind, to, firstName, role, link: people, membership };
      });
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
