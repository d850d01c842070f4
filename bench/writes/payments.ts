import { v7 as uuidv7 } from 'uuid';
import { asAdmin, idOf } from '../database.js';
import type { Bench, Server } from '../bench.js';
import { atMost } from '../tables.js';
import { measureAgainstBare } from './against-bare.js';

/** An invoice that no run pays off. */
const INVOICE = `INSERT INTO invoices (id, organization_id, student_id, invoice_number, status, amount_due_cents, currency, due_date, sent_at)
  VALUES ($1, $2, $3, $4, 'open', 1000000000, 'AUD', '2030-01-01', now())`;

const WRITES = [
  `INSERT INTO payments (id, organization_id, student_id, amount_cents, currency, payment_type, status, received_on, recorded)
   VALUES ($1, $2, $3, $4, 'AUD', 'cash', 'succeeded', current_date, true)`,
  `INSERT INTO payment_allocations (id, organization_id, payment_id, invoice_id, amount_cents) VALUES ($1, $2, $3, $4, $5)`,
  `UPDATE invoices SET amount_paid_cents = amount_paid_cents + $3 WHERE organization_id = $1 AND id = $2`,
] as const;

const CENTS = 100;

/** Compares a payment of an open invoice with the writes of its rows alone. */
export async function measurePayments(bench: Bench, api: Server): Promise<void> {
  const { organizationId, adminUrl } = bench.database;
  const [student, other] = [idOf(organizationId, 'student1'), idOf(organizationId, 'student2')];
  const [paid, barelyPaid] = [uuidv7(), uuidv7()];
  await asAdmin(adminUrl, async (admin) => {
    await admin.query(INVOICE, [paid, organizationId, student, 'BENCH-1']);
    await admin.query(INVOICE, [barelyPaid, organizationId, other, 'BENCH-2']);
  });
  const bare = () => {
    const payment = uuidv7();
    return [
      { name: 'payment', text: WRITES[0], values: [payment, organizationId, other, CENTS] },
      { name: 'applied', text: WRITES[1], values: [uuidv7(), organizationId, payment, barelyPaid, CENTS] },
      { name: 'paid', text: WRITES[2], values: [organizationId, barelyPaid, CENTS] },
    ];
  };
  await measureAgainstBare(bench, api, {
    what: 'Payment of an invoice',
    path: '/v1/payments',
    body: () => ({ student_id: student, amount_cents: CENTS, payment_type: 'cash' }),
    bare,
    tables: ['payments', 'payment_allocations'],
    target: atMost(4),
  });
}
