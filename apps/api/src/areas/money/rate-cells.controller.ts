import { RATE_CELLS as KIND, RateTable } from '@app/billing';
import { VALUES } from '@app/database';
import { ReplaceRateCells } from './rate-cells.dto.js';
import {
  byId, byIdOrCode, byValue, cents, instant, kinds, like, list, listController, nullable, number, objectOf, one, oneOf, rows,
  type Shape, Source, toggle, UUID, uuid, View, writeController,
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
    updated_at: nullable(instant('c.updated_at')),
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
    'cells that fit, the most specific one applies. What tutors get is null without `include_pay`. The `ETag` stands for the whole table, not for the page.',
  view: view.public,
  source: new Source('rate_cells', 'c'),
  whole: true,
  parameters: [
    byId('band_id', 'Only cells of this rate band.'),
    byId('tutor_tier_id', 'Only cells of this tutor tier.'),
    byIdOrCode('subject_id', 'subjects', 'Only cells of this subject (id or code).'),
    byValue('session_kind', session_kind, 'Only cells for this kind of session.'),
    toggle('include_pay', 'Also show what tutors get.'),
  ],
  select: ({ include_pay }) => (include_pay ? { view: view.withPay } : {}),
});

const IDS = { type: 'array', items: UUID };

/** What replacing the table changed. */
const replacedShape: Shape = {
  name: 'ReplacedRateCells',
  schema: objectOf({ created: IDS, changed: IDS, deleted: IDS }),
};

export const RATE_CELLS_CONTROLLERS = [
  listController(RATE_CELLS),
  writeController({
    id: 'replace_rate_cells',
    route: 'PUT /v1/rate-cells',
    scope: 'settings:write',
    summary: 'Replaces the table of rates',
    description:
      'All or nothing. `If-Match` is required: the `ETag` of the list, or `*` (412 without it). A combination of band, tier, subject and ' +
      'kind that exists keeps its id and the fields that are left out; combinations that are not sent are deleted. What tutors get, ' +
      'which lists may hide, becomes null only with `clear_pay`. Answers the ids of what changed, and the new `ETag`. Sessions that exist ' +
      'keep their price: see `POST /v1/sessions/settle-prices`. The body may also be the list alone.',
    example: {
      rate_cells: [
        { student_rate_cents: 8000, inperson_surcharge_cents: 1000 },
        { session_kind: 'group', student_rate_cents: 4500, tutor_pay_mode: 'percentage', tutor_pay_pct: 62.5 },
      ],
    },
    body: ReplaceRateCells,
    rules: [RateTable],
    answers: one(replacedShape),
    replaces: RATE_CELLS,
    async run({ organizationId, body }, table) {
      const answer = await table.replace(organizationId, body.rate_cells);
      const [created, changed, deleted] = [answer.created.length, answer.changed.length, answer.deleted.length];
      return { answer, changed: created + changed + deleted > 0, audit: { created, changed, deleted } };
    },
  }),
  ...rows({
    path: 'rate-cells/:rate_cell_id',
    noun: 'rate cell',
    kind: KIND,
    scope: 'settings:write',
    shown: { ...RATE_CELLS, view: view.withPay },
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
    examples: {
      create: { band_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30', session_kind: 'group', student_rate_cents: 4500 },
      change: { student_rate_cents: 4700 },
    },
    notes: {
      read: 'Rates are for an hour, the surcharge is once for a session in person. A key that is null fits everything.',
      create: 'One for each combination of band, tier, subject and kind. Sessions that exist keep their price.',
      change: 'Sessions that exist keep their price: see `POST /v1/sessions/settle-prices`.',
    },
  }),
];
