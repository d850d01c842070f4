import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, lockRecord } from '@app/database';
import { ClassMembers, type ClassRef, type ClassRole, Invites, type Provisioner } from '@app/people';
import { Rows, type RowTable, type Values } from '@app/rows';
import { Refused } from '@app/rules';
import { ClassLessons } from '@app/scheduling';

const CLASSES: Record<ClassRef['kind'], RowTable> = {
  classroom: { table: 'classrooms', references: { subject_id: { table: 'subjects' } }, stamped: true },
  group: {
    table: 'student_groups',
    references: { subject_id: { table: 'subjects' }, classroom_id: { table: 'classrooms' } },
    stamped: true,
  },
};

/** Changes classrooms and groups, and who is in them, in the ambient transaction. */
@Injectable()
export class ClassChanges {
  constructor(
    private readonly db: Database,
    private readonly rows: Rows,
    private readonly members: ClassMembers,
    private readonly invites: Invites,
    private readonly lessons: ClassLessons,
  ) {}

  /**
   * A new tutor gets a place; the former one keeps theirs. One that is archived has no codes; one that is brought back gets a new one.
   *
   * @returns whether anything changed
   * @throws Refused for an unknown class, tutor, subject or classroom, and at `tutor_id` for a student
   */
  async change(
    { organizationId, keyId }: Pick<Provisioner, 'organizationId' | 'keyId'>,
    ref: ClassRef,
    values: Values,
  ): Promise<boolean> {
    const { tutor_id: tutorId, is_archived: archived } = values as { tutor_id?: string | null; is_archived?: boolean };
    if (tutorId) await this.members.requireStaff(organizationId, tutorId);
    const { table } = CLASSES[ref.kind];
    const stored = await lockRecord<{ is_archived: boolean }>(this.db, table, organizationId, ref.id, sql`is_archived`);
    if (ref.kind === 'group' && tutorId !== undefined) await this.members.own(organizationId, ref.id);
    const changed = await this.rows.change(organizationId, CLASSES[ref.kind], ref.id, values);
    if (tutorId) await this.members.add(organizationId, ref, tutorId, ref.kind === 'classroom' ? 'teacher' : 'tutor');
    if (archived === undefined || archived === stored.is_archived) return changed;
    if (archived) {
      await this.db.query(sql`
        UPDATE invites SET revoked_at = now() WHERE organization_id = ${organizationId} AND scope = ${ref.kind}
          AND target_id = ${ref.id} AND accepted_at IS NULL AND revoked_at IS NULL`);
    } else if (ref.kind === 'classroom') {
      const code = { scope: 'classroom', role: 'student', targetId: ref.id, code: true, apiKeyId: keyId } as const;
      await this.invites.mint(organizationId, [code]);
    }
    return changed;
  }

  /** A student who joins takes part in the lessons ahead. @returns the place's id, and whether it is new @throws Refused like ClassMembers.give */
  async admit(organizationId: string, ref: ClassRef, userId: string, as: ClassRole) {
    await this.lessons.lock(organizationId, [ref.id]);
    const given = await this.members.give(organizationId, ref, userId, as);
    if (given.changed && as === 'student') await this.lessons.join(organizationId, ref, userId);
    return given;
  }

  /** The lessons ahead go on without a student who is taken out. @throws Refused for somebody who has no such place */
  async dismiss(organizationId: string, ref: ClassRef, userId: string, as: ClassRole): Promise<void> {
    await this.lessons.lock(organizationId, [ref.id]);
    if (!(await this.members.take(organizationId, ref, userId, as))) throw Refused.notFound();
    if (as === 'student') await this.lessons.leave(organizationId, ref, userId);
  }
}
