import { VALUES } from '@app/database';
import {
  byId, byIdOrCode, byValue, cents, instant, like, list, listController, nullable, number, oneOf, Source,
  toggle, uuid, View,
} from '../../http/kit.js'; // prettier-ignore

const { session_kind, tutor_pay_mode } = VALUES.rate_cells;

/** @param pay whether it shows what tutors get */
function cells(pay: boolean) {
  const shown = (column: string, type: string) => (pay ? `c.${column}` : `NULL::${type}`);
  return new View('RateCell', {
    id: uuid('c.id'),
    band_id: nullable(uuid('c.band_id')),
    tutor_tier_id: nullable(uuid('c.tutor_tier_id')),
    subject_id: nullable(uuid('c.subject_id')),
    session_kind: nullable(oneOf('c.session_kind', session_kind)),
    student_rate_cents: nullable(cents('c.student_rate_cents')),
    inperson_surcharge_cents: like(nullable(cents('c.inperson_surcharge_cents')), 1000),
    tutor_pay_mode: like(nullable(oneOf(shown('tutor_pay_mode', 'text'), tutor_pay_mode)), null),
    tutor_pay_pct: like(nullable(number(shown('tutor_pay_pct', 'numeric'))), null),
    tutor_flat_rate_cents: like(nullable(cents(shown('tutor_flat_rate_cents', 'bigint'))), null),
    created_at: nullable(instant('c.created_at')),
  });
}

const view = { public: cells(false), withPay: cells(true) };

/** The table of rates: what a session costs, and what the tutor gets of it. */
const RATE_CELLS = list({
  id: 'list_rate_cells',
  path: 'v1/rate-cells',
  summary: 'Lists the table of rates, newest first',
  description:
    'Rates are for an hour, the surcharge is once for a session in person. A key that is null fits everything; of several ' +
    'cells that fit, the most specific one applies. What tutors get is null without `include_pay`.',
  view: view.public,
  source: new Source('rate_cells', 'c'),
  parameters: [
    byId('band_id', 'Only cells of this rate band.'),
    byId('tutor_tier_id', 'Only cells of this tutor tier.'),
    byIdOrCode('subject_id', 'subjects', 'Only cells of this subject (id or code).'),
    byValue('session_kind', session_kind, 'Only cells for this kind of session.'),
    toggle('include_pay', 'Also show what tutors get.'),
  ],
  select: ({ include_pay }) => (include_pay ? { view: view.withPay } : {}),
});

export const RATE_CELLS_CONTROLLERS = [listController(RATE_CELLS)];
