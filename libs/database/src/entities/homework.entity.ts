import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * A homework assignment. `organizationId` is derived by the database when the row is created and then stays; null
 * where no rule tells it.
 *
 * No column names its default: TypeORM would ask for the value back (RETURNING), which row-level security refuses for
 * a row that the writer does not see (yet).
 */
@Entity('homework')
export class Homework {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'organization_id', type: 'uuid', nullable: true })
  organizationId: string | null;

  @Column({ name: 'assigned_by', type: 'uuid' })
  assignedBy: string;

  @Column({ type: 'text' })
  title: string;

  @Column({ type: 'text', nullable: true })
  description: string | null;

  @Column({ name: 'homework_type', type: 'text' })
  homeworkType: 'text' | 'exam';

  @Column({ type: 'text' })
  scope: 'classroom' | 'group' | 'student';

  @Column({ name: 'classroom_id', type: 'uuid', nullable: true })
  classroomId: string | null;

  @Column({ name: 'group_id', type: 'uuid', nullable: true })
  groupId: string | null;

  @Column({ name: 'student_id', type: 'uuid', nullable: true })
  studentId: string | null;

  @Column({ name: 'due_date', type: 'timestamp with time zone', precision: 3, nullable: true })
  dueDate: Date | null;

  @Column({ type: 'jsonb' })
  files: unknown[];

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3 })
  createdAt: Date;
}
