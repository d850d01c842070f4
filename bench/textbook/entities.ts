import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The table, as tutorials map it: every column, with native JavaScript types. */
@Entity('homework')
export class Homework {
  @PrimaryColumn('uuid')
  id: string;

  @Column('uuid', { name: 'organization_id' })
  organizationId: string;

  @Column('uuid', { name: 'assigned_by' })
  assignedBy: string;

  @Column('text')
  title: string;

  @Column('text', { nullable: true })
  description: string | null;

  @Column('text', { name: 'homework_type' })
  homeworkType: string;

  @Column('text')
  scope: string;

  @Column('uuid', { name: 'classroom_id', nullable: true })
  classroomId: string | null;

  @Column('uuid', { name: 'group_id', nullable: true })
  groupId: string | null;

  @Column('uuid', { name: 'student_id', nullable: true })
  studentId: string | null;

  @Column('timestamptz', { name: 'due_date', nullable: true })
  dueDate: Date | null;

  @Column('jsonb')
  files: unknown[];

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;
}

@Entity('api_keys')
export class ApiKey {
  @PrimaryColumn('uuid')
  id: string;

  @Column('uuid', { name: 'organization_id' })
  organizationId: string;

  @Column('bytea', { name: 'key_hash' })
  keyHash: Buffer;

  @Column('text', { array: true })
  scopes: string[];

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt: Date | null;

  @Column('timestamptz', { name: 'revoked_at', nullable: true })
  revokedAt: Date | null;
}
