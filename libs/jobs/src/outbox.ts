import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Env, Vault } from '@app/config';
import { Database, lockNumber, normalizeEmail, RetryTransaction } from '@app/database';
import { FAMILY_KINDS } from './family-mails.js';
import { type Email, type EmailKind, type EmailSender, isInFull, type NoticeKind, sealEmail } from './emails.js';

/** The NOTIFY channel for due messages. */
export const OUTBOX_CHANNEL = 'outbox';

interface Organization {
  organizationId: string;
  organization: EmailSender;
}

/** The site to rebuild: an organization's, or that of a platform brand. */
export type RebuildTarget = `organization:${string}` | `brand:${string}`;

/** Changes within this time share a rebuild (ms): the first one is due after it, and later ones join it. */
const REBUILD_PAUSE_MS = 3_000;

const DAY_MS = 86_400_000;

/** Between an organization's mails to an address. Until then, the link in the response can be shared. */
const PAUSE = '10 minutes';

/** Mails that ask somebody to belong. */
const ASKING: EmailKind[] = ['account_created', 'membership_invite', 'organization_invite', 'tutor_invite'];

/** How much of the day's allowance of mails is used up. */
export interface MailAllowance {
  /** Mails of the last 24 hours, up to `most`. */
  used: number;
  most: number;
  /** When the next one is allowed again; null while some are left. */
  freeAt: Date | null;
}

/** Filters the mails that may be queued. */
export type Admission = <Mail extends { to: string }>(mails: Mail[]) => Mail[];

