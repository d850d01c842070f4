import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A tutor who teaches a student in an organization, in one subject or, without one, in general. */
@Entity('tutor_students')
export class TutorStudent {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @Column({ name: 'tutor_id', type: 'uuid' })
  tutorId: string;

  @Column({ name: 'student_id', type: 'uuid' })
  studentId: string;

  @Column({ name: 'subject_id', type: 'uuid', nullable: true })
  subjectId: string | null;

  @Column({ type: 'text', default: 'active' })
  status: 'active' | 'archived';

  @Column({ name: 'archived_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  archivedAt: Date | null;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;
}
