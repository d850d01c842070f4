import { Column, Entity, PrimaryColumn } from 'typeorm';
import { cents } from './cents.js';

/** A manual credit or debit in the payroll of a tutor, for a period. */
@Entity('adjustments')
export class Adjustment {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @Column({ name: 'tutor_id', type: 'uuid' })
  tutorId: string;

  @Column({ name: 'period_start', type: 'date' })
  periodStart: string;

  @Column({ name: 'period_end', type: 'date' })
  periodEnd: string;

  @Column({ name: 'amount_cents', type: 'bigint', transformer: cents })
  amountCents: number;

  @Column({ type: 'text', nullable: true })
  note: string | null;

  @Column({ type: 'boolean', default: false })
  voided: boolean;

  @Column({ name: 'voided_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  voidedAt: Date | null;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;
}
