import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import sql, { join } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import type { Actor } from '@app/audit';
import { Vault } from '@app/config';
import { Database, EVENT_NAMES, type Tables } from '@app/database';
import { OUTBOX_CHANNEL } from '@app/jobs';
import { Refused } from '@app/rules';
import { Addresses } from './addresses.js';

/** What an endpoint is made of, named like the columns. */
export interface NewWebhookEndpoint {
  url: string;
  /** Empty for all; `session.*` for all of a resource. */
  event_types?: string[];
  description?: string | null;
}

/** What is left out stays. */
export interface WebhookEndpointChange extends Partial<NewWebhookEndpoint> {
  enabled?: boolean;
}

export interface MadeWebhookEndpoint {
  id: string;
  /** Shown once. */
  secret: string;
  /** The delivery of the test event that each new endpoint is sent. */
  testId: string;
}

interface Endpoint {
  url: string;
  event_types: string[];
  description: string | null;
  disabled_reason: Tables['webhook_endpoints']['disabledReason'];
}

/** Whose rights an endpoint does not outlive; the operator's, of neither. */
type Maker = Partial<Actor> & Pick<Actor, 'userId'>;

/** The most endpoints of an organization. */
export const MOST_ENDPOINTS = 10;

/** The type of a test, which is no event of the feed. */
export const TEST_EVENT = 'webhook.test';

/** How long deliveries are signed with the previous secret, too. */
const OVERLAP = '24 hours';

/** The minimum interval between tests, because the URL may belong to somebody else. */
const TEST_PAUSE = '10 seconds';

/** The rules of webhook endpoints and their deliveries. Each runs inside the ambient transaction. */
@Injectable()
export class Webhooks {
  constructor(
    private readonly db: Database,
    private readonly vault: Vault,
    private readonly addresses: Addresses,
  ) {}

  /** @throws Refused for an address that may not be called, and beyond {@link MOST_ENDPOINTS} */
  async make(organizationId: string, by: Maker, wanted: NewWebhookEndpoint): Promise<MadeWebhookEndpoint> {
    const { event_types: types = [], description = null } = wanted;
    requireTypes(types);
    const url = await this.addressOf(organizationId, wanted.url);
    await this.db.lock(`webhook endpoints of ${organizationId}`);
    const [there] = await this.db.query<{ count: number }>(sql`
      SELECT count(*)::integer AS count FROM webhook_endpoints WHERE organization_id = ${organizationId}`);
    if (there!.count >= MOST_ENDPOINTS) {
      const text = `An organization can have at most ${MOST_ENDPOINTS} webhook endpoints. Delete one first.`;
      throw Refused.conflict('too_many', text, { limit: MOST_ENDPOINTS });
    }
    const [id, secret] = [uuidv7(), newSecret()];
    await this.db.query(sql`
      INSERT INTO webhook_endpoints (id, organization_id, url, event_types, description, secret, position, created_by, api_key_id)
      VALUES (${id}, ${organizationId}, ${url}, ${types}, ${description}, ${this.seal(secret)},
        (SELECT coalesce(max(number), 0) FROM events WHERE organization_id = ${organizationId}),
        ${by.userId}, ${by.apiKeyId ?? null})`);
    return { id, secret, testId: await this.queueTest(organizationId, id) };
  }

  /**
   * Only a person who manages the organization can enable an endpoint whose maker has left, which is theirs from then on.
   *
   * @returns whether anything changed @throws Refused
   */
  async change(organizationId: string, by: Maker, id: string, wanted: WebhookEndpointChange): Promise<boolean> {
    const now = await this.lock(organizationId, id);
    const { event_types: types, description, enabled } = wanted;
    requireTypes(types ?? []);
    const url = wanted.url === undefined ? undefined : await this.addressOf(organizationId, wanted.url);
    const switched = enabled !== undefined && enabled !== (now.disabled_reason === null);
    const confirmed = switched && enabled && now.disabled_reason === 'maker_left';
    if (confirmed && by.apiKeyId) {
      const text = 'Whoever made this endpoint has left. An owner or admin has to enable it in the portal.';
      throw Refused.conflict('maker_left', text);
    }
    const changes = [
      url !== undefined && url !== now.url && sql`url = ${url}`,
      types && JSON.stringify(types) !== JSON.stringify(now.event_types) && sql`event_types = ${types}`,
      description !== undefined && description !== now.description && sql`description = ${description}`,
      switched && enabled && sql`disabled_at = NULL, disabled_reason = NULL`,
      switched && !enabled && sql`disabled_at = now(), disabled_reason = 'request'`,
      confirmed && sql`created_by = ${by.userId}, api_key_id = NULL`,
    ].filter((change) => change !== false && change !== undefined);
    if (changes.length === 0) return false;
    await this.db.query(sql`
      UPDATE webhook_endpoints SET ${join(changes)}, updated_at = now()
      WHERE organization_id = ${organizationId} AND id = ${id}`);
    return true;
  }

