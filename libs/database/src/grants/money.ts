import type { Grants } from '../grants.js';

/** Invoices, payments and what tutors get. */
export const money: Grants = {
  tables: {
    adjustments: { api: 'SELECT' },
    invoices: { api: 'SELECT' },
    invoice_lines: {},
    payments: { api: 'SELECT' },
    mileage_trips: { api: 'SELECT' },
    expense_claims: { api: 'SELECT' },
  },
  functions: {},
};
