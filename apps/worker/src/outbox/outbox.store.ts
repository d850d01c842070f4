import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, type Tables } from '@app/database';
import { type NoticeKind, type Problem, WORKER_SILENCE_MS } from '@app/jobs';
import type { Answer } from './courier.js';
import { EVENT_COLUMNS, type StoredEvent } from '@app/events';
import { Lease } from './lease.js';

/** A message that this worker has leased. */
export interface Claimed {
  id: string;
  organizationId: string | null;
  kind: string;
  recipient: string;
  /** Of a mail to a family: what it is about. */
  aboutId: string | null;
  payload: Buffer | null;
  /** Further notices that this one takes in, as far as they are kept, and how many there were of each kind, its own included. */
  gathered: Buffer[];
  gatheredKinds: Partial<Record<NoticeKind, number>>;
  /** Set when the claim itself settled the message, which is then not delivered. */
  settled: 'suppressed' | null;
  /** Including this one. */
  attempts: number;
  createdAt: Date;
  lease: Lease;
}

/** The stored outcome of an attempt. */
export type FinalStatus = Exclude<Tables['outbox']['status'], 'queued' | 'held'>;

/** An organization, as families know it. */
export interface Sender extends Contact {
  name: string;
  replyTo: string | null;
}

/** How people reach an organization. */
export interface Contact {
  address: string | null;
  phone: string | null;
}

/** A build hook. Its secrets are encrypted. */
export interface Hook {
  url: string;
  secret: Buffer;
  /** Also signs calls, while there is one. */
  previousSecret: Buffer | null;
  /** Set by the operator, so it may point into the operator's own network. */
  trusted: boolean;
  /** Of the organization; null for a brand. */
  slug: string | null;
}

type Nullable<T> = { [Name in keyof T]: T[Name] | null };

/** A delivery to a webhook endpoint. */
export interface WebhookCall extends Omit<Hook, 'trusted'> {
  /** null for a test, and for an event that is no longer kept. */
  event: StoredEvent | null;
}

/** How often a worker writes its heartbeat (ms), and when to delete those of stopped workers. */
const BEAT_EVERY_MS = 10_000;
const FORGET_AFTER = '1 day';

/** The worker's access to the outbox. Every statement is its own transaction. */
@Injectable()
export class OutboxStore {
  private readonly workerId = `${hostname()}:${process.pid}`;
  /** Process ids are reused, and always 1 in a container. */
  private readonly worker = `${this.workerId}:${randomBytes(4).toString('hex')}`;
  private claims = 0;
  /** Topics whose last claim failed. */
  private readonly failing = new Set<string>();
  /** Since this worker started. */
  failedClaims = 0;
  private beatAt = -BEAT_EVERY_MS;

  constructor(private readonly db: Database) {}

