import type { ClaimAction } from '@app/billing';
import { listController, writeController } from '../../../http/kit.js';
import { decision } from '../claims.js';
import { MILEAGE } from './mileage.queries.js';

const decided = (action: ClaimAction) =>
  writeController({
    ...decision('a trip', action),
    id: `${action}_mileage`,
    route: `POST /v1/mileage/:trip_id/${action}`,
    answers: MILEAGE,
    run: ({ organizationId, ids }, claims) => claims.decide(organizationId, 'mileage', action, ids.trip_id),
  });

export const MILEAGE_CONTROLLERS = [
  listController(MILEAGE),
  decided('approve'),
  decided('reject'),
  decided('reimburse'),
];
