import sql from 'sql-template-tag';
import { VALUES } from '@app/database';
import { DELIVERY_STATUSES, HEALTH, MOST_WAITING } from '@app/webhooks';
import {
  code, flag, INSTANT, instant, integer, list, moving, nullable, objectOf, oneOf, type Shape, Source, text, textLike, texts, UUID,
  uuid, View,
} from '../../../http/kit.js'; // prettier-ignore

const columns = {
  id: uuid('w.id'),
  url: text('w.url', 'https://hooks.example.org/tutoring'),
  event_types: texts('w.event_types', textLike('session.completed')),
  description: nullable(text('w.description', 'Accounting')),
  enabled: flag('w.disabled_at IS NULL'),
  disabled_reason: nullable(oneOf('w.disabled_reason', VALUES.webhook_endpoints.disabled_reason)),
  failing_since: moving(nullable(instant('w.failing_since'))),
  waiting: moving(integer(HEALTH.waiting, { minimum: 0, maximum: MOST_WAITING, examples: [0] })),
  waiting_since: moving(nullable(instant(HEALTH.waitingSince))),
  last_delivery_id: moving(nullable(uuid(HEALTH.last('id')))),
  last_delivery_status: moving(nullable(oneOf(HEALTH.last('status'), DELIVERY_STATUSES))),
  last_delivery_at: moving(nullable(instant(HEALTH.last('tried_at')))),
  previous_secret_until: moving(nullable(instant(HEALTH.previousUntil))),
  created_at: instant('w.created_at'),
  updated_at: instant('w.updated_at'),
};

export const WEBHOOK_ENDPOINTS = list({
  id: 'list_webhook_endpoints',
  path: 'v1/webhook-endpoints',
  summary: 'Lists the webhook endpoints',
  description: 'All of them, oldest first: an organization has at most 10.',
  scopes: ['webhooks:write'],
  view: new View('WebhookEndpoint', columns),
  source: new Source('webhook_endpoints', 'w'),
  order: sql`w.created_at, w.id`,
  bare: 'data',
});

const SECRET = code({
  ...textLike('whsec_5gyq0CbdRqQYZsjWgGWHdNwyz8lY8yQ5NqQyCJ7yoHo='),
  description:
    'Signs the calls. Shown once: in the response, and in its repeats to the key that asked; empty in those to others.',
});

/** A new endpoint, with the secret that was made for it, which only the rule knows. */
export const WITH_SECRET = new View('WebhookEndpointWithSecret', {
  ...columns,
  secret: { ...text(`''`), schema: SECRET },
});

export const secretShape: Shape = {
  name: 'WebhookSecret',
  schema: objectOf({ id: UUID, secret: SECRET, previous_secret_until: INSTANT }),
};
