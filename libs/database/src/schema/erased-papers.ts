import { ADJUSTMENT_NOTE } from './money.js';

/** Rows of the organization that tax law no longer requires. */
const PAST = `t.created_at <= now() - tax_years * interval '1 year'`;
const BILLED = `t.organization_id = here AND (t.student_id = person OR t.billed_parent_id = person) AND t.status <> 'draft'`;
const PAID = 't.organization_id = here AND (t.student_id = person OR t.parent_id = person)';

/** Only owners are shown the papers of somebody who is erased. Those that tax law no longer requires go, and name nobody if they are printed again. */
export const ERASE_INVOICES = `documents := documents || ARRAY(SELECT d.id FROM invoices t,
      LATERAL (VALUES (t.id), (${ADJUSTMENT_NOTE('t')})) d (id) WHERE ${BILLED} AND ${PAST});
    UPDATE invoices t SET person_erased = true, snapshot = CASE WHEN ${PAST} THEN t.snapshot - 'buyer' ELSE t.snapshot END
      WHERE ${BILLED}`;

export const ERASE_RECEIPTS = `documents := documents || ARRAY(SELECT t.id FROM payments t WHERE ${PAID} AND ${PAST});
    UPDATE payments t SET person_erased = true WHERE ${PAID}`;
