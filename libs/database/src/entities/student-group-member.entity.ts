import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A tutor or student of a group. */
@Entity('student_group_members')
export class StudentGroupMember {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'group_id', type: 'uuid' })
  groupId: string;

  @Column({ name: 'user_id', type: 'uuid' })
  userId: string;

  @Column({ type: 'text' })
  role: 'tutor' | 'student';

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;
}
