import { Injectable } from '@nestjs/common';
import sql, { raw, type Sql } from 'sql-template-tag';
import { Database, normalizeEmail, visiblePerson } from '@app/database';
import type { FamilyKind, FamilyMail } from '@app/jobs';
import { FamilyMails, leadsNowhere } from '@app/people';
import type { Choice } from './mail-choices.js';

/** Somebody who is mailed news, as the organization is shown them. */
export interface Recipient {
  id: string;
  firstName: string | null;
  email: string;
  proven: boolean;
}

/** A mail to somebody. */
interface Wanted extends Pick<FamilyMail, 'aboutId' | 'notBefore' | 'orNever'> {
  id: string;
}

/** Whom an organization mails by itself: people who belong, at addresses that want it. */
@Injectable()
export class FamilyPeople {
  constructor(
    private readonly db: Database,
    private readonly mails: FamilyMails,
  ) {}

  /** Those of them who are mailed such news, in the ambient transaction: not who has left, has switched it off, or has no address that works. */
  async find(organizationId: string, ids: string[], choice: Choice): Promise<Recipient[]> {
    if (ids.length === 0 || !this.mails.able) return [];
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

  /** Queues these mails in the ambient transaction. @returns whom they reach */
  async mail(organizationId: string, kind: FamilyKind, choice: Choice, wanted: Wanted[]): Promise<Set<string>> {
    const ids = [...new Set(wanted.map(({ id }) => id))];
    const reached = new Map((await this.find(organizationId, ids, choice)).map((person) => [person.id, person]));
    const mails = wanted.flatMap(({ id, ...mail }) => {
      const person = reached.get(id);
      return person ? [{ ...mail, kind, to: person.email, proven: person.proven }] : [];
    });
    await this.mails.queue(organizationId, mails);
    return new Set(reached.keys());
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

  /** Whether another mail of the kind to this person is being sent. */
  async isBeingMailed(organizationId: string, kind: FamilyKind, id: string, other: string): Promise<boolean> {
    const [rows] = await this.db.read<[object]>(
      { organizationId },
      sql`SELECT FROM outbox WHERE organization_id = ${organizationId} AND about_id = ${id} AND kind = ${kind} AND id <> ${other} AND leased_until > now()`,
    );
    return rows.length > 0;
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
}

const waitFor = (organizationId: string, kind: FamilyKind, ids: string[]): Sql =>
  sql`organization_id = ${organizationId} AND about_id = ANY (${ids}::uuid[]) AND kind = ${kind} AND status IN ('queued', 'failed') AND leased_until IS NULL`;
