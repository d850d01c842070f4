import { Column, Entity, PrimaryColumn } from 'typeorm';
import { cents } from './cents.js';

/** A trip that a tutor wants to be paid for. */
@Entity('mileage_trips')
export class MileageTrip {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @Column({ name: 'tutor_id', type: 'uuid' })
  tutorId: string;

  @Column({ name: 'session_id', type: 'uuid', nullable: true })
  sessionId: string | null;

  @Column({ name: 'trip_date', type: 'date' })
  tripDate: string;

  @Column({ type: 'text', nullable: true })
  destination: string | null;

  @Column({ name: 'distance_km', type: 'double precision' })
  distanceKm: number;

  @Column({ name: 'duration_minutes', type: 'integer', nullable: true })
  durationMinutes: number | null;

  @Column({ type: 'text', nullable: true })
  vehicle: string | null;

  @Column({ name: 'tracking_method', type: 'text', nullable: true })
  trackingMethod: 'manual' | 'gps' | null;

  @Column({ type: 'text', default: 'logged' })
  status: 'logged' | 'approved' | 'rejected' | 'paid';

  @Column({ name: 'rate_cents', type: 'bigint', nullable: true, transformer: cents })
  rateCents: number | null;

  @Column({ name: 'amount_cents', type: 'bigint', nullable: true, transformer: cents })
  amountCents: number | null;

  @Column({ name: 'approved_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  approvedAt: Date | null;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;
}
