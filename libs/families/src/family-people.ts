import { Injectable } from '@nestjs/common';
import sql, { raw, type Sql } from 'sql-template-tag';
import { Database, normalizeEmail, visiblePerson } from '@app/database';
import { type FamilyKind, FamilyOutbox } from '@app/jobs';
import { leadsNowhere, ManagerNotices } from '@app/people';
import type { Choice } from './mail-choices.js';

/** Somebody who is mailed news, as the organization is shown them. */
export interface Recipient {
  id: string;
  firstName: string | null;
  email: string;
  proven: boolean;
}

/** Whom an organization mails by itself: people who belong, at addresses that want it. */
@Injectable()
export class FamilyPeople {
  constructor(
    private readonly db: Database,
    private readonly outbox: FamilyOutbox,
    private readonly managers: ManagerNotices,
  ) {}

  /** Those of them who are mailed such news, in the ambient transaction: not who has left, has switched it off, or has no address that works. */
  async find(organizationId: string, ids: string[], choice: Choice): Promise<Recipient[]> {
    if (ids.length === 0 || !this.outbox.sendsMail) return [];
    const person = (table: 'members' | 'parents'): Sql => {
      const { first_name: firstName, email } = visiblePerson('t');
      return sql`SELECT t.user_id AS id, ${raw(firstName)} AS "firstName", ${raw(email)} AS email FROM ${raw(table)} t LEFT JOIN users u ON u.id = t.user_id
        WHERE t.organization_id = ${organizationId} AND t.user_id = ANY (${ids}::uuid[]) AND t.status = 'accepted'`;
    };
    const people = await this.db.query<Pick<Recipient, 'id' | 'firstName' | 'email' | 'proven'>>(sql`
      SELECT DISTINCT ON (p.id) p.*, reads_mail(p.id) AS proven FROM (${person('members')} UNION ALL ${person('parents')}) p
      WHERE p.email IS NOT NULL ORDER BY p.id`);
    const addresses = people.map(({ email }) => normalizeEmail(email));
    const kept = await this.db.query<{ address: string }>(sql`
      SELECT suppressed_addresses(${addresses}) AS address UNION ALL SELECT address FROM mail_opt_outs
        WHERE organization_id = ${organizationId} AND address = ANY (${addresses}) AND kind = ${choice}`);
    const away = new Set(kept.map(({ address }) => address));
    return people.filter(({ email }) => !leadsNowhere(email) && !away.has(normalizeEmail(email)));
  }

  /**
   * Queues a mail to each of them, due at its time, in the ambient transaction. Owners are told once mails begin to wait for the allowance, or are dropped.
   *
   * @param orNever dropped rather than sent another day @returns whom they reach
   */
  async mail(
    organizationId: string,
    kind: FamilyKind,
    wanted: Map<string, Date>,
    choice: Choice,
    orNever = false,
  ): Promise<Set<string>> {
    const reached = await this.find(organizationId, [...wanted.keys()], choice);
    const waits = [];
    for (const { id, email: to, proven } of reached) {
      const mail = { kind, aboutId: id, to, proven, notBefore: wanted.get(id)!, orNever };
      if (await this.outbox.add(organizationId, mail)) waits.push(id);
    }
    if (waits.length > 0) await this.tellOwners(organizationId);
    return new Set(reached.map(({ id }) => id));
  }

  /** When mails of a kind that wait for these people are due, in the ambient transaction. Those that are being sent are none of them. */
  async waiting(organizationId: string, kind: FamilyKind, ids: string[]): Promise<Map<string, Date>> {
    const rows = await this.db.query<{ id: string; at: Date }>(sql`
      SELECT about_id AS id, min(due_at) AS at FROM outbox WHERE ${waitFor(organizationId, kind, ids)} GROUP BY 1`);
    return new Map(rows.map(({ id, at }) => [id, at]));
  }

  /** Makes what waits for these people due now, as far as the allowance lets it. */
  async hurry(organizationId: string, kind: FamilyKind, ids: string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.db.query(sql`
      UPDATE outbox SET due_at = greatest(now(), family_at) WHERE ${waitFor(organizationId, kind, ids)} AND due_at > greatest(now(), family_at)`);
  }

  /** Whether an earlier mail of the kind to this person is being sent. */
  async isBeingMailed(organizationId: string, kind: FamilyKind, id: string, before: string): Promise<boolean> {
    const [rows] = await this.db.read<[object]>(
      { organizationId },
      sql`SELECT FROM outbox WHERE organization_id = ${organizationId} AND about_id = ${id} AND kind = ${kind} AND id < ${before} AND leased_until > now()`,
    );
    return rows.length > 0;
  }

  /** Queues a reminder of an invoice to whoever pays it, unless they want none, in the ambient transaction. */
  async remind(organizationId: string, payerId: string, invoiceId: string): Promise<void> {
    const [payer] = await this.find(organizationId, [payerId], 'reminders');
    if (!payer) return;
    const mail = { kind: 'invoice_reminder' as const, aboutId: invoiceId, to: payer.email, proven: payer.proven };
    if (await this.outbox.add(organizationId, mail)) await this.tellOwners(organizationId);
  }

  /** Whoever is mailed at this address, in the ambient transaction, with the token of the link in their mails; null if that is not so any more. */
  async at(
    organizationId: string,
    id: string,
    address: string,
    choice: Choice,
  ): Promise<(Recipient & { token: string }) | null> {
    const [recipient] = await this.find(organizationId, [id], choice);
    const normalized = normalizeEmail(address);
    if (!recipient || normalizeEmail(recipient.email) !== normalized) return null;
    const [row] = await this.db.query<{ token: string }>(sql`
      INSERT INTO mail_links AS l (organization_id, address) VALUES (${organizationId}, ${normalized})
      ON CONFLICT (organization_id, address) DO UPDATE SET created_at = l.created_at RETURNING token`);
    return { ...recipient, token: row!.token };
  }

  private tellOwners(organizationId: string): Promise<unknown> {
    return this.managers.tell(organizationId, { kind: 'family_mails_wait', page: '/outbox', owners: true });
  }
}

const waitFor = (organizationId: string, kind: FamilyKind, ids: string[]): Sql =>
  sql`organization_id = ${organizationId} AND about_id = ANY (${ids}::uuid[]) AND kind = ${kind} AND status IN ('queued', 'failed') AND leased_until IS NULL`;
