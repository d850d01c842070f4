import { Adjustments } from '@app/billing';
import { inputOf, listController, recordController, writeController } from '../../../http/kit.js';
import { CreateAdjustment } from './adjustments.dto.js';
import { ADJUSTMENTS } from './adjustments.queries.js';

export const ADJUSTMENTS_CONTROLLERS = [
  listController(ADJUSTMENTS),
  recordController({
    ...ADJUSTMENTS,
    id: 'get_adjustment',
    path: 'v1/adjustments/:adjustment_id',
    summary: 'Returns one payroll adjustment',
    description: 'Also one that is voided.',
  }),
  writeController({
    id: 'create_adjustment',
    route: 'POST /v1/adjustments',
    scope: 'payroll:write',
    summary: 'Adds a payroll adjustment',
    description: 'It counts as earned on the first day of its period. A wrong one is voided.',
    example: {
      tutor_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
      period_start: '2026-04-13',
      period_end: '2026-04-26',
      amount_cents: -2500,
      note: 'Overpaid in the last run',
    },
    body: CreateAdjustment,
    rules: [Adjustments],
    answers: ADJUSTMENTS,
    versions: ADJUSTMENTS,
    idName: 'adjustment_id',
    run: ({ organizationId, body }, adjustments) => adjustments.add(organizationId, inputOf(body)),
  }),
  writeController({
    id: 'void_adjustment',
    route: 'POST /v1/adjustments/:adjustment_id/void',
    status: 200,
    scope: 'payroll:write',
    summary: 'Voids a payroll adjustment',
    description: 'It no longer counts as earned, and only `include_voided` lists it. Again: unchanged.',
    rules: [Adjustments],
    answers: ADJUSTMENTS,
    versions: ADJUSTMENTS,
    run: ({ organizationId, ids }, adjustments) => adjustments.void(organizationId, ids.adjustment_id),
  }),
];
