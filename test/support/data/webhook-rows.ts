import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { Factories } from './factories.js';

/** Endpoints and calls with every value, and with only the required ones. @returns the ids of the full ones */
export async function webhooks(make: Factories, organizationId: string) {
  const now = new Date();
  const own = { organizationId, secret: randomBytes(60) };
  const endpoint = await make.row('webhook_endpoints', {
    ...{ ...own, url: 'https://hooks.example.org/all', eventTypes: ['session.*'], description: 'Accounting' },
    ...{ previousSecret: randomBytes(60), previousUntil: new Date(now.getTime() + 3_600_000) },
    ...{ failingSince: now, failedAt: now, disabledAt: now, disabledReason: 'failing' },
  });
  await make.row('webhook_endpoints', { ...own, url: 'https://hooks.example.org/' });
  const call = { organizationId, topic: 'webhook', kind: 'session.completed', recipient: endpoint.id } as const;
  const delivery = await make.row('outbox', {
    ...{ ...call, status: 'dead', eventId: uuidv7(), attempts: 10, lastError: 'http_500', triedAt: now, finishedAt: now },
    ...{ responseStatus: 500, durationMs: 12, answer: 'Sorry' },
  });
  await make.row('outbox', { ...call, status: 'held', eventId: uuidv7() });
  await make.row('outbox', call);
  return { endpoint_id: endpoint.id, delivery_id: delivery.id };
}

/** An endpoint that is called. */
export const endpoint = async (make: Factories, organizationId: string) => {
  const url = 'https://hooks.example.org/fresh';
  return { endpoint_id: (await make.row('webhook_endpoints', { organizationId, secret: randomBytes(60), url })).id };
};

/** A test of an endpoint, which can be replayed. */
export const delivery = async (make: Factories, organizationId: string) => {
  const { endpoint_id } = await endpoint(make, organizationId);
  const call = { organizationId, topic: 'webhook', kind: 'webhook.test', recipient: endpoint_id, status: 'sent', finishedAt: new Date() } as const;
  return { endpoint_id, delivery_id: (await make.row('outbox', call)).id };
};

/** Room for another endpoint: earlier requests have filled what an organization may have. */
export const fewer = async (make: Factories, organizationId: string) => {
  await make.query(`DELETE FROM webhook_endpoints WHERE organization_id = $1 AND (api_key_id IS NOT NULL OR url LIKE '%/fresh')`, [organizationId]);
  return {};
};
