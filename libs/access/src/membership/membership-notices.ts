import { Injectable } from '@nestjs/common';
import sql, { raw } from 'sql-template-tag';
import type { Actor } from '@app/audit';
import { Env } from '@app/config';
import { Database } from '@app/database';
import { type EmailKind, type EmailLink, type EmailPayload, Outbox } from '@app/jobs';
import { visibleColumns, ManagerNotices } from '@app/people';

type Role = EmailPayload['role'];

/** Who does something, whatever their request. */
export type ActorIds = Pick<Actor, 'userId' | 'apiKeyId'>;

/** Somebody in a mail. */
interface Named {
  firstName: string;
  lastName: string;
}

/** An invite that somebody declined, as a mail describes it. */
export interface DeclinedInMail {
  role: Role;
  /** Who declined; null if only the address is known. */
  person: string | null;
  email: string | null;
  /** What it was for, such as a child's name. */
  target: string | null;
  /** A parent says that it is not their child. */
  notMine: boolean;
}

interface InDatabase {
  email: string | null;
  first_name: string;
  last_name: string;
  organization_name: string;
  time_zone: string;
}

/** Mails about who comes and goes: to the person, and to the owners and admins. */
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
  async ended(organizationId: string, by: ActorIds, userId: string, role: Role): Promise<void> {
    const person = await this.tell(organizationId, 'membership_ended', userId, role, null);
    if (!person || by.apiKeyId) return;
    await this.managers.tell(organizationId, {
      kind: 'member_removed',
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

  /** Queues the mails that somebody is to be erased: to the person, who can object, and to the owners. */
  async erasureAsked(organizationId: string, by: ActorIds, userId: string, role: Role): Promise<void> {
    await this.tell(organizationId, 'erasure_coming', userId, role, null);
    const person = await this.seen(organizationId, userId, role);
    await this.managers.tell(organizationId, {
      kind: 'erasure_asked',
      page: `/people/${userId}/erase`,
      role,
      owners: true,
      about: (nameOf) => ({
        membership: { person: person ? `${person.first_name} ${person.last_name}` : '', by: nameOf(by.userId) },
      }),
    });
  }

  /** Somebody deletes their account: the owners can look at what is ahead of them, and hold what they have to keep. */
  async accountDeletion(organizationId: string, userId: string, role: Role): Promise<void> {
    const person = await this.seen(organizationId, userId, role);
    if (!person) return;
    await this.managers.tell(organizationId, {
      ...{ kind: 'account_deletion_asked', page: `/people/${userId}/erase`, role, owners: true, except: [userId] },
      about: () => ({ membership: { person: `${person.first_name} ${person.last_name}`, by: null } }),
    });
  }

  /** The owners are to decide about what a key asks for; the person is told nothing yet. */
  async erasureWanted(organizationId: string, by: ActorIds, userId: string, role: Role): Promise<void> {
    const [key] = await this.db.query<{ name: string }>(
      sql`SELECT name FROM api_keys WHERE organization_id = ${organizationId} AND id = ${by.apiKeyId}`,
    );
    const person = await this.seen(organizationId, userId, role);
    await this.managers.tell(organizationId, {
      ...{ kind: 'erasure_wanted', page: `/people/${userId}/erase`, role, owners: true },
      about: () => ({
        membership: { person: person ? `${person.first_name} ${person.last_name}` : '', by: key!.name },
      }),
    });
  }

  /**
   * Queues the mails about people who came by a code and were removed together. Those who have proven their address are
   * told, as the others may have entered anybody's; managers get one mail.
   */
  async undone(
    organizationId: string,
    by: ActorIds,
    people: { id: string; proven: boolean }[],
    role: Role,
  ): Promise<void> {
    if (!this.managers.able || people.length === 0) return;
    for (const { id, proven } of people)
      if (proven) await this.tell(organizationId, 'membership_ended', id, role, null);
    const person = people.length === 1 ? '1 person' : `${people.length.toLocaleString('en-AU')} people`;
    await this.managers.tell(organizationId, {
      kind: 'joins_undone',
      page: '/people',
      role,
      except: [by.userId],
      about: (nameOf) => ({ membership: { person, by: nameOf(by.userId) ?? 'An operator of this service' } }),
    });
  }

  /** Queues the mails about another role: to the person, and to the managers if there is a new one. */
  async roleChanged(organizationId: string, by: ActorIds, userId: string, role: Role): Promise<void> {
    await this.tell(organizationId, 'role_changed', userId, role, { url: `${this.env.portalUrl}/sign-in` });
    if (role === 'owner' || role === 'admin') await this.managerAdded(organizationId, by, userId, role);
  }

  /** Somebody is an owner or admin now. Also mailed to whoever did it: their session could be somebody else's. */
  async managerAdded(organizationId: string, by: ActorIds, userId: string, role: Role): Promise<void> {
    await this.managers.tell(organizationId, {
      kind: 'manager_added',
      page: '/people',
      role,
      except: [userId],
      about: (nameOf) => ({
        membership: { person: nameOf(userId) ?? '', by: by.userId === userId ? null : nameOf(by.userId) },
      }),
    });
  }

  /** An API key's invite to manage has been accepted, and an owner has to approve. */
  async managerWaits(organizationId: string, person: Named, role: Role): Promise<void> {
    const membership = { person: `${person.firstName} ${person.lastName}`, by: null };
    const page = '/people?status=waiting';
    await this.managers.tell(organizationId, {
      kind: 'manager_waits',
      page,
      role,
      owners: true,
      about: () => ({ membership }),
    });
  }

  /** Somebody declined an invite. */
  async declined(organizationId: string, { role, person, email, target, notMine }: DeclinedInMail): Promise<void> {
    const membership = { person: person ?? '', by: null, email, target, notMine };
    await this.managers.tell(organizationId, {
      kind: 'invite_declined',
      page: '/people/invites',
      role,
      about: () => ({ membership }),
    });
  }

  /** Mails the person. @returns null if no mail can be sent, or for a login that the organization does not see */
  private async tell(
    organizationId: string,
    kind: EmailKind,
    userId: string,
    role: Role,
    link: EmailLink | null,
  ): Promise<InDatabase | null> {
    if (!this.managers.able) return null;
    const person = await this.seen(organizationId, userId, role);
    if (!person?.email) return person;
    const from = { organizationId, organization: { name: person.organization_name, timeZone: person.time_zone } };
    await this.outbox.addAdmitted(from, [{ kind, to: person.email, firstName: person.first_name, role, link }]);
    return person;
  }

  /** What the organization sees of somebody who has accepted, or had. */
  private async seen(organizationId: string, userId: string, role: Role): Promise<InDatabase | null> {
    const [person = null] = await this.db.query<InDatabase>(sql`
      SELECT ${visibleColumns('t', ['email', 'first_name', 'last_name'])}, o.name AS organization_name, o.time_zone
      FROM ${raw(role === 'parent' ? 'parents' : 'members')} t JOIN organizations o ON o.id = t.organization_id
      LEFT JOIN users u ON u.id = t.user_id
      WHERE t.organization_id = ${organizationId} AND t.user_id = ${userId} AND coalesce(t.accepted_at, t.frozen_at) IS NOT NULL`);
    return person;
  }
}
