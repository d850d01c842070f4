import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, findId, type Tables } from '@app/database';
import { Refused } from '@app/rules';
import { InviteTargets } from './invites/invite-targets.js';
import { Invites } from './invites/invites.js';
import { ClassMembers } from './class-members.js';
import type { Provisioner } from './provisioning/people.js';

/** What classrooms and groups have in common. The subject by its id or code. */
interface NewClass {
  name: string;
  tutorId: string | null;
  subject: string | null;
}

export interface NewClassroom extends NewClass {
  priceCents: number | null;
  billingInterval: Tables['classrooms']['billingInterval'];
}

export interface NewGroup extends NewClass {
  classroomId: string | null;
  ratePerStudentCents: number | null;
  color: string | null;
  studentIds: string[];
}

/** Opens classrooms and groups inside the ambient transaction. */
@Injectable()
export class Classes {
  constructor(
    private readonly db: Database,
    private readonly members: ClassMembers,
    private readonly invites: Invites,
    private readonly targets: InviteTargets,
  ) {}

  /**
   * Opens a classroom with its teacher and its join code.
   *
   * @returns its id
   * @throws Refused for a price without its interval, an unknown tutor or subject, and at `tutor_id` for a student
   */
  async openClassroom({ organizationId, keyId }: Provisioner, wanted: NewClassroom): Promise<string> {
    const { name, tutorId, priceCents, billingInterval } = wanted;
    if (priceCents !== null && billingInterval === null)
      throw Refused.invalid('Must be given with price_cents.', 'billing_interval');
    const subjectId = await findId(this.db, 'subjects', organizationId, wanted.subject);
    if (tutorId) await this.members.requireStaff(organizationId, tutorId);
    const classroom = { kind: 'classroom', id: uuidv7() } as const;
    await this.db.query(sql`
      INSERT INTO classrooms (id, organization_id, name, tutor_id, subject_id, price_cents, billing_interval)
      VALUES (${classroom.id}, ${organizationId}, ${name}, ${tutorId}, ${subjectId}, ${priceCents}, ${billingInterval})`);
    if (tutorId) await this.members.add(organizationId, classroom, tutorId, 'teacher');
    const code = { scope: 'classroom', role: 'student', targetId: classroom.id, code: true, apiKeyId: keyId } as const;
    await this.invites.mint(organizationId, [code]);
    return classroom.id;
  }

  /**
   * Opens a group with its tutor and students.
   *
   * @returns its id
   * @throws Refused for an unknown person, classroom or subject, and at the id of somebody with another role
   */
  async openGroup({ organizationId }: Provisioner, wanted: NewGroup): Promise<string> {
    const { name, tutorId, classroomId, ratePerStudentCents, color, studentIds } = wanted;
    const subjectId = await findId(this.db, 'subjects', organizationId, wanted.subject);
    if (classroomId && !(await this.targets.has(organizationId, 'classroom', classroomId))) throw Refused.notFound();
    await this.db.lockPeople(organizationId, tutorId ? [tutorId, ...studentIds] : studentIds);
    if (tutorId) await this.members.requireStaff(organizationId, tutorId);
    await this.members.requireStudents(organizationId, studentIds);
    const group = { kind: 'group', id: uuidv7() } as const;
    await this.db.query(sql`
      INSERT INTO student_groups (id, owner_organization_id, organization_id, name, tutor_id, classroom_id, subject_id,
        rate_per_student_cents, color)
      VALUES (${group.id}, ${organizationId}, ${organizationId}, ${name}, ${tutorId}, ${classroomId}, ${subjectId},
        ${ratePerStudentCents}, ${color})`);
    if (tutorId) await this.members.add(organizationId, group, tutorId, 'tutor');
    await this.members.addStudents(group.id, studentIds);
    return group.id;
  }
}
