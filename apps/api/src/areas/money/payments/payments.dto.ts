import { dayFaults, type Received } from '@app/billing';
import { FIELDS } from '@app/fields';
import { Fault, field, inputOf, type Interdependent, TOGETHER } from '../../../http/kit.js';

/** The ways in which money is received outside of this service. */
const TYPES = ['bank_transfer', 'cash', 'external'] as const;

/** Money that was received. */
export class RecordPayment implements Interdependent {
  @field.Uuid({ nullable: true, description: 'Who paid. It pays this student’s invoices.' })
  student_id?: string | null;

  @field.Uuid({
    nullable: true,
    description: 'Who paid, instead of `student_id`. It pays all their children’s invoices.',
  })
  parent_id?: string | null;

  @field.bodyField(FIELDS.payments.amount_cents, { required: true })
  amount_cents: number;

  @field.OneOf(TYPES, { required: true })
  payment_type: (typeof TYPES)[number];

  @field.Uuid({ nullable: true, description: 'The open invoice that the money was sent for. It is paid first.' })
  invoice_id?: string | null;

  @field.Uuid({ nullable: true, description: 'A session that the student, or a child of the parent, takes part in.' })
  session_id?: string | null;

  @field.Day({ nullable: true, description: 'A day of the organization’s time zone, today if left out.' })
  received_on?: string | null;

  @field.bodyField(FIELDS.payments.reference, { nullable: true, description: 'What the bank or the payer calls it.' })
  reference?: string | null;

  @field.bodyField(FIELDS.payments.currency, { nullable: true, description: 'The organization’s own.' })
  currency?: string | null;

  @field.Flag({ default: false, description: 'Whether a receipt is mailed to whoever pays.' })
  receipt = false;

  [TOGETHER](zone: string): Fault[] {
    const given = (['student_id', 'parent_id'] as const).filter((name) => (this[name] ?? null) !== null);
    const day = typeof this.received_on === 'string' ? dayFaults(this.received_on, zone) : [];
    return [
      ...(given.length === 0 ? [new Fault('missing', 'Send one of: student_id, parent_id.', ['student_id'])] : []),
      ...(given.length === 2 ? [new Fault('value_error', 'Send either this or student_id.', ['parent_id'])] : []),
      ...day.map(({ at, reason }) => new Fault('value_error', reason, at)),
    ];
  }
}

/** Money that goes back. */
export class RefundPayment {
  @field.bodyField(FIELDS.payments.amount_cents, {
    required: true,
    description: 'At most what is left of the payment.',
  })
  amount_cents: number;
}

export const receivedBy = (body: RecordPayment): Received => ({
  ...inputOf(body),
  payer: body.student_id ? { studentId: body.student_id } : { parentId: body.parent_id! },
  type: body.payment_type,
});
