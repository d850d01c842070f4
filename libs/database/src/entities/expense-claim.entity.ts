import { Column, Entity, PrimaryColumn } from 'typeorm';
import { cents } from './cents.js';

/** An expense that a tutor wants to be paid back. */
@Entity('expense_claims')
export class ExpenseClaim {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @Column({ name: 'tutor_id', type: 'uuid' })
  tutorId: string;

  @Column({ name: 'session_id', type: 'uuid', nullable: true })
  sessionId: string | null;

  @Column({ name: 'expense_date', type: 'date' })
  expenseDate: string;

  @Column({ type: 'text', nullable: true })
  category: string | null;

  @Column({ type: 'text', nullable: true })
  vendor: string | null;

  @Column({ name: 'amount_cents', type: 'bigint', transformer: cents })
  amountCents: number;

  @Column({ name: 'approved_amount_cents', type: 'bigint', nullable: true, transformer: cents })
  approvedAmountCents: number | null;

  @Column({ type: 'text', default: 'logged' })
  status: 'logged' | 'approved' | 'rejected' | 'paid';

  @Column({ name: 'receipt_photo_url', type: 'text', nullable: true })
  receiptPhotoUrl: string | null;

  @Column({ name: 'approved_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  approvedAt: Date | null;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;
}