/** Queues work inside the ambient transaction. The work is done if and only if the transaction commits. */
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
   * Which mails may be sent: none without SMTP_URL, none to an address that was rejected or mailed within ten minutes, one invite in 30 days to
   * somebody who has left by themselves or declined, and no more than the day's allowance. Until the end of the transaction nobody else queues mail for the organization, unless much of
   * the allowance is left. @param notice the kind of mails without an invite, of which only others of their kind hold one back @param confirmations to
   * people who join by themselves, who have an allowance of their own @param locked whether nobody else mails these addresses meanwhile
   */
  async admission(
    organizationId: string,
    addresses: string[],
    notice: EmailKind | null = null,
    { confirmations = false, locked = false }: { confirmations?: boolean; locked?: boolean } = {},
  ): Promise<Admission> {
    if (addresses.length === 0 || !this.sendsMail) return () => [];
    const most = this.env.get(confirmations ? 'CONFIRMATION_MAILS_PER_DAY' : 'INVITE_MAILS_PER_DAY');
    const wanted = new Set(addresses.map(normalizeEmail));
    const today = sql`(SELECT count(*)::integer FROM (SELECT FROM outbox WHERE organization_id = ${organizationId}
      AND topic = 'email' AND (kind = 'join_confirmation') = ${confirmations} AND kind <> ALL (${FAMILY_KINDS})
      AND created_at > now() - interval '1 day' LIMIT ${most}) t)`;
    // However many transactions there are, and each queues one mail that the others do not count.
    const plenty = sql`${today} + current_setting('max_connections')::integer <= ${most}`;
    const lock = lockNumber(`mail of ${organizationId}`);
    const [[locks], [found]] = await Promise.all([
      this.db.query<{ shared: boolean }>(sql`
        SELECT shared, CASE WHEN shared THEN pg_advisory_xact_lock_shared(${lock})::text ELSE pg_advisory_xact_lock(${lock})::text END
        FROM (SELECT ${locked && wanted.size === 1} AND ${plenty} AS shared OFFSET 0) n`),
      this.db.query<{ refused: string[]; recent: string[]; declined: string[]; today: number; plenty: boolean }>(sql`
        SELECT ARRAY(SELECT suppressed_addresses(${[...wanted]})) AS refused,
          ARRAY(SELECT email_normalized FROM outbox WHERE organization_id = ${organizationId} AND topic = 'email'
            AND created_at > now() - ${PAUSE}::interval
            AND CASE WHEN ${notice}::text IS NULL THEN invite_id IS NOT NULL ELSE kind = ${notice} END
            AND email_normalized = ANY (${[...wanted]})) AS recent,
          ARRAY(SELECT r.address FROM (
              SELECT l.email AS address, t.refused_at AS at FROM logins_by_email(${[...wanted]}) l
              JOIN (SELECT user_id, refused_at FROM members WHERE organization_id = ${organizationId} AND refused_at IS NOT NULL
                UNION ALL SELECT user_id, refused_at FROM parents WHERE organization_id = ${organizationId}
                  AND refused_at IS NOT NULL) t ON t.user_id = l.id
              UNION ALL SELECT lower(i.email), i.declined_at FROM invites i WHERE i.organization_id = ${organizationId}
                AND i.declined_at IS NOT NULL AND lower(i.email) = ANY (${[...wanted]})
                AND NOT EXISTS (SELECT FROM logins_by_email(ARRAY[lower(i.email)]) l
                  JOIN members m ON m.organization_id = ${organizationId} AND m.user_id = l.id AND m.status = 'accepted')) r
            WHERE ${notice}::text IS NULL AND EXISTS (SELECT FROM outbox o WHERE o.organization_id = ${organizationId}
              AND o.topic = 'email' AND o.invite_id IS NOT NULL AND o.email_normalized = r.address
              AND o.kind = ANY (${ASKING}) AND o.created_at > greatest(r.at, now() - interval '30 days'))) AS declined,
          ${today} AS today, ${plenty} AS plenty`),
    ]);
    const { refused, recent, declined } = found!;
    if (locks!.shared && !found!.plenty) throw new RetryTransaction();
    const taken = new Set([...refused, ...recent, ...declined]);
    let left = most - found!.today;
    return (mails) =>
      mails.filter(({ to }) => {
        const address = normalizeEmail(to);
        if (left === 0 || !wanted.has(address) || taken.has(address)) return false;
        taken.add(address);
        left--;
        return true;
      });
  }

  /** The day's allowance of an organization, as {@link admission} counts it. */
  async allowance(organizationId: string): Promise<MailAllowance> {
    const most = this.env.get('INVITE_MAILS_PER_DAY');
    const [[row]] = await this.db.read<[{ used: number; oldest: Date | null }]>(
      { organizationId },
      sql`SELECT count(*)::integer AS used, min(created_at) AS oldest FROM (SELECT created_at FROM outbox
        WHERE organization_id = ${organizationId} AND topic = 'email' AND kind <> ALL (${['join_confirmation', ...FAMILY_KINDS]})
          AND created_at > now() - interval '1 day'
        ORDER BY created_at DESC LIMIT ${most}) t`,
    );
    const { used, oldest } = row!;
    const freeAt = used < most || !oldest ? null : new Date(oldest.getTime() + DAY_MS);
    return { used, most, freeAt };
  }

  /** Queues the mails that their {@link admission} allows. @returns their (normalized) addresses */
  async addEmails(from: Organization, emails: Email[], notice: EmailKind | null = null): Promise<Set<string>> {
    const admit = await this.admission(from.organizationId, emails.map(({ to }) => to), notice); // prettier-ignore
    const admitted = admit(emails);
    await this.addAdmitted(from, admitted);
    return new Set(admitted.map(({ to }) => normalizeEmail(to)));
  }

  /** Queues mails that passed {@link admission}, in one statement. */
  async addAdmitted({ organizationId, organization }: Organization, queued: Email[]): Promise<void> {
    if (queued.length === 0) return;
    await this.db.query(sql`
      INSERT INTO outbox (id, organization_id, topic, kind, recipient, email_normalized, invite_id, link_expires_at, payload)
        SELECT id, ${organizationId}, 'email', kind, recipient, email_normalized, invite_id, link_expires_at, payload FROM unnest(
          ${queued.map(() => uuidv7())}::uuid[], ${queued.map(({ kind }) => kind)}::text[],
          ${queued.map(({ to }) => to.trim())}::text[], ${queued.map(({ to }) => normalizeEmail(to))}::text[],
          ${queued.map(({ link }) => link?.inviteId ?? null)}::uuid[],
          ${queued.map(({ link }) => link?.expiresAt?.toISOString() ?? null)}::timestamptz[],
          ${queued.map((email) => sealEmail(this.vault, organization, email))}::bytea[]
        ) AS m (id, kind, recipient, email_normalized, invite_id, link_expires_at, payload)`);
  }

  /**
   * Queues the same notice to each of these managers, without limits: somebody could use them up, then create a key. Notices are gathered instead: within
   * ten minutes of one, others wait and become one mail (`queue_notices`).
   */
  async addNotices({ organizationId, organization }: Organization, kind: NoticeKind, notices: Email[]): Promise<void> {
    if (notices.length === 0) return;
    await this.db.lock(`mail of ${organizationId}`);
    await this.db.query(sql`
      SELECT queue_notices(${notices.map(() => uuidv7())}::uuid[], ${kind}, ${notices.map(({ to }) => to.trim())}::text[],
        ${notices.map(({ to }) => normalizeEmail(to))}::text[],
        ${notices.map((notice) => sealEmail(this.vault, organization, notice))}::bytea[], ${isInFull(kind, notices[0]!.role)})`);
  }

  /** Requests a rebuild, or joins one that is waiting, whose row is locked so that no worker takes it before the change is visible. */
  async addRebuild(organizationId: string | null, target: RebuildTarget): Promise<void> {
    await this.db.lock(`rebuild of ${target}`);
    await this.db.query(sql`
      WITH joined AS (
        UPDATE outbox SET due_at = due_at WHERE topic = 'rebuild' AND owner = ${target} AND kind = 'rebuild'
          AND status = 'queued' AND attempts = 0
          AND leased_until IS NULL AND organization_id IS NOT DISTINCT FROM ${organizationId}::uuid RETURNING 1)
      INSERT INTO outbox (id, organization_id, topic, kind, recipient, due_at)
      SELECT ${uuidv7()}, ${organizationId}::uuid, 'rebuild', 'rebuild', ${target},
        now() + ${REBUILD_PAUSE_MS} * interval '1 millisecond'
      WHERE NOT EXISTS (SELECT FROM joined)`);
  }
}
