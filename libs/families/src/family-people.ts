import { Injectable } from '@nestjs/common';
import sql, { raw, type Sql } from 'sql-template-tag';
import { Database, normalizeEmail, visiblePerson } from '@app/database';
import type { FamilyKind, FamilyMail } from '@app/jobs';
import { FamilyMails, leadsNowhere, type Payer } from '@app/people';
import type { Choice } from './mail-choices.js';

/** Somebody who is mailed news, as the organization is shown them. */
export interface Recipient {
  id: string;
  firstName: string | null;
  email: string;
  proven: boolean;
}

type Person = Pick<Payer, 'id' | 'firstName' | 'email'>;

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

  /** Those of them who are told of lessons, in the ambient transaction: not who has left, has switched it off, or has no address that works. */
  async find(organizationId: string, ids: string[]): Promise<Recipient[]> {
    const person = (table: 'members' | 'parents'): Sql => {
      const { first_name: firstName, email } = visiblePerson('t');
      return sql`SELECT t.user_id AS id, ${raw(firstName)} AS "firstName", ${raw(email)} AS email FROM ${raw(table)} t LEFT JOIN users u ON u.id = t.user_id
        WHERE t.organization_id = ${organizationId} AND t.user_id = ANY (${ids}::uuid[]) AND t.status = 'accepted'`;
    };
    const people = await this.db.query<Person>(sql`
      SELECT DISTINCT ON (p.id) p.* FROM (${person('members')} UNION ALL ${person('parents')}) p WHERE p.email IS NOT NULL ORDER BY p.id`);
    return this.reached(organizationId, people, 'lessons');
  }

  /** Those of them who are reminded of invoices, in the ambient transaction: whoever gets the invoice itself, unless the organization spares them, or they want none. */
  payers(organizationId: string, payers: Payer[]): Promise<Recipient[]> {
    return this.reached(organizationId, payers.filter(({ spared }) => !spared), 'reminders'); // prettier-ignore
  }

  private async reached(organizationId: string, people: Person[], choice: Choice): Promise<Recipient[]> {
    const known = people.flatMap(({ id, firstName, email }) => (email === null ? [] : [{ id, firstName, email }]));
    if (known.length === 0 || !this.mails.able) return [];
    const addresses = known.map(({ email }) => normalizeEmail(email));
    const kept = await this.db.query<{ address: string }>(sql`
      SELECT suppressed_addresses(${addresses}) AS address UNION ALL SELECT address FROM mail_opt_outs
        WHERE organization_id = ${organizationId} AND address = ANY (${addresses}) AND kind = ${choice}`);
    const away = new Set(kept.map(({ address }) => address));
    const proofs = await this.db.query<{ id: string }>(sql`
      SELECT id FROM unnest(${known.map(({ id }) => id)}::uuid[]) p (id) WHERE reads_mail(id)`);
    const proven = new Set(proofs.map(({ id }) => id));
    return known
      .filter(({ email }) => !leadsNowhere(email) && !away.has(normalizeEmail(email)))
      .map((person) => ({ ...person, proven: proven.has(person.id) }));
  }

  /** Queues these mails in the ambient transaction, as far as their people are reached. */
  async mail(organizationId: string, kind: FamilyKind, reached: Recipient[], wanted: Wanted[]): Promise<void> {
    const people = new Map(reached.map((person) => [person.id, person]));
    const mails = wanted.flatMap(({ id, ...mail }) => {
      const person = people.get(id);
      return person ? [{ ...mail, kind, to: person.email, proven: person.proven }] : [];
    });
    await this.mails.queue(organizationId, mails);
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

  /** Whoever is mailed, with the token of the link in their mails, in the ambient transaction; null if nobody is any more at this address. */
  async at(
    organizationId: string,
    [recipient]: Recipient[],
    address: string,
  ): Promise<(Recipient & { token: string }) | null> {
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
