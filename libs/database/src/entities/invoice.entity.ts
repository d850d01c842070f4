import { Column, Entity, PrimaryColumn } from 'typeorm';
import { cents } from './cents.js';

/** An invoice to a student. */
@Entity('invoices')
export class Invoice {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @Column({ name: 'invoice_number', type: 'text' })
  invoiceNumber: string;

  @Column({ name: 'tutor_id', type: 'uuid', nullable: true })
  tutorId: string | null;

  @Column({ name: 'student_id', type: 'uuid' })
  studentId: string;

  @Column({ type: 'text' })
  status: 'draft' | 'open' | 'paid' | 'void';

  @Column({ name: 'amount_due_cents', type: 'bigint', transformer: cents })
  amountDueCents: number;

  @Column({ name: 'amount_paid_cents', type: 'bigint', transformer: cents, default: 0 })
  amountPaidCents: number;

  @Column({ type: 'text' })
  currency: string;

  @Column({ name: 'due_date', type: 'timestamp with time zone', precision: 3, nullable: true })
  dueDate: Date | null;

  @Column({ name: 'sent_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  sentAt: Date | null;

  @Column({ name: 'paid_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  paidAt: Date | null;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;
}
