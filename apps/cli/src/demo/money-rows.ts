import { dayOf } from '@app/scheduling';
import { allInvoices, TERMS_DAYS } from './invoicing.js';
import type { Rows, TableRows } from './rows.js';
import { iso, type School } from './school.js';

const TYPES = ['card', 'bank_transfer', 'cash', 'external'];
const HOUR = 3_600_000;

function* invoices(school: School): Rows {
  let [index, issued] = [0, 0];
  for (const { status, student, due, paid, receipts, createdAt, issuedOn } of allInvoices(school)) {
    if (issuedOn !== null) issued++;
    yield {
      id: school.id('invoice', index++),
      invoice_number: issuedOn === null ? null : `INV-${String(issued).padStart(6, '0')}`,
      tutor_id: school.teacherOf(student).id,
      student_id: school.studentId(student),
      status,
      amount_due_cents: due,
      amount_paid_cents: paid,
      currency: school.profile.currency,
      due_date: issuedOn === null ? null : school.clock.date(issuedOn + TERMS_DAYS),
      sent_at: issuedOn === null ? null : iso(createdAt + HOUR),
      paid_at:
        status === 'paid'
          ? iso(Math.max(...receipts.map(({ status: one, at }) => (one === 'succeeded' ? at : 0))))
          : null,
      created_at: iso(createdAt),
    };
  }
}

function* invoiceLines(school: School): Rows {
  let [invoice, index] = [0, 0];
  for (const { lines } of allInvoices(school)) {
    const invoice_id = school.id('invoice', invoice++);
    for (const [position, { description, quantity, unit, type, sessionId }] of lines.entries()) {
      yield {
        id: school.id('invoice-line', index++),
        invoice_id,
        position,
        description,
        quantity,
        unit_amount_cents: unit,
        amount_cents: quantity * unit,
        item_type: type,
        session_id: sessionId,
        // Most leave it to the subject and the organization.
        tax: index % 9 === 0 ? 'free' : index % 5 === 0 ? 'taxable' : null,
      };
    }
  }
}

/** What families paid, and tried to, for their invoices. */
function* payments(school: School): Rows {
  let [invoice, index] = [0, 0];
  for (const { student, lines, receipts } of allInvoices(school)) {
    const invoice_id = school.id('invoice', invoice++);
    for (const { status, amount, refunded, at } of receipts) {
      const id = school.id('payment', index);
      // Money that did not arrive, or not yet, is a card's.
      const arrived = status === 'succeeded' || status === 'refunded';
      const type = arrived ? TYPES[index % TYPES.length]! : 'card';
      index++;
      yield {
        id,
        invoice_id,
        session_id: lines.length === 1 ? lines[0]!.sessionId : null,
        student_id: school.studentId(student),
        tutor_id: school.teacherOf(student).id,
        amount_cents: amount,
        refund_amount_cents: refunded || null,
        currency: school.profile.currency,
        payment_type: type,
        status,
        stripe_payment_intent_id: type === 'card' ? `pi_demo_${id.replaceAll('-', '')}` : null,
        received_on: dayOf(new Date(at), school.profile.timeZone),
        created_at: iso(at),
      };
    }
  }
}

export const moneyRows: TableRows = { invoices, invoice_lines: invoiceLines, payments };
