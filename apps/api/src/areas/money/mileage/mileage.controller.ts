import { type ClaimAction, LoggedClaims, MILEAGE_TRIPS } from '@app/billing';
import { listController, rows, writeController } from '../../../http/kit.js';
import { CLAIMED, DAY, decision, NOTES } from '../claims.js';
import { MILEAGE } from './mileage.queries.js';

const decided = (action: ClaimAction) =>
  writeController({
    ...decision('a trip', action),
    id: `${action}_mileage`,
    route: `POST /v1/mileage/:trip_id/${action}`,
    answers: MILEAGE,
    versions: MILEAGE,
    run: ({ organizationId, ids }, claims) => claims.decide(organizationId, 'mileage', action, ids.trip_id),
  });

export const MILEAGE_CONTROLLERS = [
  listController(MILEAGE),
  ...rows({
    path: 'mileage/:trip_id',
    noun: 'mileage trip',
    kind: MILEAGE_TRIPS,
    rule: LoggedClaims,
    scope: 'payroll:write',
    shown: MILEAGE,
    fields: {
      ...CLAIMED,
      trip_date: DAY,
      distance_km: { required: true, description: 'To the meter.' },
      destination: { nullable: true },
      duration_minutes: { nullable: true },
      vehicle: { nullable: true },
      tracking_method: { nullable: true },
      rate_cents: { nullable: true, description: 'For a kilometer.' },
      amount_cents: {
        nullable: true,
        description:
          'Unless given, distance times rate, rounded once, half a cent away from zero; null without a rate.',
      },
    },
    examples: {
      create: {
        tutor_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
        trip_date: '2026-05-01',
        destination: 'Brunswick',
        distance_km: 12.5,
        rate_cents: 88,
      },
      change: { distance_km: 14.2 },
    },
    notes: {
      ...NOTES,
      change: `${NOTES.change} Another distance or rate without \`amount_cents\` computes that anew.`,
    },
  }),
  decided('approve'),
  decided('reject'),
  decided('reimburse'),
];
