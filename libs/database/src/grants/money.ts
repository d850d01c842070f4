import type { Grants } from '../grants.js';

/** Invoices, payments and what tutors get. */
export const money: Grants = {
  tables: {
    adjustments: { api: 'SELECT, INSERT, UPDATE (voided, voided_at)', portal: 'SELECT' },
    payouts: { api: 'SELECT, INSERT', portal: 'SELECT' },
    invoices: { api: 'SELECT' },
    invoice_lines: {},
    payments: { api: 'SELECT' },
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
