import { Webhooks } from '@app/webhooks';
import {
  type Caller, listController, one, recordController, Records, writeController,
} from '../../../http/kit.js'; // prettier-ignore
import { WEBHOOK_DELIVERIES } from '../webhook-delivery.view.js';
import { CreateWebhookEndpoint, UpdateWebhookEndpoint } from './webhook-endpoints.dto.js';
import { secretShape, WEBHOOK_ENDPOINTS, WITH_SECRET } from './webhook-endpoints.view.js';

const by = ({ keyId }: Caller) => ({ userId: null, apiKeyId: keyId });

export const WEBHOOK_ENDPOINTS_CONTROLLERS = [
  listController(WEBHOOK_ENDPOINTS),
  recordController({
    ...WEBHOOK_ENDPOINTS,
    id: 'get_webhook_endpoint',
    path: 'v1/webhook-endpoints/:endpoint_id',
    summary: 'Returns one webhook endpoint',
    description:
      'What has not arrived is counted in `waiting`, up to 1,000, with the time of the oldest in `waiting_since`. `failing_since` is when calls began to ' +
      'fail without a success since: after a day the owners are mailed, after five it is disabled. `disabled_reason` is `request`, `gone` (it answered ' +
      '410), `failing`, or `maker_left`. If-Match compares only what writes change.',
  }),
  writeController({
    id: 'create_webhook_endpoint',
    route: 'POST /v1/webhook-endpoints',
    scope: ['webhooks:write', 'read'],
    summary: 'Creates a webhook endpoint',
    description:
      'From now on it gets the organization’s events, signed as [Standard Webhooks](https://www.standardwebhooks.com) say. `secret` is shown only ' +
      'here. A test event is sent at once: `GET /v1/webhook-deliveries` shows the answer. An organization has at most 10: 409 `too_many`.',
    example: {
      url: 'https://hooks.example.org/tutoring',
      event_types: ['session.*', 'invoice.paid'],
      description: 'Accounting',
    },
    conflicts: ['too_many'],
    body: CreateWebhookEndpoint,
    rules: [Webhooks, Records],
    answers: one(WITH_SECRET),
    idName: 'endpoint_id',
    async run({ caller, organizationId, body: { enabled, ...wanted } }, webhooks, records) {
      const { id, secret } = await webhooks.make(organizationId, by(caller), wanted);
      if (!enabled) await webhooks.change(organizationId, by(caller), id, { enabled });
      const { text } = await records.written(caller, WEBHOOK_ENDPOINTS, id);
      return { id, answer: { ...(JSON.parse(text) as object), secret } };
    },
  }),
  writeController({
    id: 'update_webhook_endpoint',
    route: 'PATCH /v1/webhook-endpoints/:endpoint_id',
    scope: ['webhooks:write', 'read'],
    summary: 'Changes a webhook endpoint',
    description:
      'Omitted fields stay unchanged. One whose maker has left is enabled by an owner or admin in the portal: 409 `maker_left` for keys.',
    example: { enabled: false },
    conflicts: ['maker_left'],
    body: UpdateWebhookEndpoint,
    rules: [Webhooks],
    answers: WEBHOOK_ENDPOINTS,
    versions: WEBHOOK_ENDPOINTS,
    run: ({ caller, organizationId, ids, body }, webhooks) =>
      webhooks.change(organizationId, by(caller), ids.endpoint_id, body),
  }),
  writeController({
    id: 'remove_webhook_endpoint',
    route: 'DELETE /v1/webhook-endpoints/:endpoint_id',
    scope: 'webhooks:write',
    summary: 'Deletes a webhook endpoint',
    description: 'What waits for it is not sent. Its calls stay in the log.',
    rules: [Webhooks],
    answers: null,
    versions: WEBHOOK_ENDPOINTS,
    run: ({ organizationId, ids }, webhooks) => webhooks.remove(organizationId, ids.endpoint_id),
  }),
  writeController({
    id: 'rotate_webhook_secret',
    route: 'POST /v1/webhook-endpoints/:endpoint_id/rotate-secret',
    status: 200,
    scope: 'webhooks:write',
    summary: 'Replaces the secret of a webhook endpoint',
    description:
      'The new one is shown only here. For 24 hours calls are signed with both, until `previous_secret_until`; replaced again within that ' +
      'time, the oldest ends at once.',
    rules: [Webhooks, Records],
    answers: one(secretShape),
    versions: WEBHOOK_ENDPOINTS,
    async run({ caller, organizationId, ids }, webhooks, records) {
      const secret = await webhooks.rotateSecret(organizationId, ids.endpoint_id);
      const { text } = await records.written(caller, WEBHOOK_ENDPOINTS, ids.endpoint_id);
      const { id, previous_secret_until } = JSON.parse(text) as { id: string; previous_secret_until: string };
      return { answer: { id, secret, previous_secret_until } };
    },
  }),
  writeController({
    id: 'test_webhook_endpoint',
    route: 'POST /v1/webhook-endpoints/:endpoint_id/test',
    status: 200,
    scope: 'webhooks:write',
    summary: 'Sends a test event to a webhook endpoint',
    description:
      'One signed call with the type `webhook.test`, which is not tried again, also while the endpoint is disabled. ' +
      '`GET /v1/webhook-deliveries/{delivery_id}` shows what came of it. 409 `tested_recently` within ten seconds of the last one.',
    conflicts: ['tested_recently'],
    rules: [Webhooks, Records],
    answers: one(WEBHOOK_DELIVERIES.view),
    versions: WEBHOOK_ENDPOINTS,
    async run({ caller, organizationId, ids }, webhooks, records) {
      const id = await webhooks.test(organizationId, ids.endpoint_id);
      return { audit: { delivery_id: id }, answer: await records.written(caller, WEBHOOK_DELIVERIES, id) };
    },
  }),
];
