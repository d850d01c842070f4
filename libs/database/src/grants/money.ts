import type { Grants } from './grants.js';

/** Invoices, payments and what tutors get. */
export const money: Grants = {
  tables: {
    adjustments: {
      api: 'SELECT, INSERT, UPDATE (voided, voided_at)',
      portal: 'SELECT, INSERT, UPDATE (voided, voided_at)',
    },
    payouts: {
      api: 'SELECT, INSERT, UPDATE (taken_back, taken_back_at, void_reason)',
      portal: 'SELECT, INSERT, UPDATE (taken_back, taken_back_at, void_reason)',
    },
    // The worker draws what it mails.
    invoices: {
      api: 'SELECT, INSERT, UPDATE, DELETE',
      worker: 'SELECT',
      portal: `SELECT, INSERT, UPDATE (invoice_number, status, amount_due_cents, amount_paid_cents, due_date, sent_at, paid_at,
        collecting, rebilled, snapshot, tax_cents, billed_parent_id, sent_to, mailed_at,
        adjustment_note_number, adjusted_on)`,
    },
    invoice_lines: {
      api: 'SELECT, INSERT, UPDATE (tax), DELETE',
      worker: 'SELECT',
      portal: 'SELECT, INSERT, UPDATE (tax), DELETE',
    },
    payments: {
      api: 'SELECT, INSERT, UPDATE',
      worker: 'SELECT',
      portal: 'SELECT, INSERT, UPDATE (status, refund_amount_cents, credit_cents, taken_back_at, void_reason)',
    },
    payment_allocations: {
      api: 'SELECT, INSERT, UPDATE, DELETE',
      portal: 'SELECT, INSERT, UPDATE (amount_cents), DELETE',
    },
    mileage_trips: {
      api: 'SELECT, INSERT, UPDATE, DELETE',
      portal: 'SELECT, INSERT, UPDATE (status, approved_at), DELETE',
    },
    expense_claims: {
      api: 'SELECT, INSERT, UPDATE, DELETE',
      portal: 'SELECT, INSERT, UPDATE (status, approved_at, approved_amount_cents), DELETE',
    },
  },
  functions: {},
};
