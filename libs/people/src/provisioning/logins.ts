import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, normalizeEmail, type Tables } from '@app/database';
import { placeholderOf } from '../email.js';
import { asManager } from '../staff.js';
import type { Person } from './people.js';

/** What an organization may know of an existing login: only its own memberships. */
export interface Login {
  id: string;
  member: {
    role: Tables['members']['role'];
    status: Tables['members']['status'];
    /** Whether the person was mailed within the last day. */
    mailedLately: boolean;
    /** Whether they left, with a login that only this organization made and nobody has used: it may take them back. */
    mayReturn: boolean;
  } | null;
  parent: { status: Tables['parents']['status']; mayReturn: boolean } | null;
}

/** A login to create. */
export interface NewLogin extends Person {
  id: string;
}

/** A pending person is not mailed again within this time. */
export const PAUSE_BETWEEN_MAILS = '24 hours';

/** Half of the 64 locks for which PostgreSQL has room for each transaction, if all take as many. */
const MOST_ADDRESSES = 32;

/** What an organization may know of the platform's logins. */
@Injectable()
export class Logins {
  constructor(private readonly db: Database) {}

  /**
   * Locks these (normalized) addresses, and for many the whole organization, for whoever adds people: others add other people meanwhile, and
   * nobody ends or changes any.
   */
  async lockAddresses(organizationId: string, addresses: string[]): Promise<void> {
    if (addresses.length > MOST_ADDRESSES) return this.lockOrganization(organizationId);
    const names = [...addresses].sort().map((address) => `address ${address} in ${organizationId}`);
    await this.db.lockBeside(provisioningOf(organizationId), ...names);
  }

  /**
   * Locks provisioning in this organization, so that decisions stay valid. Whoever locks rows of people and then mails them takes this first:
   * a waiting transaction has locked nothing that others wait for.
   */
  lockOrganization(organizationId: string): Promise<void> {
    return this.db.lock(provisioningOf(organizationId));
  }

  /** Locks somebody who is changed alone, with the organization's provisioning. */
  async lockPerson(organizationId: string, id: string): Promise<void> {
    await this.lockOrganization(organizationId);
    await this.db.lockPeople(organizationId, [], [id]);
  }

  /** What an owner or admin does about people: {@link asManager}, with the organization locked. */
  managingPeople<T>(organizationId: string, by: { userId: string | null }, work: () => Promise<T>): Promise<T> {
    return asManager(this.db, organizationId, by, work, () => this.lockOrganization(organizationId));
  }

  /** The logins with these (normalized) addresses, by address. */
  async find(organizationId: string, addresses: string[]): Promise<Map<string, Login>> {
    const rows = await this.db.query<Login & { email: string }>(sql`
      SELECT l.email, l.id, CASE WHEN m.role IS NOT NULL THEN json_build_object('role', m.role, 'status', m.status,
          'mailedLately', coalesce(m.invited_at > now() - ${PAUSE_BETWEEN_MAILS}::interval, false),
          'mayReturn', m.frozen_at IS NOT NULL AND NOT must_accept(l.id)) END AS member,
        CASE WHEN p.status IS NOT NULL THEN json_build_object('status', p.status,
          'mayReturn', p.frozen_at IS NOT NULL AND NOT must_accept(l.id)) END AS parent
      FROM logins_by_email(${addresses}) l
      LEFT JOIN members m ON m.organization_id = ${organizationId} AND m.user_id = l.id
      LEFT JOIN parents p ON p.organization_id = ${organizationId} AND p.user_id = l.id`);
    return new Map(rows.map(({ email, ...login }) => [email, login]));
  }

  /** Whether these logins still have these addresses. Asked after their memberships are written, from when on they cannot change. */
  async have(addresses: { id: string; address: string }[]): Promise<boolean> {
    if (addresses.length === 0) return true;
    const moved = await this.db.query(sql`
      SELECT FROM json_to_recordset(${JSON.stringify(addresses)}::json) AS r (id uuid, address text)
      WHERE NOT EXISTS (SELECT FROM logins_by_email(ARRAY[r.address]) l WHERE l.id = r.id)`);
    return moved.length === 0;
  }

  /**
   * Creates logins in the order of their addresses, so that transactions with common ones cannot deadlock.
   * @returns false when another transaction has just created one of the logins
   */
  async add(logins: NewLogin[]): Promise<boolean> {
    const rows = logins.map(({ id, firstName, lastName, email, phone }) => ({
      id,
      email: email ?? placeholderOf(id),
      normalized: normalizeEmail(email ?? placeholderOf(id)),
      placeholder: email === null,
      first_name: firstName,
      last_name: lastName,
      phone,
    }));
    // Counted: RETURNING would need rows to be visible, which row-level security denies before they are members.
    const added = await this.db.count(sql`
      INSERT INTO users (id, email, email_normalized, placeholder_email, first_name, last_name, phone)
      SELECT id, email, normalized, placeholder, first_name, last_name, phone
      FROM json_to_recordset(${JSON.stringify(rows)}::json) AS r (id uuid, email text, normalized text,
        placeholder boolean, first_name text, last_name text, phone text)
      ORDER BY normalized
      ON CONFLICT DO NOTHING`);
    return added === logins.length;
  }
}

const provisioningOf = (organizationId: string): string => `provisioning of ${organizationId}`;
