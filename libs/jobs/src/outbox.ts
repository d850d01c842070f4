import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Env, Vault } from '@app/config';
import { Database } from '@app/database';
import type { EmailKind, EmailPayload } from './emails.js';

/** Workers listen here: a message is due. */
export const OUTBOX_CHANNEL = 'outbox';

/** A mail to one person. */
export interface Email {
  kind: EmailKind;
  /** As it was given; compared in lower case. */
  to: string;
  /** Of the invite that it carries: once that is closed, the mail is not sent any more. */
  inviteId: string | null;
  payload: EmailPayload;
}

/** What is rebuilt: the site of an organization, or of a brand of the platform. */
export type RebuildTarget = `organization:${string}` | `brand:${string}`;

/**
 * Changes within this time become one rebuild (ms): the first one is due after it, the later ones find it waiting.
 */
const REBUILD_PAUSE_MS = 3_000;

/** Promises work inside the ambient transaction: it is done if, and only if, the transaction commits. */
@Injectable()
export class Outbox {
  constructor(
    private readonly db: Database,
    private readonly vault: Vault,
    private readonly env: Env,
  ) {}

  /** Whether this service sends mail at all; without, nothing is queued. */
  get sendsMail(): boolean {
    return this.env.get('SMTP_URL') !== null;
  }

  /** Those of the addresses (normalized) that mail goes to: none without SMTP_URL, and none that a server refused for good. */
  async reachable(addresses: string[]): Promise<Set<string>> {
    if (addresses.length === 0 || !this.sendsMail) return new Set();
    const refused = await this.db.query<{ address: string }>(
      sql`SELECT suppressed_addresses AS address FROM suppressed_addresses(${addresses})`,
    );
    const pointless = new Set(refused.map(({ address }) => address));
    return new Set(addresses.filter((address) => !pointless.has(address)));
  }

  /**
   * Queues mails in two statements, however many; as far as their addresses are {@link reachable}.
   *
   * @returns the addresses (normalized) that were queued
   */
  async addEmails(organizationId: string, emails: Email[]): Promise<Set<string>> {
    const reachable = await this.reachable(emails.map(({ to }) => to.trim().toLowerCase()));
    await this.addReachable(
      organizationId,
      emails.filter(({ to }) => reachable.has(to.trim().toLowerCase())),
    );
    return reachable;
  }

  /** Queues mails in one statement; to addresses that are known to be {@link reachable}. */
  async addReachable(organizationId: string, queued: Email[]): Promise<void> {
    if (queued.length === 0) return;
    await this.db.query(sql`
      WITH added AS (
        INSERT INTO outbox (id, organization_id, topic, kind, recipient, invite_id, payload)
        SELECT id, ${organizationId}, 'email', kind, recipient, invite_id, payload FROM unnest(
          ${queued.map(() => uuidv7())}::uuid[], ${queued.map(({ kind }) => kind)}::text[],
          ${queued.map(({ to }) => to.trim())}::text[], ${queued.map(({ inviteId }) => inviteId)}::uuid[],
          ${queued.map(({ payload }) => this.vault.seal('outbox payloads', JSON.stringify(payload)))}::bytea[]
        ) AS m (id, kind, recipient, invite_id, payload))
      SELECT pg_notify(${OUTBOX_CHANNEL}, 'email')`);
  }

  /**
   * Asks for one rebuild; a change that finds one waiting joins it. The waiting row is locked until this transaction
   * commits, so that no worker takes it before the change is there to be seen.
   */
  async addRebuild(organizationId: string | null, target: RebuildTarget): Promise<void> {
    await this.db.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${target}, 0))`);
    await this.db.query(sql`
      WITH joined AS (
        UPDATE outbox SET due_at = due_at WHERE topic = 'rebuild' AND recipient = ${target} AND status = 'queued'
          AND attempts = 0 AND organization_id IS NOT DISTINCT FROM ${organizationId}::uuid RETURNING 1)
      INSERT INTO outbox (id, organization_id, topic, kind, recipient, due_at)
      SELECT ${uuidv7()}, ${organizationId}::uuid, 'rebuild', 'rebuild', ${target},
        now() + ${REBUILD_PAUSE_MS} * interval '1 millisecond'
      WHERE NOT EXISTS (SELECT FROM joined)`);
  }
}
