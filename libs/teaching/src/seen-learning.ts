import sql, { type Sql } from 'sql-template-tag';
import type { RESULT, VALUES } from '@app/database';
import { learners } from '@app/scheduling';

/** A student whose learning somebody may see: themselves, or a child of theirs. */
export interface SeenLearner {
  id: string;
  /** The first name of a child; null of themselves. */
  name: string | null;
}

export interface SeenHomework {
  student_id: string;
  title: string;
  description: string | null;
  due_date: Date | null;
  created_at: Date;
}

export interface SeenResult {
  student_id: string;
  mode: (typeof VALUES)['results']['mode'][number];
  status: (typeof RESULT.values)[number];
  grade: number | null;
  /** The homework that it is of. */
  title: string | null;
  completed_at: Date | null;
  created_at: Date;
}

/** How much of a description is shown (characters). */
const SHOWN = 300;

/** SQL: those whose learning somebody may see, while the organization shares it with families; nobody before. */
const seen = (organizationId: string, userId: string): Sql => sql`
  SELECT n.id, n.name FROM (${learners(organizationId, userId)}) n
  WHERE EXISTS (SELECT FROM organizations WHERE id = ${organizationId} AND shares_learning)`;

export const seenLearners = (organizationId: string, userId: string): Sql => sql`
  ${seen(organizationId, userId)} ORDER BY n.name, n.id LIMIT 20`;

/** The newest homework of each: set for them, or for a class or group of theirs. */
export const seenHomework = (organizationId: string, userId: string, most: number): Sql => sql`
  SELECT n.id AS student_id, h.* FROM (${seen(organizationId, userId)}) n CROSS JOIN LATERAL (
    SELECT h.title, left(h.description, ${SHOWN}) AS description, h.due_date, h.created_at FROM homework h
    WHERE h.organization_id = ${organizationId} AND (h.student_id = n.id
      OR h.classroom_id IN (SELECT classroom_id FROM classroom_members WHERE organization_id = ${organizationId} AND user_id = n.id)
      OR h.group_id IN (SELECT g.id FROM student_groups g JOIN student_group_members p ON p.group_id = g.id
        WHERE g.organization_id = ${organizationId} AND p.user_id = n.id))
    ORDER BY h.created_at DESC, h.id DESC LIMIT ${most}) h`;

/** Their newest results, of this organization alone: it shares nothing that another one made. */
export const seenResults = (organizationId: string, userId: string, most: number): Sql => sql`
  SELECT n.id AS student_id, r.* FROM (${seen(organizationId, userId)}) n CROSS JOIN LATERAL (
    SELECT o.mode, o.status, o.grade, o.completed_at, o.created_at, (SELECT h.title FROM homework h
      WHERE h.organization_id = ${organizationId} AND h.id = o.homework_assignment_id) AS title
    FROM organization_results o JOIN results w ON w.id = o.result_id AND w.made_by_organization_id = ${organizationId}
    WHERE o.organization_id = ${organizationId} AND o.student_id = n.id ORDER BY o.created_at DESC, o.result_id DESC LIMIT ${most}) r`;
