import { SHOWN_BUYER } from '@app/billing';
import { VALUES } from '@app/database';
import {
  between, byId, byValue, cents, day, instant, integer, json, kept, kinds, like, list, nullable, objectOf, oneOf,
  parameter, type RecordDeclaration, Source, text, UUID, uuid, View,
} from '../../../http/kit.js'; // prettier-ignore

const LINES = `(SELECT coalesce('[' || string_agg(row_to_json(n)::text, ',') || ']', '[]')::json FROM (
  SELECT l.id, l.description, l.quantity, l.unit_amount_cents, l.amount_cents, l.item_type, l.session_id, l.tax FROM invoice_lines l
  WHERE l.organization_id = i.organization_id AND l.invoice_id = i.id ORDER BY l.position) n)`;

const line = objectOf({
  id: UUID,
  description: nullable(text('', 'Methods lesson on 1 May 2026, 90 minutes')).schema,
  quantity: like(nullable(integer('', { minimum: 0 })), 1).schema,
  unit_amount_cents: like(nullable(cents('')), 12000).schema,
  amount_cents: like(nullable(cents('')), 12000).schema,
  item_type: nullable(oneOf('', VALUES.invoice_lines.item_type)).schema,
  session_id: nullable(uuid('')).schema,
  tax: nullable(oneOf('', VALUES.invoice_lines.tax)).schema,
});

const billedTo = objectOf({
  student_name: nullable(text('', 'Mia Nguyen')).schema,
  name: nullable(text('', 'Linh Nguyen')).schema,
  address: nullable(text('', '4 Station Street, Footscray VIC 3011')).schema,
});

const stored = (column: ReturnType<typeof cents>) => ({ ...column, schema: kept(column.schema) });

export const INVOICES = list({
  id: 'list_invoices',
  path: 'v1/invoices',
  summary: 'Lists invoices, newest first',
  view: new View('Invoice', {
    id: uuid('i.id'),
    invoice_number: nullable(text('i.invoice_number', 'INV-000001')),
    tutor_id: like(nullable(uuid('i.tutor_id')), null),
    student_id: nullable(uuid('i.student_id')),
    status: like(nullable(oneOf('i.status', VALUES.invoices.status)), 'open'),
    amount_due_cents: like(nullable(cents('i.amount_due_cents')), 12000),
    amount_paid_cents: like(nullable(cents('i.amount_paid_cents')), 5000),
    currency: nullable(text('i.currency', 'AUD')),
    due_date: like(nullable(day('i.due_date')), '2026-05-15'),
    sent_at: nullable(instant('i.sent_at')),
    paid_at: like(nullable(instant('i.paid_at')), null),
    created_at: nullable(instant('i.created_at')),
    // What is settled at the issue tells what was stored before.
    tax_cents: stored(like(nullable(cents('i.tax_cents')), 1091)),
    billed_to: stored(nullable(json(SHOWN_BUYER('i'), billedTo))),
    adjustment_note_number: stored(like(nullable(text('i.adjustment_note_number', 'ADJ-000001')), null)),
    sent_to: stored(like(nullable(text(`CASE WHEN NOT i.person_erased THEN i.sent_to END`, 'linh@example.org')), null)),
    mailed_at: stored(like(nullable(instant('i.mailed_at')), null)),
    line_items: json(LINES, { type: 'array', items: line }),
  }),
  source: new Source('invoices', 'i'),
  parameters: [
    byId('student_id', 'Only invoices of this student.'),
    byValue('status', VALUES.invoices.status, 'Only invoices in this state.'),
    parameter('invoice_number', kinds.text({ min: 1, max: 100 }), 'Only the invoice with exactly this number.', {
      column: 'invoice_number',
      comparison: 'equals',
    }),
    ...between('created_at', {
      from: 'Created at or after this ISO 8601 date or date-time.',
      to: 'Created at or before this ISO 8601 date or date-time; a date includes the whole day.',
    }),
  ],
});

export const INVOICE: RecordDeclaration = {
  id: 'get_invoice',
  path: 'v1/invoices/:invoice_id',
  summary: 'Returns one invoice with its lines',
  view: INVOICES.view,
  source: INVOICES.source,
};