  /** What waits is not delivered; what was stays in the log. @throws Refused */
  async remove(organizationId: string, id: string): Promise<void> {
    await this.lock(organizationId, id);
    await this.db.query(sql`DELETE FROM webhook_endpoints WHERE organization_id = ${organizationId} AND id = ${id}`);
  }

  /** Gives the endpoint a new secret; the previous one also signs for a day. @returns the secret, which is shown once @throws Refused */
  async rotateSecret(organizationId: string, id: string): Promise<string> {
    await this.lock(organizationId, id);
    const secret = newSecret();
    await this.db.query(sql`
      UPDATE webhook_endpoints SET previous_secret = secret, secret = ${this.seal(secret)},
        previous_until = now() + ${OVERLAP}::interval, updated_at = now()
      WHERE organization_id = ${organizationId} AND id = ${id}`);
    return secret;
  }

  /** Sends a test event, once, also to a disabled endpoint. @returns the delivery's id @throws Refused */
  async test(organizationId: string, id: string): Promise<string> {
    await this.lock(organizationId, id);
    const [recent] = await this.db.query(sql`
      SELECT FROM outbox WHERE organization_id = ${organizationId} AND topic = 'webhook' AND endpoint_id = ${id}
        AND kind = ${TEST_EVENT} AND created_at > now() - ${TEST_PAUSE}::interval LIMIT 1`);
    if (recent) throw Refused.conflict('tested_recently', 'A test was sent just now. Wait ten seconds before another.');
    return this.queueTest(organizationId, id);
  }

  /** Queues a delivery again, with all its tries and the same webhook-id. @returns false if it is queued already @throws Refused */
  async replay(organizationId: string, deliveryId: string): Promise<boolean> {
    const [delivery] = await this.db.query<{ endpoint_id: string; kind: string; kept: boolean; waits: boolean }>(sql`
      SELECT o.endpoint_id, o.kind, o.status = 'queued' AND o.attempts = 0 AS waits, o.event_id IS NULL OR EXISTS (SELECT FROM events e
        WHERE e.organization_id = ${organizationId} AND e.id = o.event_id) AS kept
      FROM outbox o WHERE o.organization_id = ${organizationId} AND o.topic = 'webhook' AND o.id = ${deliveryId}`);
    if (!delivery) throw Refused.notFound();
    const endpoint = await this.lock(organizationId, delivery.endpoint_id, true);
    if (!endpoint) throw Refused.conflict('not_replayable', 'Its endpoint has been deleted.');
    if (endpoint.disabled_reason !== null && delivery.kind !== TEST_EVENT)
      throw Refused.conflict('not_replayable', 'Its endpoint is disabled. Enable it first.');
    if (delivery.waits) return false;
    if (!delivery.kept) throw Refused.conflict('not_replayable', 'The event is no longer kept.');
    const [row] = await this.db.query<{ queued: boolean }>(sql`SELECT replay_webhook(${deliveryId}) AS queued`);
    if (!row!.queued) throw Refused.conflict('not_replayable', 'It is being delivered at the moment.');
    await this.wake();
    return true;
  }

  private async addressOf(organizationId: string, url: string): Promise<string> {
    const [row] = await this.db.query<{ slug: string }>(sql`
      SELECT slug FROM organizations WHERE id = ${organizationId}`);
    try {
      return this.addresses.check(url, row!.slug);
    } catch (error) {
      if (error instanceof RangeError) throw Refused.invalid(error.message, 'url');
      throw error;
    }
  }

  private async lock(organizationId: string, id: string): Promise<Endpoint>;
  private async lock(organizationId: string, id: string, optional: true): Promise<Endpoint | undefined>;
  private async lock(organizationId: string, id: string, optional = false): Promise<Endpoint | undefined> {
    const [endpoint] = await this.db.query<Endpoint>(sql`
      SELECT url, event_types, description, disabled_reason FROM webhook_endpoints
      WHERE organization_id = ${organizationId} AND id = ${id} FOR UPDATE`);
    if (!endpoint && !optional) throw Refused.notFound();
    return endpoint;
  }

  private async queueTest(organizationId: string, endpointId: string): Promise<string> {
    const id = uuidv7();
    await this.db.query(sql`
      INSERT INTO outbox (id, organization_id, topic, kind, recipient)
      VALUES (${id}, ${organizationId}, 'webhook', ${TEST_EVENT}, ${endpointId})`);
    await this.wake();
    return id;
  }

  private async wake(): Promise<void> {
    await this.db.query(sql`SELECT pg_notify(${OUTBOX_CHANNEL}, 'webhooks')`);
  }

  private seal(secret: string): Buffer {
    return this.vault.seal('webhook secrets', secret);
  }
}

const NAMES = new Set(EVENT_NAMES);

/** @throws Refused at those that do not exist */
function requireTypes(types: string[]): void {
  const unknown = types.flatMap((type, index) => (NAMES.has(type) ? [] : [{ type, index }]));
  if (unknown.length === 0) return;
  const reason = 'There is no such type of event: see GET /v1/event-types.';
  throw Refused.invalidAt(unknown.map(({ index }) => ({ at: ['event_types', index], reason })));
}

/** As Standard Webhooks writes it. */
function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
