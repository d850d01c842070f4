import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A result as an organization sees it, with what lists show of it. Kept by the database: read only. */
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

  @Column({ type: 'integer', nullable: true })
  grade: number | null;

  @Column({ name: 'vce_exam_id', type: 'uuid', nullable: true })
  vceExamId: string | null;

  @Column({ name: 'curriculum_level_id', type: 'uuid', nullable: true })
  curriculumLevelId: string | null;

  @Column({ name: 'homework_assignment_id', type: 'uuid', nullable: true })
  homeworkAssignmentId: string | null;

  @Column({ name: 'started_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  startedAt: Date | null;
}
