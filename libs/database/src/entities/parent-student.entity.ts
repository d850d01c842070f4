import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The link of a parent to a child, within an organization. */
@Entity('parent_students')
export class ParentStudent {
  @PrimaryColumn({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @PrimaryColumn({ name: 'parent_id', type: 'uuid' })
  parentId: string;

  @PrimaryColumn({ name: 'student_id', type: 'uuid' })
  studentId: string;

  @Column({ name: 'linked_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  linkedAt: Date;
}
