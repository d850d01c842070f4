import { Injectable } from '@nestjs/common';
import sql, { empty, type Sql } from 'sql-template-tag';
import { Database } from '@app/database';

export const OUTBOX_STATUSES = ['queued', 'sent', 'failed', 'dead', 'suppressed'] as const;

export type OutboxStatus = (typeof OUTBOX_STATUSES)[number];

/** A mail of the outbox, as the organization that it is from sees it: without its content, which holds links. */
export interface OutboxMail {
  id: string;
  kind: string;
  recipient: string;
  status: OutboxStatus;
  attempts: number;
  /** A code; {@link inWords} has its words. */
  problem: string | null;
  createdAt: Date;
  /** When it is tried next. */
  dueAt: Date;
  finishedAt: Date | null;
}

/** Where a page begins: behind this mail. */
export interface Place {
  at: Date;
  id: string;
}

/** An address that nothing is sent to. */
export interface SuppressedAddress {
  address: string;
  reason: string;
  createdAt: Date;
}

/**
 * What became of an organization's mails, and what can be done about it. A suppression holds for all organizations; one is
 * seen, and lifted, only by those whose own mails it refused or held back.
 */
@Injectable()
export class OutboxMessages {
  constructor(private readonly db: Database) {}

  /** Mails of these kinds, newest first; one more than `most` when there are further ones. */
  async mails(
    organizationId: string,
    { kinds, status, after, most }: { kinds: string[]; status: OutboxStatus | null; after: Place | null; most: number },
  ): Promise<OutboxMail[]> {
    const ofStatus: Sql = status === null ? empty : sql`AND status = ${status}`;
    const beyond: Sql =
      after === null ? empty : sql`AND (created_at, id) < (${after.at.toISOString()}, ${after.id}::uuid)`;
    const [rows] = await this.db.read<[OutboxMail]>(
      { organizationId },
      sql`SELECT id, kind, recipient, status, attempts, last_error AS problem, created_at AS "createdAt",
          due_at AS "dueAt", finished_at AS "finishedAt"
        FROM outbox WHERE organization_id = ${organizationId} AND topic = 'email'
          AND kind = ANY (${kinds}) ${ofStatus} ${beyond}
        ORDER BY created_at DESC, id DESC LIMIT ${most + 1}`,
    );
    return rows;
  }

  /** Queues a failed or dead message again, inside the ambient transaction. @returns false for one that is not the organization's, or in another state */
  async retry(id: string): Promise<boolean> {
    const [row] = await this.db.query<{ queued: boolean }>(sql`SELECT retry_own_outbox(${id}) AS queued`);
    return row!.queued;
  }

  /** Whether there is such a message of the organization's. */
  async exists(organizationId: string, id: string): Promise<boolean> {
    const [rows] = await this.db.read<[object]>(
      { organizationId },
      sql`SELECT FROM outbox WHERE organization_id = ${organizationId} AND id = ${id}`,
    );
    return rows.length > 0;
  }

  async suppressions(organizationId: string): Promise<SuppressedAddress[]> {
    const [rows] = await this.db.read<[SuppressedAddress]>(
      { organizationId },
      sql`SELECT address, reason, created_at AS "createdAt" FROM own_suppressions()`,
    );
    return rows;
  }

  /** Lifts a suppression inside the ambient transaction. @returns false for one that the organization does not see */
  async allow(address: string): Promise<boolean> {
    const [row] = await this.db.query<{ allowed: boolean }>(sql`SELECT allow_address(${address}) AS allowed`);
    return row!.allowed;
  }
}
