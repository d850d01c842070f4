import sql, { raw, type Sql } from 'sql-template-tag';
import { billingParent } from '@app/people';

/** As {@link Entry}, with cents as text. */
export interface EntryRow {
  day: string;
  what: string;
  cents: string;
}

/**
 * SQL: what changed what a parent owes, up to a day. What was billed to them (of what was imported, what they pay for now), less what others and imports
 * have paid of it; and their own money, less what it paid for others. So the sum is what is open less their credit. Nobody else is named.
 */
export const entriesOf = (organizationId: string, parentId: string, to: string): Sql => sql`
  WITH zone AS (SELECT time_zone AS name FROM organizations WHERE id = ${organizationId}),
    theirs AS (
      SELECT i.id, i.invoice_number AS number, (coalesce(i.sent_at, i.created_at) AT TIME ZONE z.name)::date AS day, i.status,
        i.amount_due_cents AS due, i.amount_paid_cents AS paid, 
        CASE WHEN NOT i.person_erased THEN i.snapshot #>> '{buyer,student_name}' END AS student
      FROM invoices i CROSS JOIN zone z WHERE i.organization_id = ${organizationId} AND i.status IN ('open', 'paid', 'uncollectible')
        AND (i.billed_parent_id = ${parentId} OR i.snapshot IS NULL AND i.student_id IN (SELECT m.user_id FROM members m
          JOIN parent_students l ON l.organization_id = ${organizationId} AND l.student_id = m.user_id AND l.parent_id = ${parentId}
          WHERE m.organization_id = ${organizationId} AND (${raw(billingParent('m'))}) = ${parentId}))),
    applied AS (
      SELECT a.invoice_id, a.amount_cents AS cents, (a.created_at AT TIME ZONE z.name)::date AS day, a.id,
        a.invoice_id IN (SELECT id FROM theirs) AS mine, p.parent_id IS NOT DISTINCT FROM ${parentId}::uuid AS own
      FROM payment_allocations a CROSS JOIN zone z JOIN payments p ON p.organization_id = ${organizationId} AND p.id = a.payment_id
      WHERE a.organization_id = ${organizationId} AND (a.invoice_id IN (SELECT id FROM theirs) OR a.payment_id IN (
        SELECT id FROM payments o WHERE o.organization_id = ${organizationId} AND o.parent_id = ${parentId}))),
    entries AS (
      SELECT day, 1 AS place, id, 'Invoice ' || number || coalesce(', for lessons of ' || student, '') AS what, due AS cents FROM theirs
      UNION ALL SELECT t.day, 2, t.id, 'Paid before, invoice ' || t.number, (SELECT coalesce(sum(a.cents), 0) FROM applied a WHERE a.invoice_id = t.id) - t.paid FROM theirs t
      UNION ALL SELECT day, 5, id, 'Written off, invoice ' || number, paid - due FROM theirs WHERE status = 'uncollectible'
      UNION ALL SELECT a.day, 4, t.id, 'Paid by somebody else, invoice ' || t.number, -sum(a.cents) FROM applied a JOIN theirs t ON t.id = a.invoice_id
        WHERE NOT a.own GROUP BY 1, 3, t.number
      UNION ALL SELECT a.day, 6, NULL, 'Used for invoices of others', sum(a.cents) FROM applied a WHERE a.own AND NOT a.mine GROUP BY 1
      UNION ALL SELECT p.received_on, 3, p.id, 'Payment'
          || CASE p.payment_type WHEN 'bank_transfer' THEN ' by bank transfer' WHEN 'cash' THEN ' in cash' WHEN 'card' THEN ' by card' ELSE '' END
          || coalesce(', reference ' || p.reference, '')
          || CASE WHEN p.refund_amount_cents > 0 THEN ', of which ' || to_char(p.refund_amount_cents / 100.0, 'FM999,999,999,990.00') || ' went back' ELSE '' END,
          coalesce(p.refund_amount_cents, 0) - p.amount_cents
        FROM payments p WHERE p.organization_id = ${organizationId} AND p.parent_id = ${parentId} AND p.recorded
          AND p.status IN ('succeeded', 'refunded'))
  SELECT day::text, what, cents::text FROM entries WHERE day <= ${to}::date AND (cents <> 0 OR place IN (1, 3)) ORDER BY entries.day, place, id`;
