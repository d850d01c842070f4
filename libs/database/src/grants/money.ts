import type { Grants } from '../grants.js';

/** Invoices, payments and what tutors get. */
export const money: Grants = {
  tables: {
    adjustments: { api: 'SELECT, INSERT, UPDATE (voided, voided_at)', portal: 'SELECT' },
    payouts: { api: 'SELECT, INSERT', portal: 'SELECT' },
    invoices: { api: 'SELECT, INSERT, UPDATE' },
    invoice_lines: { api: 'SELECT, INSERT, DELETE' },
    payments: { api: 'SELECT, INSERT, UPDATE' },
    payment_allocations: { api: 'SELECT, INSERT, UPDATE, DELETE' },
    mileage_trips: {
      api: 'SELECT, UPDATE (status, approved_at)',
      portal: 'SELECT, UPDATE (status, approved_at)',
    },
    expense_claims: {
      api: 'SELECT, UPDATE (status, approved_at, approved_amount_cents)',
      portal: 'SELECT, UPDATE (status, approved_at, approved_amount_cents)',
    },
  },
  functions: {},
};
