import { Column, Entity, PrimaryColumn } from 'typeorm';
import { cents } from './cents.js';

/** A classroom of an organization. */
@Entity('classrooms')
export class Classroom {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ name: 'tutor_id', type: 'uuid', nullable: true })
  tutorId: string | null;

  @Column({ name: 'subject_id', type: 'uuid', nullable: true })
  subjectId: string | null;

  @Column({ name: 'price_cents', type: 'bigint', nullable: true, transformer: cents })
  priceCents: number | null;

  @Column({ name: 'billing_interval', type: 'text', nullable: true })
  billingInterval: 'session' | 'week' | 'month' | 'term' | 'year' | null;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;

  @Column({ name: 'updated_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  updatedAt: Date;
}
