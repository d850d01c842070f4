import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * Feedback on a tutor. `organizationId` is stamped by the database at submission; a legacy row has none and is seen by
 * nobody.
 *
 * No column names its default: TypeORM would ask for the value back (RETURNING), which row-level security refuses for
 * a row that the writer does not see (yet).
 */
@Entity('session_feedback')
export class SessionFeedback {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'organization_id', type: 'uuid', nullable: true })
  organizationId: string | null;

  @Column({ type: 'boolean' })
  legacy: boolean;

  @Column({ name: 'session_id', type: 'uuid', nullable: true })
  sessionId: string | null;

  @Column({ name: 'tutor_id', type: 'uuid' })
  tutorId: string;

  @Column({ name: 'reviewer_id', type: 'uuid', nullable: true })
  reviewerId: string | null;

  @Column({ name: 'reviewer_role', type: 'text', nullable: true })
  reviewerRole: 'student' | 'parent' | 'tutor' | null;

  @Column({ type: 'integer' })
  rating: number;

  @Column({ type: 'boolean', nullable: true })
  recommend: boolean | null;

  @Column({ type: 'boolean', nullable: true })
  prepared: boolean | null;

  @Column({ name: 'positive_tags', type: 'text', array: true })
  positiveTags: string[];

  @Column({ name: 'improve_tags', type: 'text', array: true })
  improveTags: string[];

  @Column({ type: 'text', nullable: true })
  comment: string | null;

  @Column({ name: 'has_comment', type: 'boolean', insert: false, update: false })
  hasComment: boolean;

  @Column({ name: 'is_public', type: 'boolean' })
  isPublic: boolean;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3 })
  createdAt: Date;
}
