import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * An attempt of a student at an exam or exercise. It belongs to the student; `OrganizationResult` tells who sees it.
 *
 * No column names its default: TypeORM would ask for the value back (RETURNING), which row-level security refuses for
 * a row that the writer does not see (yet).
 */
@Entity('results')
export class Result {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'student_id', type: 'uuid' })
  studentId: string;

  @Column({ type: 'text' })
  status: 'not_started' | 'in_progress' | 'submitted' | 'completed';

  @Column({ type: 'integer', nullable: true })
  grade: number | null;

  @Column({ type: 'text' })
  mode: 'vce_exam' | 'topic_practice' | 'sac' | 'homework';

  @Column({ name: 'vce_exam_id', type: 'uuid', nullable: true })
  vceExamId: string | null;

  @Column({ name: 'curriculum_level_id', type: 'uuid', nullable: true })
  curriculumLevelId: string | null;

  @Column({ name: 'homework_assignment_id', type: 'uuid', nullable: true })
  homeworkAssignmentId: string | null;

  @Column({ name: 'started_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  startedAt: Date | null;

  @Column({ name: 'completed_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  completedAt: Date | null;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3 })
  createdAt: Date;
}
