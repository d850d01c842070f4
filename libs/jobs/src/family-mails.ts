import { Injectable } from '@nestjs/common';
import sql, { empty, type Sql } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Env } from '@app/config';
import { Database, normalizeEmail } from '@app/database';

/**
 * The mails to families. The outbox holds what each is about, by its id; the worker looks at that again just before it sends it, and
 * drops a mail that is no longer so.
 */
export const FAMILY_KINDS = ['invoice', 'receipt', 'invoice_reminder', 'lesson_news', 'lessons_tomorrow'] as const;

export type FamilyKind = (typeof FAMILY_KINDS)[number];

export interface FamilyMail {
  kind: FamilyKind;
  /** What it is about, such as an invoice. */
  aboutId: string;
  /** As given. Comparisons use lower case. */
  to: string;
  /** Whether the person has shown to read the mail of this address. */
  proven: boolean;
  /** When it is due, if not at once. */
  notBefore?: Date;
  /** It is dropped rather than sent another day. */
  orNever?: boolean;
}

/** Of each accepted student, a day. */
const PER_STUDENT = 10;

/** Queues mails to families inside the ambient transaction. They have an allowance of their own, and wait for it: invites and notices lose nothing by them. */
@Injectable()
export class FamilyOutbox {
  constructor(
    private readonly db: Database,
    private readonly env: Env,
  ) {}

  /** Whether a mail server is configured (`SMTP_URL`). Without one, nothing is queued. */
  get sendsMail(): boolean {
    return this.env.get('SMTP_URL') !== null;
  }

  /** Queues a mail, due when the allowance has room. @returns whether it is the first that has to wait, or was dropped */
  async add(
    organizationId: string,
    { kind, aboutId, to, proven, notBefore = new Date(0), orNever = false }: FamilyMail,
  ): Promise<boolean> {
    await this.db.lock(`mail to families of ${organizationId}`);
    const least = sql`${this.env.get('FAMILY_MAILS_PER_DAY')}::integer`;
    const [before] = await this.db.query<{ waits: boolean; full: boolean | null }>(sql`
      SELECT EXISTS (SELECT FROM outbox WHERE organization_id = ${organizationId} AND family_at > now()::timestamptz(3)) AS waits,
        ${freeAt(organizationId, least)} > now() AS full`);
    // Students are counted only where it matters.
    const most = before!.full
      ? sql`(SELECT greatest(${least}, ${PER_STUDENT} * count(*)) FROM members
          WHERE organization_id = ${organizationId} AND role = 'student' AND status = 'accepted')`
      : least;
    const unproven = sql`${this.env.get('UNPROVEN_FAMILY_MAILS_PER_DAY')}::integer`;
    const [row] = await this.db.query<{ waits: boolean }>(sql`
      INSERT INTO outbox (id, organization_id, topic, kind, recipient, email_normalized, about_id, unproven, family_at, due_at)
      SELECT ${uuidv7()}, ${organizationId}, 'email', ${kind}, ${to.trim()}, ${normalizeEmail(to)}, ${aboutId}, ${!proven}, free.at, greatest(free.at, ${notBefore.toISOString()}::timestamptz)
      FROM (SELECT greatest(date_trunc('milliseconds', now()), ${freeAt(organizationId, most)},
        ${proven ? sql`NULL` : freeAt(organizationId, unproven, sql`AND unproven`)}) AS at) free
      WHERE free.at <= now()::timestamptz(3) OR NOT ${orNever} RETURNING family_at > now()::timestamptz(3) AS waits`);
    return !row || (row.waits && !before!.waits);
  }
}

/** SQL: when the allowance has room for another mail: a day after the one that was queued so many mails before. Null if there are fewer. */
const freeAt = (organizationId: string, most: Sql, which: Sql = empty): Sql =>
  sql`(SELECT family_at + interval '1 day' FROM outbox WHERE organization_id = ${organizationId}
    AND family_at > now() - interval '1 day' ${which} ORDER BY family_at DESC OFFSET ${most} - 1 LIMIT 1)`;
