import { Column, Entity, PrimaryColumn } from 'typeorm';
import { cents } from './cents.js';

/** A lesson, past or to come. */
@Entity('sessions')
export class Session {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @Column({ type: 'text', default: 'scheduled' })
  status: 'scheduled' | 'completed' | 'cancelled';

  @Column({ type: 'text', nullable: true })
  title: string | null;

  @Column({ name: 'tutor_id', type: 'uuid', nullable: true })
  tutorId: string | null;

  @Column({ name: 'student_id', type: 'uuid', nullable: true })
  studentId: string | null;

  @Column({ name: 'subject_id', type: 'uuid', nullable: true })
  subjectId: string | null;

  @Column({ name: 'starts_at', type: 'timestamp with time zone', precision: 3 })
  startsAt: Date;

  @Column({ name: 'ends_at', type: 'timestamp with time zone', precision: 3 })
  endsAt: Date;

  @Column({ name: 'duration_minutes', type: 'integer' })
  durationMinutes: number;

  @Column({ name: 'tutor_pay_rate_cents', type: 'bigint', nullable: true, transformer: cents })
  tutorPayRateCents: number | null;

  @Column({ name: 'student_rate_cents', type: 'bigint', nullable: true, transformer: cents })
  studentRateCents: number | null;

  @Column({ name: 'amount_owed_cents', type: 'bigint', nullable: true, transformer: cents })
  amountOwedCents: number | null;

  @Column({ type: 'text', nullable: true })
  mode: 'online' | 'in_person' | null;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;

  @Column({ name: 'updated_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  updatedAt: Date;

  @Column({ name: 'completed_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  completedAt: Date | null;

  @Column({ name: 'cancelled_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  cancelledAt: Date | null;
}
