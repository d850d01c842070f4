import { Column, Entity, PrimaryColumn } from 'typeorm';
import { cents } from './cents.js';

/**
 * A group of students. `organizationId` is kept by the database and tells where the group is seen: in the organization
 * that owns it, else in the only one of its tutor.
 *
 * No column names its default: TypeORM would ask for the value back (RETURNING), which row-level security refuses for
 * a row that the writer does not see (yet).
 */
@Entity('student_groups')
export class StudentGroup {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'owner_organization_id', type: 'uuid', nullable: true })
  ownerOrganizationId: string | null;

  @Column({ name: 'organization_id', type: 'uuid', nullable: true })
  organizationId: string | null;

  @Column({ type: 'text' })
  name: string;

  @Column({ name: 'tutor_id', type: 'uuid', nullable: true })
  tutorId: string | null;

  @Column({ name: 'classroom_id', type: 'uuid', nullable: true })
  classroomId: string | null;

  @Column({ name: 'subject_id', type: 'uuid', nullable: true })
  subjectId: string | null;

  @Column({ name: 'rate_per_student_cents', type: 'bigint', nullable: true, transformer: cents })
  ratePerStudentCents: number | null;

  @Column({ type: 'text', nullable: true })
  color: string | null;

  @Column({ name: 'avatar_url', type: 'text', nullable: true })
  avatarUrl: string | null;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3 })
  createdAt: Date;

  @Column({ name: 'updated_at', type: 'timestamp with time zone', precision: 3 })
  updatedAt: Date;
}
