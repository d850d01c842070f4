import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How often a student stands in the sessions of an organization. Kept by the database: read only. */
@Entity('session_students')
export class SessionStudent {
  @PrimaryColumn({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @PrimaryColumn({ name: 'student_id', type: 'uuid' })
  studentId: string;

  @Column({ type: 'integer' })
  occurrences: number;
}
