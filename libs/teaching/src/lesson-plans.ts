import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, lockRecord, type Tables } from '@app/database';
import { firstOwner, requireRole } from '@app/people';
import type { RowTable } from '@app/rows';
import { Refused } from '@app/rules';
import { requireTarget, type Target } from './targets.js';

type Role = Tables['members']['role'];

/** What is done to plans without a rule. */
export const LESSON_PLANS: RowTable = { table: 'lesson_plans' };

interface PlanFields extends Target {
  title: string;
  status: Tables['lesson_plans']['status'];
  /** Any names and values. */
  planData: object;
  sessionId: string | null;
  scheduledFor: Date | null;
}

/** A new plan; its author is the first owner unless one is given. */
export interface NewPlan extends PlanFields {
  createdBy: string | null;
}

/** What to change: a field that is undefined stays. */
export type PlanChange = Partial<PlanFields>;

interface Look {
  known: boolean;
  student: Role | null;
  author: Role | null;
}

/** Writes lesson plans, in the ambient transaction. */
@Injectable()
export class LessonPlans {
  constructor(private readonly db: Database) {}

  /** @returns its id @throws Refused for a target that does not fit the scope, and for unknown people and records */
  async create(organizationId: string, plan: NewPlan): Promise<string> {
    requireTarget(plan);
    await this.lockSession(organizationId, plan.sessionId);
    await this.requireKnown(organizationId, plan);
    const id = uuidv7();
    const author = plan.createdBy ?? (await firstOwner(this.db, organizationId));
    const { scope, classroomId, groupId, studentId, title, status, planData, sessionId, scheduledFor } = plan;
    await this.db.query(sql`
      INSERT INTO lesson_plans (id, organization_id, created_by, scope, classroom_id, group_id, student_id, title, status,
        plan_data, session_id, scheduled_for)
      VALUES (${id}, ${organizationId}, ${author}, ${scope}, ${classroomId}, ${groupId}, ${studentId}, ${title}, ${status},
        ${JSON.stringify(planData)}, ${sessionId}, ${scheduledFor?.toISOString() ?? null})`);
    return id;
  }

  /** A new scope drops the former target. @returns false without any field @throws Refused like {@link create}, and for an unknown plan */
  async change(organizationId: string, id: string, change: PlanChange): Promise<boolean> {
    await this.lockSession(organizationId, change.sessionId ?? null);
    const columns = sql`scope, classroom_id AS "classroomId", group_id AS "groupId", student_id AS "studentId", title, status,
      session_id AS "sessionId", scheduled_for AS "scheduledFor"`;
    const stored = await lockRecord<Omit<PlanFields, 'planData'>>(this.db, 'lesson_plans', organizationId, id, columns);
    const moves = change.scope !== undefined && change.scope !== stored.scope;
    const before = moves ? { ...stored, classroomId: null, groupId: null, studentId: null } : stored;
    const given = Object.entries<unknown>({ ...change }).filter(([, value]) => value !== undefined);
    if (given.length === 0) return false;
    const plan = { ...before, ...Object.fromEntries(given) } as typeof stored;
    requireTarget(plan);
    // What stays may have been archived since.
    const anew = (name: 'classroomId' | 'groupId' | 'studentId') => (plan[name] === before[name] ? null : plan[name]);
    const [classroomId, groupId, studentId] = [anew('classroomId'), anew('groupId'), anew('studentId')];
    await this.requireKnown(organizationId, { classroomId, groupId, studentId });
    const { planData } = change;
    await this.db.query(sql`
      UPDATE lesson_plans SET scope = ${plan.scope}, classroom_id = ${plan.classroomId}, group_id = ${plan.groupId},
        student_id = ${plan.studentId}, title = ${plan.title}, status = ${plan.status}, session_id = ${plan.sessionId},
        scheduled_for = ${plan.scheduledFor?.toISOString() ?? null}, updated_at = now(),
        plan_data = coalesce(${planData ? JSON.stringify(planData) : null}::json, plan_data)
      WHERE organization_id = ${organizationId} AND id = ${id}`);
    return true;
  }

  /** Against being deleted; before the plan, which whoever deletes it locks last. @throws Refused for an unknown one */
  private async lockSession(organizationId: string, id: string | null): Promise<void> {
    if (id === null) return;
    const [session] = await this.db.query(sql`
      SELECT true AS found FROM sessions WHERE organization_id = ${organizationId} AND id = ${id} FOR KEY SHARE`);
    if (!session) throw Refused.notFound();
  }

  private async requireKnown(
    organizationId: string,
    named: Partial<Pick<NewPlan, 'classroomId' | 'groupId' | 'studentId' | 'createdBy'>>,
  ): Promise<void> {
    const { classroomId = null, groupId = null, studentId = null, createdBy = null } = named;
    const own = sql`organization_id = ${organizationId}`;
    const [look] = await this.db.query<Look>(sql`
      SELECT (${classroomId}::uuid IS NULL OR EXISTS (SELECT FROM classrooms WHERE ${own} AND id = ${classroomId} AND NOT is_archived))
          AND (${groupId}::uuid IS NULL OR EXISTS (SELECT FROM student_groups WHERE ${own} AND id = ${groupId} AND NOT is_archived)) AS known,
        (SELECT role FROM members WHERE ${own} AND user_id = ${studentId} AND status = 'accepted') AS student,
        (SELECT role FROM members WHERE ${own} AND user_id = ${createdBy} AND status = 'accepted') AS author`);
    const { known, student, author } = look!;
    if (!known || (studentId && !student) || (createdBy && !author)) throw Refused.notFound();
    if (student) requireRole(student, 'learn', 'student_id');
    if (author) requireRole(author, 'teach', 'created_by');
  }
}
