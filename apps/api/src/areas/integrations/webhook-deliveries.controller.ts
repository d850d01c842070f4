import { Webhooks } from '@app/webhooks';
import { listController, recordController, writeController } from '../../http/kit.js';
import { WEBHOOK_DELIVERIES } from './webhook-delivery.view.js';

export const WEBHOOK_DELIVERIES_CONTROLLERS = [
  listController(WEBHOOK_DELIVERIES),
  recordController({
    ...WEBHOOK_DELIVERIES,
    id: 'get_webhook_delivery',
    path: 'v1/webhook-deliveries/:delivery_id',
    summary: 'Returns one call of a webhook endpoint',
    description: undefined,
  }),
  writeController({
    id: 'replay_webhook_delivery',
    route: 'POST /v1/webhook-deliveries/:delivery_id/replay',
    status: 200,
    scope: ['webhooks:write', 'read'],
    summary: 'Sends a call again',
    description:
      'With all its tries, and the same `webhook-id`: a receiver that has seen it can tell. 409 `not_replayable` while it is being sent, ' +
      'while its endpoint is disabled or after that was deleted, and once its event is no longer kept.',
    conflicts: ['not_replayable'],
    rules: [Webhooks],
    answers: WEBHOOK_DELIVERIES,
    versions: WEBHOOK_DELIVERIES,
    run: ({ organizationId, ids }, webhooks) => webhooks.replay(organizationId, ids.delivery_id),
  }),
];