  /**
   * Leases the oldest due message of the owner with the fewest leased, or suppresses it; null if there is none to take.
   * @param lanes how many this worker can take; the last ones are for owners that have none leased
   */
  async claim(topic: Tables['outbox']['topic'], lanes: number, leaseMs: number): Promise<Claimed | null> {
    const lease = new Lease(`${this.worker}:${++this.claims}`, leaseMs);
    const [row] = await this.db.lookUp<Omit<Claimed, 'lease'>>(sql`
      SELECT id, organization_id AS "organizationId", kind, recipient, about_id AS "aboutId",
        payload, gathered,
        gathered_kinds AS "gatheredKinds", attempts, created_at AS "createdAt",
        CASE status WHEN 'suppressed' THEN status END AS settled
      FROM ${topic === 'webhook' ? sql`claim_webhook(` : sql`claim_outbox(${topic}, `}${lease.holder}, ${lanes},
        ${leaseMs} * interval '1 millisecond')`);
    return row ? { ...row, lease } : null;
  }

  /**
   * Records how a claim went. Only a worker that can claim has a heartbeat, by which readiness knows that one works; the
   * failures of one that cannot are counted, for /metrics.
   */
  async beat(topic: string, claimed: boolean): Promise<void> {
    if (claimed) this.failing.delete(topic);
    else this.failing.add(topic);
    if (!claimed) this.failedClaims++;
    const due = performance.now() - this.beatAt >= BEAT_EVERY_MS;
    const works = this.failing.size === 0;
    if (claimed && !(works && due)) return;
    if (works) this.beatAt = performance.now();
    await this.db.lookUp(sql`
      WITH gone AS (DELETE FROM worker_heartbeats
        WHERE seen_at < now() - ${FORGET_AFTER}::interval AND worker_id <> ${this.workerId})
      INSERT INTO worker_heartbeats AS h (worker_id, seen_at, failed_claims)
      VALUES (${this.workerId}, now() - CASE WHEN ${works}::boolean THEN 0 ELSE ${WORKER_SILENCE_MS} END
        * interval '1 millisecond', ${this.failedClaims})
      ON CONFLICT (worker_id) DO UPDATE SET failed_claims = excluded.failed_claims,
        seen_at = greatest(h.seen_at, excluded.seen_at)`);
  }

  /** Renews the lease if it is still ours. */
  async renew({ id, lease }: Claimed): Promise<void> {
    await lease.renew(async () => {
      const [row] = await this.db.lookUp<{ mine: boolean }>(
        sql`SELECT renew_outbox(${id}, ${lease.holder}, ${lease.ms} * interval '1 millisecond') AS mine`,
      );
      return row!.mine;
    });
  }

  /** @returns false if the message has been claimed again */
  async finish(
    { id, lease }: Claimed,
    status: FinalStatus,
    note: Problem | null,
    againInMs: number | null,
    answer?: Answer,
  ): Promise<boolean> {
    const end = sql`${id}, ${lease.holder}, ${status}, ${note}, ${againInMs}::double precision * interval '1 millisecond'`;
    const [row] = await this.db.lookUp<{ mine: boolean }>(
      answer
        ? sql`SELECT finish_webhook(${end}, ${answer.status}, ${answer.durationMs}, ${answer.text}) AS mine`
        : sql`SELECT finish_outbox(${end}) AS mine`,
    );
    return row!.mine;
  }

  /** Returns a message that was not attempted. */
  async release({ id, lease }: Claimed): Promise<void> {
    await this.db.lookUp(sql`SELECT release_outbox(${[id]}, ${lease.holder})`);
  }

  /** Records that a mail to this (normalized) address was refused because there is no such mailbox: see `refuse_address`. */
  async refused(address: string, organizationId: string): Promise<'parked' | 'suppressed' | 'sender'> {
    const [row] = await this.db.lookUp<{ verdict: 'parked' | 'suppressed' | 'sender' }>(
      sql`SELECT refuse_address(${address}, ${organizationId}::uuid) AS verdict`,
    );
    return row!.verdict;
  }

  /** How an organization can be reached, as far as it says. */
  async contactOf(organizationId: string): Promise<Contact> {
    const [[contact]] = await this.db.read<[Contact]>(
      { organizationId },
      sql`SELECT postal_address AS address, phone FROM organizations WHERE id = ${organizationId}`,
    );
    return contact!;
  }

  async senderOf(organizationId: string): Promise<Sender> {
    const [[sender]] = await this.db.read<[Sender]>(
      { organizationId },
      sql`SELECT name, reply_address AS "replyTo", postal_address AS address, phone FROM organizations WHERE id = ${organizationId}`,
    );
    return sender!;
  }

  /** Makes deliveries to webhook endpoints that have slots for them. @returns whether to look again */
  async fillWebhooks(): Promise<boolean> {
    const [row] = await this.db.lookUp<{ made: string; more: string }>(sql`SELECT made, more FROM fill_webhooks()`);
    return Number(row!.made) + Number(row!.more) > 0;
  }

  /** Where a delivery goes, and its event; null if the endpoint has been deleted. Its secrets are encrypted. */
  async webhookCall({ id }: Claimed): Promise<WebhookCall | null> {
    const [row] = await this.db.lookUp<Omit<WebhookCall, 'event'> & Nullable<StoredEvent>>(sql`
      SELECT url, secret, previous_secret AS "previousSecret", slug, ${EVENT_COLUMNS} FROM webhook_call(${id})`);
    if (!row) return null;
    const { url, secret, previousSecret, slug, ...event } = row;
    return { url, secret, previousSecret, slug, event: event.id === null ? null : (event as StoredEvent) };
  }

  /** The build hook of a target; null if none is set. Its secrets are encrypted. */
  async rebuildHook(target: string): Promise<Hook | null> {
    const [hook = null] = await this.db.lookUp<Hook>(sql`
      SELECT url, secret, previous_secret AS "previousSecret", trusted, slug FROM rebuild_hook(${target})`);
    return hook;
  }
}
