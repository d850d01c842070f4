import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Env } from '@app/config';
import { Database } from '@app/database';
import { type EmailKind, type EmailPayload, type MembershipInMail, Outbox } from '@app/jobs';
import type { Doer } from './membership-notices.js';

type Role = EmailPayload['role'];

interface Manager {
  user_id: string;
  email: string;
  first_name: string;
  last_name: string;
  organization_name: string;
  organization_slug: string;
  time_zone: string;
  role: 'owner' | 'admin';
}

/** Somebody in a mail. */
export interface Named {
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

/** Mails to owners and admins about who comes to manage, and who does not want to come. */
@Injectable()
export class ManagerNotices {
  constructor(
    private readonly db: Database,
    private readonly env: Env,
    private readonly outbox: Outbox,
  ) {}

  /** Somebody is an owner or admin now. Also mailed to whoever did it: their session could be somebody else's. */
  async added(organizationId: string, by: Doer, userId: string, role: Role): Promise<void> {
    const managers = await this.managers();
    const person = managers.find((one) => one.user_id === userId);
    const actor = managers.find((one) => one.user_id === by.userId && by.userId !== userId);
    await this.tell(
      organizationId,
      managers.filter((one) => one !== person),
      'manager_added',
      role,
      { person: person ? nameOf(person) : '', by: actor ? nameOf(actor) : null },
      'people',
    );
  }

  /** An API key's invite has been accepted, and an owner has to approve. */
  async waits(organizationId: string, { firstName, lastName }: Named, role: Role): Promise<void> {
    const owners = (await this.managers()).filter((one) => one.role === 'owner');
    const membership = { person: `${firstName} ${lastName}`, by: null };
    await this.tell(organizationId, owners, 'manager_waits', role, membership, 'people?status=waiting');
  }

  /** Somebody declined an invite. */
  async declined(organizationId: string, { role, person, email, target, notMine }: DeclinedInMail): Promise<void> {
    const managers = await this.managers();
    const membership = { person: person ?? '', by: null, email, target, notMine };
    await this.tell(organizationId, managers, 'invite_declined', role, membership, 'people/invites');
  }

  private async managers(): Promise<Manager[]> {
    // The worker could not decrypt the mails of a command on a machine without the encryption key.
    if (!this.outbox.sendsMail || this.env.get('ENCRYPTION_KEY') === null) return [];
    return this.db.query<Manager>(sql`SELECT * FROM organization_administrators()`);
  }

  /** Never held back: whoever could add a manager could also provoke another notice first. */
  private async tell(
    organizationId: string,
    managers: Manager[],
    kind: EmailKind,
    role: Role,
    membership: MembershipInMail,
    page: string,
  ): Promise<void> {
    const [first] = managers;
    if (!first) return;
    const from = { organizationId, organization: { name: first.organization_name, timeZone: first.time_zone } };
    const link = { url: `${this.env.portalUrl}/o/${first.organization_slug}/${page}` };
    const mails = managers.map(({ email: to, first_name: firstName }) => ({
      kind,
      to,
      firstName,
      role,
      link,
      membership,
    }));
    await this.outbox.addAdmitted(from, mails);
  }
}

const nameOf = ({ first_name, last_name }: Manager) => `${first_name} ${last_name}`;
