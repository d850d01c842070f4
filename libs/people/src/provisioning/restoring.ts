import { Injectable } from '@nestjs/common';
import sql, { raw } from 'sql-template-tag';
import { Database, RetryTransaction, type Tables } from '@app/database';
import { Refused } from '@app/rules';
import { visibleColumns } from '../visible-person.js';
import { AccountMails } from './account-mails.js';
import { Logins, PAUSE_BETWEEN_MAILS } from './logins.js';
import { Memberships } from './memberships.js';
import type { Provisioner } from './people.js';

interface Gone {
  role: 'tutor' | 'student' | 'parent' | 'owner' | 'admin';
  status: Tables['members']['status'];
  returns: 'accepted' | 'pending';
  lately: boolean;
  first_name: string;
  last_name: string;
  email: string | null;
  phone: string | null;
}

/** Which rows, by what they are called in the routes. */
const KINDS = {
  student: { table: 'members', where: sql`m.role = 'student'` },
  staff: { table: 'members', where: sql`m.role <> 'student'` },
  parent: { table: 'parents', where: sql`true` },
};

/** Takes people back who have left. */
@Injectable()
export class Restoring {
  constructor(
    private readonly db: Database,
    private readonly logins: Logins,
    private readonly memberships: Memberships,
    private readonly mails: AccountMails,
  ) {}

  /**
   * Takes somebody back inside the ambient transaction, as adding them again does: `pending` until they accept if they have
   * used their login, and mailed then. Nothing else comes back: neither links to children nor places, relations or codes.
   *
   * @returns whether that changed anything, and whether a mail was queued
   * @throws Refused for nobody of this kind, and for an owner or admin
   */
  async restore(by: Provisioner, id: string, as: keyof typeof KINDS): Promise<{ changed: boolean; invited: boolean }> {
    const { organizationId } = by;
    const { table, where } = KINDS[as];
    const [role, invitedAt] =
      as === 'parent' ? [sql`'parent'`, sql`NULL::timestamptz`] : [sql`m.role`, sql`m.invited_at`];
    await this.logins.lockPerson(organizationId, id);
    const [person] = await this.db.query<Gone>(sql`
      SELECT ${role} AS role, m.status, ${visibleColumns('m', ['first_name', 'last_name', 'email', 'phone'])},
        CASE WHEN m.frozen_at IS NULL OR must_accept(m.user_id) THEN 'pending' ELSE 'accepted' END AS returns,
        coalesce(${invitedAt} > now() - ${PAUSE_BETWEEN_MAILS}::interval, false) AS lately
      FROM ${raw(table)} m LEFT JOIN users u ON u.id = m.user_id
      WHERE m.organization_id = ${organizationId} AND m.user_id = ${id} AND ${where}`);
    if (!person) throw Refused.notFound();
    if (person.role === 'owner' || person.role === 'admin') {
      throw Refused.conflict('is_manager', 'Owners and admins are brought back in the portal.');
    }
    if (person.status !== 'archived') return { changed: false, invited: false };
    const { email, first_name: firstName, last_name: lastName, phone } = person;
    const tie = { id, status: person.returns, person: { firstName, lastName, email, phone } };
    const admit = await this.mails.admission(by, email === null ? [] : [email]);
    const wanted =
      person.role === 'parent' || email === null || person.lately
        ? []
        : [{ kind: 'membership_invite', role: person.role, id, to: email, firstName } as const];
    const mails = admit(wanted);
    const written = await this.memberships.write(
      organizationId,
      {
        ...{ members: [], reminded: [], profiles: [], links: [] },
        returning: as === 'parent' ? [] : [tie],
        parents: new Map(as === 'parent' ? [[id, tie]] : []),
      },
      new Set(mails.map((mail) => mail.id)),
    );
    if (!written) throw new RetryTransaction();
    await this.mails.queueAdmitted(by, mails);
    return { changed: true, invited: mails.length > 0 };
  }
}
