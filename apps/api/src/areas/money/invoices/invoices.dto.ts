import type { WrittenLine } from '@app/billing';
import { VALUES } from '@app/database';
import { FIELDS } from '@app/fields';
import { field } from '../../../http/kit.js';

/** Something to pay for, or a discount. */
export class AddLine {
  @field.bodyField(FIELDS.invoice_lines.description, { required: true })
  description: string;

  @field.bodyField(FIELDS.invoice_lines.quantity, { default: 1 })
  quantity = 1;

  @field.bodyField(FIELDS.invoice_lines.unit_amount_cents, {
    required: true,
    description: 'Of one; negative for a discount.',
  })
  unit_amount_cents: number;

  @field.OneOf(VALUES.invoice_lines.tax, {
    nullable: true,
    description: 'Left out: as the organization says when the invoice is issued.',
  })
  tax?: 'taxable' | 'free' | null;
}

/** A draft beside the one that collects what lessons cost. */
export class CreateInvoice {
  @field.Uuid({ required: true, description: 'Also one who has left.' })
  student_id: string;

  @field.Objects(AddLine, { max: 100 }, { default: [], description: 'Lines can also be added later.' })
  lines: AddLine[] = [];
}

/** When an invoice is to be paid. */
export class FinalizeInvoice {
  @field.Day({
    nullable: true,
    description: 'A day of the organization’s time zone. Left out: today, and the organization’s terms of payment.',
  })
  due_date?: string | null;

  @field.Flag({ default: false, description: 'Whether it is mailed to whoever pays.' })
  send = false;
}

/** What becomes of the lines of an invoice that is taken back. */
export class VoidInvoice {
  @field.Flag({
    nullable: true,
    description: 'Puts its lines on the student’s collecting draft; no if left out. Again, it must be what was done.',
  })
  rebill?: boolean | null;
}

export const lineOf = ({ description, quantity, unit_amount_cents, tax }: AddLine): WrittenLine => ({
  description,
  quantity,
  unitCents: BigInt(unit_amount_cents),
  tax: tax ?? null,
});
