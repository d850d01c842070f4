import { RATE_CELLS as KIND } from '@app/billing';
import { VALUES } from '@app/database';
import {
  byId, byIdOrCode, byValue, cents, instant, kinds, like, list, listController, nullable, number, oneOf, rows, Source,
  toggle, uuid, View,
} from '../../http/kit.js'; // prettier-ignore

const { session_kind, tutor_pay_mode } = VALUES.rate_cells;

const PAY = ['tutor_pay_mode', 'tutor_pay_pct', 'tutor_flat_rate_cents'] as const;

/** @param pay what it shows of what tutors get */
function cells(pay: readonly string[]) {
  const shown = (column: (typeof PAY)[number], type: string) =>
    pay.includes(column) ? `c.${column}` : `NULL::${type}`;
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
    updated_at: nullable(instant('c.updated_at')),
  });
}

const view = { public: cells([]), withPay: cells(PAY) };

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

export const RATE_CELLS_CONTROLLERS = [
  listController(RATE_CELLS),
  ...rows({
    path: 'rate-cells/:rate_cell_id',
    noun: 'rate cell',
    kind: KIND,
    scope: 'settings:write',
    shown: RATE_CELLS,
    fields: {
      band_id: { nullable: true, description: 'Null fits all students.' },
      tutor_tier_id: { nullable: true, description: 'Null fits all tutors.' },
      subject_id: { nullable: true, description: 'Its id or code. Null fits all subjects, and none.' },
      session_kind: { kind: kinds.oneOf(session_kind), nullable: true },
      student_rate_cents: { nullable: true, description: 'What each student pays for an hour. Null bills nothing.' },
      inperson_surcharge_cents: { nullable: true, description: 'What each pays once for a session in person.' },
      tutor_pay_mode: { kind: kinds.oneOf(tutor_pay_mode), nullable: true },
      tutor_pay_pct: { nullable: true, description: 'With `percentage`: of what is billed.' },
      tutor_flat_rate_cents: { nullable: true, description: 'With `flat`: for an hour.' },
    },
    written: (body) => cells(PAY.filter((name) => (body as Record<string, unknown>)[name] !== undefined)),
    examples: {
      create: { band_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30', session_kind: 'group', student_rate_cents: 4500 },
      change: { student_rate_cents: 4700 },
    },
    notes: {
      create: 'One for each combination of band, tier, subject and kind. Sessions that exist keep their price.',
      change: 'Sessions that exist keep their price: see `POST /v1/sessions/settle-prices`.',
    },
  }),
];
