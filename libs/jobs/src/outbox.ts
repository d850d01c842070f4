import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Env, Vault } from '@app/config';
import { Database, normalizeEmail } from '@app/database';
import type { EmailKind, EmailPayload } from './emails.js';

/** The NOTIFY channel for due messages. */
export const OUTBOX_CHANNEL = 'outbox';

/** A mail to one person. */
export interface Email {
  kind: EmailKind;
  /** As it was given; compared in lower case. */
  to: string;
  /** The invite in the mail: once it is closed, the mail is no longer sent. */
  inviteId: string | null;
  payload: EmailPayload;
}

/** The site to rebuild: an organization's, or a brand's of the platform. */
export type RebuildTarget = `organization:${string}` | `brand:${string}`;

/** Changes within this time share a rebuild (ms): the first one is due after it, and later ones join it. */
const REBUILD_PAUSE_MS = 3_000;

/**
 * The minimum interval between an organization's mails to an address: the response has the link, which can be shared
 * instead.
 */
const PAUSE = '10 minutes';

/** Filters the mails that may be queued. */
export type Admission = <Mail extends { to: string }>(mails: Mail[]) => Mail[];

/** Queues work inside the ambient transaction: it is done if and only if the transaction commits. */
@Injectable()
export class Outbox {
  constructor(
    private readonly db: Database,
    private readonly vault: Vault,
    private readonly env: Env,
  ) {}

  /** Whether this service sends mail; otherwise nothing is queued. */
  get sendsMail(): boolean {
    return this.env.get('SMTP_URL') !== null;
  }

  /**
   * Decides inside the ambient transaction which mails to these addresses may be sent: none without SMTP_URL; none to
   * an address that a server rejected permanently or that this organization mailed within ten minutes; and no more than
   * the day's allowance. Until the end of the transaction nobody else queues mail for the organization, so that the
   * counts stay correct.
   *
   * @param notices whether they carry no link. An invite just sent does not hold back a notice, nor a notice an invite.
   */
  async admission(organizationId: string, addresses: string[], notices = false): Promise<Admission> {
    if (addresses.length === 0 || !this.sendsMail) return () => [];
    const most = this.env.get('INVITE_MAILS_PER_DAY');
    const wanted = new Set(addresses.map(normalizeEmail));
    const [, [found]] = await Promise.all([
      this.db.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`mail of ${organizationId}`}, 0))`),
      // The database's lower() may only handle ASCII: other addresses are compared here.
      this.db.query<{ refused: string[]; recent: string[]; today: number }>(sql`
        SELECT ARRAY(SELECT suppressed_addresses(${[...wanted]})) AS refused,
          ARRAY(SELECT recipient FROM outbox WHERE organization_id = ${organizationId} AND topic = 'email'
            AND created_at > now() - ${PAUSE}::interval AND (invite_id IS NULL) = ${notices}
            AND (lower(recipient) = ANY (${[...wanted]}) OR octet_length(recipient) <> char_length(recipient))) AS recent,
          (SELECT count(*)::integer FROM (SELECT FROM outbox WHERE organization_id = ${organizationId}
            AND topic = 'email' AND created_at > now() - interval '1 day' LIMIT ${most}) t) AS today`),
    ]);
    const { refused, recent, today } = found!;
    const taken = new Set([...refused, ...recent.map(normalizeEmail)]);
    let left = most - today;
    return (mails) =>
      mails.filter(({ to }) => {
        const address = normalizeEmail(to);
        if (left === 0 || !wanted.has(address) || taken.has(address)) return false;
        taken.add(address);
        left--;
        return true;
      });
  }

  /**
   * Queues mails, as far as their {@link admission} goes.
   *
   * @returns the addresses (normalized) that were queued
   */
  async addEmails(organizationId: string, emails: Email[], notices = false): Promise<Set<string>> {
    const admit = await this.admission(organizationId, emails.map(({ to }) => to), notices); // prettier-ignore
    const admitted = admit(emails);
    await this.addAdmitted(organizationId, admitted);
    return new Set(admitted.map(({ to }) => normalizeEmail(to)));
  }

  /** Queues mails that passed {@link admission}, in one statement. */
  async addAdmitted(organizationId: string, queued: Email[]): Promise<void> {
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
   * Requests a rebuild, or joins one that is waiting. The waiting row is locked until this transaction commits, so that
   * no worker takes it before the change is visible.
   */
  async addRebuild(organizationId: string | null, target: RebuildTarget): Promise<void> {
    await this.db.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${target}, 0))`);
    await this.db.query(sql`
      WITH joined AS (
        UPDATE outbox SET due_at = due_at WHERE topic = 'rebuild' AND kind = 'rebuild' AND recipient = ${target}
          AND status = 'queued' AND attempts = 0 AND organization_id IS NOT DISTINCT FROM ${organizationId}::uuid RETURNING 1)
      INSERT INTO outbox (id, organization_id, topic, kind, recipient, due_at)
      SELECT ${uuidv7()}, ${organizationId}::uuid, 'rebuild', 'rebuild', ${target},
        now() + ${REBUILD_PAUSE_MS} * interval '1 millisecond'
      WHERE NOT EXISTS (SELECT FROM joined)`);
  }
}
