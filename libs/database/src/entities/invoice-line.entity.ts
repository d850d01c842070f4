import { Column, Entity, PrimaryColumn } from 'typeorm';
import { cents } from './cents.js';

/** A line of an invoice. */
@Entity('invoice_lines')
export class InvoiceLine {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @Column({ name: 'invoice_id', type: 'uuid' })
  invoiceId: string;

  @Column({ type: 'integer' })
  position: number;

  @Column({ type: 'text', nullable: true })
  description: string | null;

  @Column({ type: 'integer' })
  quantity: number;

  @Column({ name: 'unit_amount_cents', type: 'bigint', transformer: cents })
  unitAmountCents: number;

  @Column({ name: 'amount_cents', type: 'bigint', transformer: cents })
  amountCents: number;

  @Column({ name: 'item_type', type: 'text', nullable: true })
  itemType: 'session' | 'material' | 'fee' | 'discount' | 'other' | null;

  @Column({ name: 'session_id', type: 'uuid', nullable: true })
  sessionId: string | null;
}
