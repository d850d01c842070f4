import { Injectable } from '@nestjs/common';
import sql, { empty, type Sql } from 'sql-template-tag';
import { behind, Database, normalizeEmail, type Page, pageOf, type Position, VALUES } from '@app/database';

export const OUTBOX_STATUSES = VALUES.outbox.status;

export type OutboxStatus = (typeof OUTBOX_STATUSES)[number];

/** The states of a mail: only deliveries of webhooks are held. */
export const MAIL_STATUSES = OUTBOX_STATUSES.filter((status) => status !== 'held');

export type MailStatus = (typeof MAIL_STATUSES)[number];

/** A mail of the outbox as its organization sees it: without the content, which contains links. */
export interface OutboxMail {
  id: string;
  kind: string;
  recipient: string;
  /** How many further notices it takes in. */
  gathered: number;
  status: MailStatus;
  attempts: number;
  /** A code; {@link inWords} has its words. */
  problem: string | null;
  createdAt: Date;
  /** When it is sent or retried next. */
  dueAt: Date;
  finishedAt: Date | null;
}

/** A page by part of an address is found among so many mails at most, and the next page among those after them. */
const MOST_SEARCHED = 5_000;

/** Which mails are listed. */
export interface WantedMails {
  kinds: string[];
  status: MailStatus | null;
  /** Part of the recipient's address; empty for all. */
  to: string;
  after: Position | null;
  most: number;
}

/** An address to which no mail is sent. */
export interface SuppressedAddress {
  address: string;
  /** When the organization's own mail was first refused; null if that happened to others only. */
  refusedAt: Date | null;
  /** Null for one that others' mail has proven. */
  until: Date | null;
}

/** The state of an organization's mails, and the actions on them. An organization sees and lifts the suppressions that hold back its own mail. */
@Injectable()
export class OutboxMessages {
  constructor(private readonly db: Database) {}

  /** Mails of these kinds, newest first. */
  async mails(organizationId: string, { kinds, status, to, after, most }: WantedMails): Promise<Page<OutboxMail>> {
    const ofStatus: Sql = status === null ? empty : sql`AND status = ${status}`;
    const listed = sql`FROM outbox WHERE organization_id = ${organizationId} AND topic = 'email'
      AND kind = ANY (${kinds}) ${ofStatus}${behind(after)} ORDER BY created_at DESC, id DESC`;
    const columns = sql`id, kind, recipient, gathered_count AS gathered, status, attempts, last_error AS problem,
      created_at AS "createdAt", due_at AS "dueAt", finished_at AS "finishedAt"`;
    if (to === '') {
      const [rows] = await this.db.read<[OutboxMail]>(
        { organizationId },
        sql`SELECT ${columns} ${listed} LIMIT ${most + 1}`,
      );
      return pageOf(rows, most, 'createdAt');
    }
    // Row-level security lets no index help with parts of addresses.
    const [rows, [last]] = await this.db.read<[OutboxMail, { at: Date; id: string }]>(
      { organizationId },
      sql`SELECT * FROM (SELECT ${columns}, email_normalized ${listed} LIMIT ${MOST_SEARCHED}) searched
        WHERE strpos(email_normalized, ${normalizeEmail(to)}) > 0 ORDER BY "createdAt" DESC, id DESC LIMIT ${most + 1}`,
      sql`SELECT created_at AS at, id ${listed} OFFSET ${MOST_SEARCHED - 1} LIMIT 1`,
    );
    const page = pageOf(rows, most, 'createdAt');
    return { ...page, next: page.next ?? last ?? null };
  }

  /** Queues a failed or dead message again. @returns false for one of another organization, or in another state */
  async retry(id: string): Promise<boolean> {
    const [row] = await this.db.query<{ queued: boolean }>(sql`SELECT retry_own_outbox(${id}) AS queued`);
    return row!.queued;
  }

  /** Whether the organization has such a message. */
  async exists(organizationId: string, id: string): Promise<boolean> {
    const [rows] = await this.db.read<[object]>(
      { organizationId },
      sql`SELECT FROM outbox WHERE organization_id = ${organizationId} AND id = ${id}`,
    );
    return rows.length > 0;
  }

  async suppressions(organizationId: string, most: number): Promise<SuppressedAddress[]> {
    const [rows] = await this.db.read<[SuppressedAddress]>(
      { organizationId },
      sql`SELECT address, refused_at AS "refusedAt", suppressed_until AS until FROM own_suppressions() LIMIT ${most}`,
    );
    return rows;
  }

  /** Lifts a suppression inside the ambient transaction. @returns false when the organization cannot see it */
  async allow(address: string): Promise<boolean> {
    const [row] = await this.db.query<{ allowed: boolean }>(sql`SELECT allow_address(${address}) AS allowed`);
    return row!.allowed;
  }
}
