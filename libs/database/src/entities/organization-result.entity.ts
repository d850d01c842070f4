import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A result as an organization sees it, with what lists filter by. Kept by the database: read only. */
@Entity('organization_results')
export class OrganizationResult {
  @PrimaryColumn({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @PrimaryColumn({ name: 'result_id', type: 'uuid' })
  resultId: string;

  @Column({ name: 'student_id', type: 'uuid' })
  studentId: string;

  @Column({ type: 'text' })
  status: 'not_started' | 'in_progress' | 'submitted' | 'completed';

  @Column({ type: 'text' })
  mode: 'vce_exam' | 'topic_practice' | 'sac' | 'homework';

  @Column({ name: 'completed_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  completedAt: Date | null;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3 })
  createdAt: Date;
}
