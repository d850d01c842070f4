import type { Grants } from '../grants.js';

/** Invoices, payments and what tutors get. */
export const money: Grants = {
  tables: {
    adjustments: { api: 'SELECT' },
    invoices: { api: 'SELECT, INSERT, UPDATE' },
    invoice_lines: { api: 'SELECT, INSERT, DELETE' },
    payments: { api: 'SELECT, INSERT, UPDATE' },
    payment_allocations: { api: 'SELECT, INSERT, UPDATE, DELETE' },
    mileage_trips: { api: 'SELECT' },
    expense_claims: { api: 'SELECT' },
  },
  functions: {},
};
