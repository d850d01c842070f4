import { Column, Entity, PrimaryColumn } from 'typeorm';
import { cents } from './cents.js';

/** A payment received. */
@Entity('payments')
export class Payment {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @Column({ name: 'session_id', type: 'uuid', nullable: true })
  sessionId: string | null;

  @Column({ name: 'student_id', type: 'uuid', nullable: true })
  studentId: string | null;

  @Column({ name: 'tutor_id', type: 'uuid', nullable: true })
  tutorId: string | null;

  @Column({ name: 'amount_cents', type: 'bigint', transformer: cents })
  amountCents: number;

  @Column({ name: 'refund_amount_cents', type: 'bigint', nullable: true, transformer: cents })
  refundAmountCents: number | null;

  @Column({ type: 'text' })
  currency: string;

  @Column({ name: 'payment_type', type: 'text' })
  paymentType: 'card' | 'bank_transfer' | 'cash' | 'external';

  @Column({ type: 'text' })
  status: 'pending' | 'succeeded' | 'failed' | 'refunded' | 'disputed' | 'canceled';

  @Column({ name: 'stripe_payment_intent_id', type: 'text', nullable: true })
  stripePaymentIntentId: string | null;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;
}
