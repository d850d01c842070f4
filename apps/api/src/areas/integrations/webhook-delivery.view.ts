import sql from 'sql-template-tag';
import { DELIVERY_STATUSES as STATUSES } from '@app/webhooks';
import {
  byId, byValue, instant, integer, kinds, like, list, nullable, oneOf, parameter, Source, text, uuid, View,
} from '../../http/kit.js'; // prettier-ignore

export const WEBHOOK_DELIVERIES = list({
  id: 'list_webhook_deliveries',
  path: 'v1/webhook-deliveries',
  summary: 'Lists the calls of webhook endpoints, newest first',
  description:
    'One for each event and endpoint, and for each test, for 30 days. `status` is `queued` before the first try, `failed` while there are ' +
    'more to come, then `sent` or `dead`; `held` while the endpoint is disabled. What came of the last try is in `response_status`, ' +
    '`response_body` (its first 2 kB, from public addresses only), `duration_ms` and `error`.',
  scopes: ['webhooks:write', 'read'],
  view: new View('WebhookDelivery', {
    id: uuid('d.id'),
    endpoint_id: uuid('d.endpoint_id'),
    event_id: nullable(uuid('d.event_id')),
    event_type: text('d.kind', 'session.completed'),
    webhook_id: uuid('coalesce(d.event_id, d.id)'),
    status: oneOf('d.status', STATUSES),
    attempts: integer('d.attempts', { minimum: 0, examples: [1] }),
    next_attempt_at: nullable(instant(`CASE WHEN d.status IN ('queued', 'failed') THEN d.due_at END`)),
    last_attempt_at: nullable(instant('d.tried_at')),
    response_status: like(nullable(integer('d.response_status', { minimum: 100, maximum: 599 })), 200),
    response_body: nullable(text('d.answer', 'OK')),
    duration_ms: like(nullable(integer('d.duration_ms', { minimum: 0 })), 87),
    error: nullable(text('d.last_error', 'timeout')),
    created_at: instant('d.created_at'),
    finished_at: nullable(instant('d.finished_at')),
  }),
  source: new Source('outbox', 'd'),
  where: sql`d.topic = 'webhook'`,
  parameters: [
    byId('endpoint_id', 'Only calls of this endpoint.'),
    byValue('status', STATUSES, 'Only calls with this status.'),
    parameter(
      'since',
      kinds.dateBound,
      'Only calls made at or after this ISO 8601 date or date-time. A date is a day in the organization’s time zone.',
      { column: 'created_at', comparison: 'since' },
    ),
  ],
});
