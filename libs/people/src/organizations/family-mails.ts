import { Injectable } from '@nestjs/common';
import sql, { raw, type Sql } from 'sql-template-tag';
import { Database, normalizeEmail, visiblePerson } from '@app/database';
import { type FamilyKind, type FamilyMail, FamilyOutbox } from '@app/jobs';
import { Refused } from '@app/rules';
import { leadsNowhere } from '../email.js';
import { billingParent } from '../provisioning/payers.js';
import { ManagerNotices } from './manager-notices.js';

/** Whoever pays for a student, as the organization is shown them. */
export interface Payer {
  id: string;
  /** Null of a student who pays for themselves. */
  parentId: string | null;
  firstName: string | null;
  /** Null if there is none that may be used. */
  email: string | null;
  /** They are not reminded of invoices. */
  spared: boolean;
}

/** Mails to those who pay, and to nobody else. */
@Injectable()
export class FamilyMails {
  constructor(
    private readonly db: Database,
    private readonly outbox: FamilyOutbox,
    private readonly managers: ManagerNotices,
  ) {}

  /** Who pays for a student now, as SQL for a read or the ambient transaction; several parents of whom none was chosen are no row. */
  static payerOf(organizationId: string, studentId: Sql): Sql {
    const person = (table: 'members' | 'parents') => personIn(table, organizationId);
    return sql`SELECT p.id, b.id AS "parentId", p."firstName", p.email, p.spared
      FROM members m CROSS JOIN LATERAL (SELECT (${raw(billingParent('m'))}) AS id) b
      CROSS JOIN LATERAL (${person('parents')} AND t.user_id = b.id
        UNION ALL ${person('members')} AND t.user_id = m.user_id AND b.id IS NULL AND (m.bills_self OR NOT EXISTS (
          SELECT FROM parent_students l WHERE l.organization_id = ${organizationId} AND l.student_id = m.user_id))) p
      WHERE m.organization_id = ${organizationId} AND m.user_id = ${studentId}`;
  }

  /** @throws Refused if several parents are linked and none was chosen */
  async payerOf(organizationId: string, studentId: string): Promise<Payer> {
    const [payer] = await this.db.query<Payer>(FamilyMails.payerOf(organizationId, sql`${studentId}`));
    if (payer) return payer;
    throw Refused.conflict('no_payer', 'Several parents are linked with the student. Choose who pays first.');
  }

  /** A parent, as SQL of the same columns. */
  static parentOf(organizationId: string, parentId: Sql): Sql {
    return sql`SELECT p.id, p.id AS "parentId", p."firstName", p.email, p.spared
      FROM (${personIn('parents', organizationId)} AND t.user_id = ${parentId}) p`;
  }

  /** A parent who has paid. */
  async parentOf(organizationId: string, parentId: string): Promise<Payer> {
    const [payer] = await this.db.query<Payer>(FamilyMails.parentOf(organizationId, sql`${parentId}`));
    if (!payer) throw Refused.notFound();
    return payer;
  }

  /** Whether a mail server is configured (`SMTP_URL`). Without one, nothing is queued. */
  get able(): boolean {
    return this.outbox.sendsMail;
  }

  /** Queues these mails in the ambient transaction. Owners are told once mails begin to wait for the allowance, or are dropped. */
  async queue(organizationId: string, mails: FamilyMail[]): Promise<void> {
    let waits = false;
    for (const mail of mails) waits = (await this.outbox.add(organizationId, mail)) || waits;
    if (waits) await this.managers.tell(organizationId, { kind: 'family_mails_wait', page: '/outbox', owners: true });
  }

  /** Queues a mail to somebody, in the ambient transaction. @returns the address @throws Refused if there is none that may be used */
  async send(organizationId: string, kind: FamilyKind, aboutId: string, { id, email }: Payer): Promise<string> {
    if (!this.able) throw Refused.conflict('no_address', 'This installation sends no mail.');
    if (email === null || leadsNowhere(email))
      throw Refused.conflict('no_address', 'No address of whoever pays is known. Add one first.');
    const [found] = await this.db.query<{ suppressed: boolean; proven: boolean }>(sql`
      SELECT EXISTS (SELECT FROM suppressed_addresses(${[normalizeEmail(email)]})) AS suppressed, reads_mail(${id}) AS proven`);
    if (found!.suppressed)
      throw Refused.conflict(
        'no_address',
        'The mail server says that there is no mailbox at the address of whoever pays.',
      );
    await this.queue(organizationId, [{ kind, aboutId, to: email, proven: found!.proven }]);
    return email;
  }
}

/** SQL: people of an organization `t`, as it is shown them. */
function personIn(table: 'members' | 'parents', organizationId: string): Sql {
  const { first_name: firstName, email } = visiblePerson('t');
  return sql`SELECT t.user_id AS id, ${raw(firstName)} AS "firstName",
      -- Whoever has said that they have nothing to do with it is not written to.
      CASE WHEN t.refused_at IS NULL OR t.frozen_at IS NOT NULL OR t.accepted_at IS NOT NULL THEN ${raw(email)} END AS email,
      t.no_reminders AS spared
    FROM ${raw(table)} t LEFT JOIN users u ON u.id = t.user_id WHERE t.organization_id = ${organizationId}`;
}
