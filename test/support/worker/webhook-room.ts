import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { OPERATOR } from '@app/audit';
import { loadEnv } from '@app/config';
import { Addresses, type MadeWebhookEndpoint, Webhooks } from '@app/webhooks';
import { WebhooksService } from '../../../apps/worker/src/webhooks/webhooks.service.js';
import type { Call } from './hook.js';
import { OutboxFixture, type OutboxRow } from './worker.js';

export interface DeliveryRow extends OutboxRow {
  endpoint_id: string;
  event_id: string | null;
  response_status: number | null;
  duration_ms: number | null;
  answer: string | null;
}

/** Organizations with events and webhook endpoints, and workers that deliver. */
export class WebhookRoom {
  readonly rules: Webhooks;

  private constructor(readonly outbox: OutboxFixture) {
    const { db, vault, settings } = outbox;
    this.rules = new Webhooks(db, vault, new Addresses(loadEnv(settings, {})));
  }

  static async open(settings: Record<string, string> = {}): Promise<WebhookRoom> {
    return new WebhookRoom(await OutboxFixture.open(settings));
  }

  get organizationId(): string {
    return this.outbox.organizationId;
  }

  async stop(): Promise<void> {
    await this.outbox.stop();
  }

  async clear(): Promise<void> {
    await this.outbox.clear();
    await this.outbox.make.withoutTriggers('DELETE FROM webhook_endpoints; DELETE FROM events; DELETE FROM webhook_progress');
  }

  as<T>(work: () => Promise<T>, organizationId = this.organizationId): Promise<T> {
    return this.outbox.db.transaction({ organizationId }, work);
  }

  /** Its test is not sent. */
  async endpoint(url: string, more: { event_types?: string[]; organizationId?: string } = {}): Promise<MadeWebhookEndpoint> {
    const { organizationId = this.organizationId, ...wish } = more;
    const made = await this.as(() => this.rules.make(organizationId, OPERATOR, { url, ...wish }), organizationId);
    await this.outbox.make.query('DELETE FROM outbox WHERE id = $1', [made.testId]);
    return made;
  }

  /** Events with the next numbers, in their order. @returns their ids */
  async events(count: number, { type = 'session.completed', organizationId = this.organizationId } = {}): Promise<string[]> {
    const ids = Array.from({ length: count }, () => randomUUID());
    await this.outbox.make.query(
      `WITH counter AS (UPDATE event_counter SET number = number + $2 RETURNING number - $2 AS before)
       INSERT INTO events (id, organization_id, number, type, resource, resource_id, timestamp, data)
       SELECT e.id, $1, before + e.rank, $3, split_part($3, '.', 1), gen_random_uuid(), now(), '{"status": "completed", "changed": ["status"]}'
       FROM counter, unnest($4::uuid[]) WITH ORDINALITY e (id, rank)`,
      [organizationId, count, type, ids],
    );
    return ids;
  }

  /** Delivers what is due, and what becomes due meanwhile. */
  async drain(): Promise<object> {
    return (await this.outbox.idleWorker()).get(WebhooksService).runOnce();
  }

  async deliveries(where = 'true'): Promise<DeliveryRow[]> {
    return (await this.outbox.rows(`topic = 'webhook' AND ${where}`)) as DeliveryRow[];
  }

  async state(id: string): Promise<Record<string, unknown>> {
    return (await this.outbox.make.query('SELECT * FROM webhook_endpoints WHERE id = $1', [id]))[0]!;
  }
}

/** Whether standardwebhooks accepts the call with this secret. */
export function verifies(secret: string, { headers, body }: Call): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

export const idOf = ({ headers }: Call): string => String(headers['webhook-id']);
