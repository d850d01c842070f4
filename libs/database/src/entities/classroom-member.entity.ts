import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A teacher or student of a classroom. */
@Entity('classroom_members')
export class ClassroomMember {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @Column({ name: 'classroom_id', type: 'uuid' })
  classroomId: string;

  @Column({ name: 'user_id', type: 'uuid' })
  userId: string;

  @Column({ type: 'text' })
  role: 'teacher' | 'student';

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;
}
