import sql, { type Sql } from 'sql-template-tag';
import { behind, type Position } from '@app/database';
import { FamilyMails } from '@app/people';
import { isReady, memberName, parentName } from './invoices.queries.js';

/** A draft with what is on it, and who will get it. */
export interface DraftRow {
  id: string;
  student_id: string;
  student: string | null;
  due: number;
  /** The first lines, and how many there are. */
  lines: { description: string | null; quantity: number; amount: number }[];
  count: number;
  /** Whoever pays; null while several parents are linked and none was chosen. */
  payer_id: string | null;
  payer: string | null;
  email: string | null;
  created_at: Date;
}

/** What became of a draft. */
export interface IssuedRow {
  id: string;
  number: string | null;
  student: string | null;
  due: number;
  draft: boolean;
  /** Where it was mailed to. */
  sent_to: string | null;
}

const shown = (
  organizationId: string,
  lines: number,
): Sql => sql`i.id, i.student_id, ${memberName(organizationId, sql`i.student_id`)} AS student,
  i.amount_due_cents::float8 AS due, i.created_at,
  (SELECT count(*)::integer FROM invoice_lines l WHERE l.organization_id = ${organizationId} AND l.invoice_id = i.id) AS count,
  (SELECT coalesce(json_agg(l), '[]') FROM (SELECT description, quantity, amount_cents::float8 AS amount FROM invoice_lines
    WHERE organization_id = ${organizationId} AND invoice_id = i.id ORDER BY position LIMIT ${lines}) l) AS lines,
  p.id AS payer_id, CASE WHEN p."parentId" IS NULL THEN ${memberName(organizationId, sql`p.id`)}
    ELSE ${parentName(organizationId, sql`p.id`)} END AS payer, p.email`;

const withPayer = (organizationId: string, drafts: Sql): Sql => sql`(${drafts}) i
  LEFT JOIN LATERAL (${FamilyMails.payerOf(organizationId, sql`i.student_id`)}) p ON true`;

/** Drafts, the newest first. @param all those too that come to nothing @param lines how many lines of each */
export const draftsPage = (
  organizationId: string,
  all: boolean,
  after: Position | null,
  most: number,
  lines: number,
): Sql => sql`
  SELECT ${shown(organizationId, lines)} FROM ${withPayer(
    organizationId,
    sql`SELECT * FROM invoices WHERE organization_id = ${organizationId} AND status = 'draft' AND (${all} OR ${isReady}) ${behind(after)}
      ORDER BY created_at DESC, id DESC LIMIT ${most}`,
  )} ORDER BY i.created_at DESC, i.id DESC`;

/** The oldest drafts that are ready. */
export const readyDrafts = (organizationId: string, most: number): Sql => sql`
  SELECT ${shown(organizationId, 1)} FROM ${withPayer(
    organizationId,
    sql`SELECT * FROM invoices WHERE organization_id = ${organizationId} AND ${isReady} ORDER BY created_at, id LIMIT ${most}`,
  )} ORDER BY i.created_at, i.id`;

/** These, in this order. */
export const issued = (organizationId: string, ids: string[]): Sql => sql`
  SELECT i.id, i.invoice_number AS number, ${memberName(organizationId, sql`i.student_id`)} AS student,
    i.amount_due_cents::float8 AS due, i.status = 'draft' AS draft, i.sent_to
  FROM invoices i WHERE i.organization_id = ${organizationId} AND i.id = ANY (${ids}::uuid[])
  ORDER BY array_position(${ids}::uuid[], i.id)`;
