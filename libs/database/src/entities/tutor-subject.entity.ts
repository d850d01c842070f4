import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A subject that a tutor teaches in an organization. */
@Entity('tutor_subjects')
export class TutorSubject {
  @PrimaryColumn({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @PrimaryColumn({ name: 'user_id', type: 'uuid' })
  userId: string;

  @PrimaryColumn({ name: 'subject_id', type: 'uuid' })
  subjectId: string;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;
}
