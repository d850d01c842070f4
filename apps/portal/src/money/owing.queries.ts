import sql, { raw, type Sql } from 'sql-template-tag';
import { behind, type Position } from '@app/database';
import { billingParent, foundPerson } from '@app/people';
import { isOverdue, memberName, parentName } from './invoices.queries.js';

/** Whoever pays for students, and what they owe (cents). */
export interface OwingRow {
  id: string;
  name: string | null;
  /** For whom they pay. */
  students: string[];
  open: number;
  owed: number;
  overdue: number;
  credit: number;
}

/** A student whom a search has looked at. */
export interface SearchedRow {
  id: string;
  found: boolean;
  created_at: Date;
}

const NAMES = ['first_name', 'last_name'] as const;

/** Students, the newest first, and whether they or one of their parents have the name. */
export const studentsNamed = (organizationId: string, name: string, after: Position | null, most: number): Sql => sql`
  SELECT t.user_id AS id, t.created_at, (${foundPerson('t', name, [...NAMES])} OR EXISTS (
    SELECT FROM parent_students l JOIN parents p ON p.organization_id = l.organization_id AND p.user_id = l.parent_id
    WHERE l.organization_id = ${organizationId} AND l.student_id = t.user_id AND ${foundPerson('p', name, [...NAMES])})) AS found
  FROM (SELECT * FROM members WHERE organization_id = ${organizationId} AND role = 'student' ${behind(after, 'created_at', 'user_id')}
    ORDER BY created_at DESC, user_id DESC LIMIT ${most}) t ORDER BY t.created_at DESC, t.user_id DESC`;

/** The students of the oldest open invoices. */
export const studentsOwing = (organizationId: string, most: number): Sql => sql`
  SELECT student_id FROM (SELECT student_id FROM invoices WHERE organization_id = ${organizationId} AND status = 'open'
    ORDER BY created_at, id LIMIT ${most}) o`;

/** Who pays for these students, those who owe most first. @param students SQL for rows of ids */
export const familiesOf = (organizationId: string, students: Sql, most: number, offset = 0): Sql => sql`
  SELECT f.id, CASE WHEN f.parent THEN ${parentName(organizationId, sql`f.id`)} ELSE ${memberName(organizationId, sql`f.id`)} END AS name,
    CASE WHEN f.parent THEN ARRAY(SELECT ${memberName(organizationId, sql`s.id`)} FROM unnest(f.students[:4]) s (id)) ELSE '{}' END AS students,
    f.open, f.owed, f.overdue, (SELECT coalesce(sum(c.credit_cents), 0)::float8 FROM payments c WHERE c.organization_id = ${organizationId}
      AND c.credit_cents > 0 AND (c.student_id = ANY (f.students) OR f.parent AND c.parent_id = f.id)) AS credit
  FROM (SELECT coalesce(m.parent_id, m.user_id) AS id, m.parent_id IS NOT NULL AS parent, array_agg(m.user_id) AS students,
      sum(i.n)::integer AS open, sum(i.owed)::float8 AS owed, sum(i.overdue)::float8 AS overdue
    FROM (SELECT m.user_id, (${raw(billingParent('m'))}) AS parent_id FROM members m
      WHERE m.organization_id = ${organizationId} AND m.user_id = ANY (ARRAY(${students})) OFFSET 0) m
    CROSS JOIN LATERAL (SELECT count(*) AS n, coalesce(sum(amount_due_cents - amount_paid_cents), 0) AS owed,
        coalesce(sum(amount_due_cents - amount_paid_cents) FILTER (WHERE ${isOverdue(organizationId)}), 0) AS overdue
      FROM invoices WHERE organization_id = ${organizationId} AND student_id = m.user_id AND status = 'open') i
    GROUP BY 1, 2 ORDER BY owed DESC, id LIMIT ${most} OFFSET ${offset}) f
  ORDER BY f.owed DESC, f.id`;
