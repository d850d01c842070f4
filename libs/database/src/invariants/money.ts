import { TAKES_PART } from '../schema/scheduling.js';
import type { Invariant } from './invariant.js';

/** Whether the invoice `i` was issued here: what was imported as issued is history, and need not add up. */
const ISSUED = `EXISTS (SELECT FROM audit_log u WHERE u.organization_id = i.organization_id AND u.status < 400
  AND u.details ->> 'invoice_id' = i.id::text AND u.operation LIKE 'POST /v1/invoices/%/finalize')`;

/** What of payments is applied, by invoice or by payment, as `a.cents`. */
const applied = (to: 'i.id' | 'p.id') => `LEFT JOIN LATERAL (SELECT coalesce(sum(x.amount_cents), 0) AS cents
  FROM payment_allocations x WHERE x.organization_id = ${to.replace('.id', '')}.organization_id
    AND x.${to === 'i.id' ? 'invoice_id' : 'payment_id'} = ${to}) a ON true`;

/** Whether somebody has got money back, or taken a payment back, that may have opened an invoice of the student of `i` again. */
const TAKEN_OFF = `EXISTS (SELECT FROM payments r WHERE r.organization_id = i.organization_id
  AND (r.refund_amount_cents > 0 OR r.taken_back_at IS NOT NULL)
  AND (r.student_id = i.student_id OR r.parent_id IS NOT NULL))`;

export const MONEY = {
  'invoice lines': {
    says: 'An invoice comes to the sum of its lines.',
    broken: `SELECT i.organization_id, i.id FROM invoices i
      WHERE i.amount_due_cents <> (SELECT coalesce(sum(l.amount_cents), 0) FROM invoice_lines l
        WHERE l.organization_id = i.organization_id AND l.invoice_id = i.id) AND (i.status = 'draft' OR ${ISSUED})`,
  },
  'invoice payments': {
    says: 'What an invoice shows as paid is what payments are applied to it, and nothing is applied to a draft or a void one.',
    broken: `SELECT i.organization_id, i.id FROM invoices i ${applied('i.id')}
      WHERE i.amount_paid_cents < a.cents OR (a.cents > 0 AND i.status IN ('draft', 'void'))
        OR (i.amount_paid_cents <> a.cents AND ${ISSUED})`,
  },
  'invoice state': {
    says: 'An issued invoice is paid once all of it is paid, and not before.',
    broken: `SELECT i.organization_id, i.id FROM invoices i
      WHERE ((i.status = 'paid') <> (i.amount_paid_cents = i.amount_due_cents) OR (i.status = 'paid') <> (i.paid_at IS NOT NULL))
        AND i.status IN ('open', 'paid') AND ${ISSUED}`,
  },
  'invoice numbers': {
    says: 'The numbers of invoices that were issued here follow one another without a gap.',
    broken: `SELECT i.organization_id, i.id FROM invoices i WHERE i.status <> 'draft' AND i.serial IS DISTINCT FROM 1
      AND NOT EXISTS (SELECT FROM invoices o WHERE o.organization_id = i.organization_id AND o.serial = i.serial - 1)
      AND ${ISSUED}`,
  },
  'payment parts': {
    says: 'A payment is what it pays, its credit and what was refunded; one that was taken back pays nothing.',
    broken: `SELECT p.organization_id, p.id FROM payments p ${applied('p.id')}
      WHERE CASE WHEN NOT p.recorded OR p.status NOT IN ('succeeded', 'refunded') THEN a.cents + p.credit_cents > 0
        ELSE p.amount_cents <> a.cents + p.credit_cents + coalesce(p.refund_amount_cents, 0)
          OR (p.status = 'refunded') <> (p.refund_amount_cents IS NOT DISTINCT FROM p.amount_cents) END`,
  },
  'whose invoice': {
    says: 'A student’s own money pays nobody else’s invoices.',
    broken: `SELECT a.organization_id, a.id FROM payment_allocations a
      JOIN payments p ON p.organization_id = a.organization_id AND p.id = a.payment_id
      JOIN invoices i ON i.organization_id = a.organization_id AND i.id = a.invoice_id
      WHERE p.student_id <> i.student_id OR p.currency <> i.currency`,
  },
  // A child who is linked later is settled by the next movement of the family's money.
  'credit beside debt': {
    says: 'No credit lies beside an open invoice that it could pay.',
    broken: `SELECT i.organization_id, i.id FROM invoices i JOIN payments p ON p.organization_id = i.organization_id
        AND p.credit_cents > 0 AND p.status = 'succeeded'
      WHERE i.status = 'open' AND ${ISSUED} AND (p.student_id = i.student_id OR EXISTS (SELECT FROM parent_students l
        WHERE l.organization_id = i.organization_id AND l.parent_id = p.parent_id AND l.student_id = i.student_id
          AND l.linked_at < greatest(p.created_at, i.sent_at)))`,
  },
  // Voiding an invoice makes credit of money that was not there before.
  'own money first': {
    says: 'A student’s own money pays before that of parents, and the older before the newer, unless it was sent for the invoice.',
    broken: `SELECT i.organization_id, i.id FROM invoices i
      JOIN payment_allocations a ON a.organization_id = i.organization_id AND a.invoice_id = i.id
      JOIN payments q ON q.organization_id = i.organization_id AND q.id = a.payment_id
      JOIN payments p ON p.organization_id = i.organization_id AND p.student_id = i.student_id AND p.id <> q.id
        AND p.credit_cents > 0 AND p.created_at < a.created_at AND q.invoice_id IS DISTINCT FROM i.id
      WHERE (q.parent_id IS NOT NULL OR (p.created_at, p.id) < (q.created_at, q.id)) AND ${ISSUED} AND NOT EXISTS (
        SELECT FROM invoices v WHERE v.organization_id = i.organization_id AND v.student_id = i.student_id AND v.status = 'void')`,
  },
  'oldest due first': {
    says: 'Money pays the invoice that it was sent for, then the one that is due first.',
    broken: `SELECT i.organization_id, i.id FROM invoices i
      JOIN invoices n ON n.organization_id = i.organization_id AND n.student_id = i.student_id
        AND (n.due_date, n.id) > (i.due_date, i.id)
      JOIN payment_allocations a ON a.organization_id = i.organization_id AND a.invoice_id = n.id AND a.created_at >= i.sent_at
      JOIN payments p ON p.organization_id = i.organization_id AND p.id = a.payment_id
        AND p.invoice_id IS DISTINCT FROM n.id
      WHERE i.status = 'open' AND ${ISSUED} AND NOT ${TAKEN_OFF}`,
  },
  'lesson bills': {
    says: 'A lesson costs what its students were billed, and one that is still to come was billed to nobody.',
    broken: `SELECT s.organization_id, s.id FROM sessions s
      JOIN (SELECT organization_id, session_id, sum(billed_cents) AS cents FROM lesson_participants
        WHERE billed_cents IS NOT NULL GROUP BY 1, 2) b ON b.organization_id = s.organization_id AND b.session_id = s.id
      WHERE s.amount_owed_cents IS DISTINCT FROM b.cents OR s.status NOT IN ('completed', 'cancelled')`,
  },
  'price of a lesson': {
    says: 'Whoever came to a completed lesson was billed its minutes, rounded once, and the surcharge; nobody else was billed.',
    broken: `SELECT p.organization_id, p.id FROM lesson_participants p
      JOIN sessions s ON s.organization_id = p.organization_id AND s.id = p.session_id
      WHERE s.status = 'completed' AND p.billed_cents <> CASE
        WHEN p.${TAKES_PART.sql} AND p.attendance IS DISTINCT FROM 'excused' AND p.rate_cents IS NOT NULL
        THEN round(p.rate_cents::numeric * s.duration_minutes / 60) + coalesce(p.surcharge_cents, 0) ELSE 0 END`,
  },
  'billed once': {
    says: 'No lesson is on a student’s invoices with more than it was billed.',
    broken: `SELECT b.organization_id, b.id FROM lesson_participants b WHERE b.billed_cents IS NOT NULL
      AND b.billed_cents < (SELECT sum(l.amount_cents) FROM invoice_lines l
        JOIN invoices i ON i.organization_id = l.organization_id AND i.id = l.invoice_id
        WHERE l.organization_id = b.organization_id AND l.session_id = b.session_id AND i.student_id = b.student_id
          AND i.status <> 'void')`,
  },
  'month of a payout': {
    says: 'A payout counts when its session began, or else when it was paid.',
    broken: `SELECT p.organization_id, p.id FROM payouts p
      LEFT JOIN sessions s ON s.organization_id = p.organization_id AND s.id = p.session_id
      WHERE NOT p.taken_back AND p.counts_at <> coalesce(s.starts_at, p.paid_at)`,
  },
} satisfies Record<string, Invariant>;
