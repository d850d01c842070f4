import { Injectable } from '@nestjs/common';
import sql, { empty, raw, type Sql } from 'sql-template-tag';
import { behind, Database, type Position, VALUES, wants } from '@app/database';

/** The states of a delivery: only mails are suppressed. */
export const DELIVERY_STATUSES = VALUES.outbox.status.filter((status) => status !== 'suppressed');

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Counts no further: of an endpoint that was disabled for weeks nobody needs more. */
export const MOST_WAITING = 1_000;

/** Whose deliveries: those of the endpoint `w`, as `d`. */
const ITS = `d.organization_id = w.organization_id AND d.topic = 'webhook' AND d.endpoint_id = w.id`;

/** Looks no further in the feed: whoever wants few types would be told after a look at all that is kept. */
const MOST_LOOKED_AT = 10_000;

/**
 * What has not arrived at the endpoint `w`: events of the feed that nobody has looked at yet, and deliveries that have not ended.
 * @param most of each
 */
const waiting = (
  most: number,
) => `(SELECT e.timestamp AS since FROM (SELECT * FROM events n WHERE n.organization_id = w.organization_id AND n.number > w.position
      ORDER BY n.number LIMIT ${MOST_LOOKED_AT}) e
    WHERE ${wants('w', 'e')} LIMIT ${most})
  UNION ALL (SELECT d.created_at FROM unnest('{queued,held,failed}'::text[]) s CROSS JOIN LATERAL (
      SELECT d.created_at FROM outbox d WHERE ${ITS} AND d.status = s AND d.event_id IS NOT NULL ORDER BY d.created_at LIMIT ${most}) d)`;

/** How an endpoint `w` is doing, in SQL. */
export const HEALTH = {
  waiting: `(SELECT least(count(*), ${MOST_WAITING})::integer FROM (${waiting(MOST_WAITING)}) q)`,
  waitingSince: `(SELECT min(q.since) FROM (${waiting(1)}) q)`,
  /** A column of the last call, whatever came of it. */
  last: (column: string) =>
    `(SELECT d.${column} FROM outbox d WHERE ${ITS} AND d.tried_at IS NOT NULL ORDER BY d.created_at DESC, d.id DESC LIMIT 1)`,
  previousUntil: 'CASE WHEN w.previous_until > now() THEN w.previous_until END',
};

/** An endpoint as managers see it: without its secrets. */
export interface ListedEndpoint {
  id: string;
  organizationId: string;
  url: string;
  eventTypes: string[];
  description: string | null;
  enabled: boolean;
  disabledReason: 'request' | 'gone' | 'failing' | 'maker_left' | null;
  failingSince: Date | null;
  waiting: number;
  waitingSince: Date | null;
  lastStatus: DeliveryStatus | null;
  lastAt: Date | null;
  previousUntil: Date | null;
  createdAt: Date;
}

/** A call: of an event, or a test. */
export interface ListedDelivery {
  id: string;
  endpointId: string;
  /** Null if the endpoint has been deleted. */
  url: string | null;
  eventId: string | null;
  eventType: string;
  status: DeliveryStatus;
  attempts: number;
  problem: string | null;
  responseStatus: number | null;
  durationMs: number | null;
  answer: string | null;
  createdAt: Date;
  /** When it is tried next. */
  dueAt: Date;
  triedAt: Date | null;
}

/** Which calls are listed; null is no condition. */
export interface WantedDeliveries {
  id?: string;
  endpointId?: string | null;
  status?: DeliveryStatus | null;
  /** The name of a type, or the beginning of one. */
  type?: string | null;
  since?: Date | null;
  after?: Position | null;
  most: number;
}

/** What became of webhooks, for pages and commands. */
@Injectable()
export class WebhookLog {
  constructor(private readonly db: Database) {}

  /** The endpoints to choose from, oldest first. */
  async named(organizationId: string): Promise<Pick<ListedEndpoint, 'id' | 'url' | 'description'>[]> {
    const [rows] = await this.db.read<[Pick<ListedEndpoint, 'id' | 'url' | 'description'>]>(
      { organizationId },
      sql`SELECT id, url, description FROM webhook_endpoints WHERE organization_id = ${organizationId} ORDER BY created_at, id`,
    );
    return rows;
  }

  /** Oldest first. */
  async endpoints(organizationId: string, id: string | null = null): Promise<ListedEndpoint[]> {
    const one = id === null ? empty : sql`AND w.id = ${id}`;
    const [rows] = await this.db.read<[ListedEndpoint]>(
      { organizationId },
      sql`SELECT w.id, w.organization_id AS "organizationId", w.url, w.event_types AS "eventTypes", w.description,
          w.disabled_at IS NULL AS enabled, w.disabled_reason AS "disabledReason", w.failing_since AS "failingSince",
          ${raw(HEALTH.waiting)} AS waiting, ${raw(HEALTH.waitingSince)} AS "waitingSince",
          ${raw(HEALTH.last('status'))} AS "lastStatus", ${raw(HEALTH.last('tried_at'))} AS "lastAt",
          ${raw(HEALTH.previousUntil)} AS "previousUntil", w.created_at AS "createdAt"
        FROM webhook_endpoints w WHERE w.organization_id = ${organizationId} ${one} ORDER BY w.created_at, w.id`,
    );
    return rows;
  }

  /** Newest first; one more than `most` if there are further ones. */
  async deliveries(organizationId: string, wanted: WantedDeliveries): Promise<ListedDelivery[]> {
    const { id, endpointId, status, type, since, after = null, most } = wanted;
    const conditions: Sql[] = [
      ...(id ? [sql`AND d.id = ${id}`] : []),
      ...(endpointId ? [sql`AND d.endpoint_id = ${endpointId}`] : []),
      ...(status ? [sql`AND d.status = ${status}`] : []),
      ...(type ? [sql`AND starts_with(d.kind, ${type})`] : []),
      ...(since ? [sql`AND d.created_at >= ${since.toISOString()}::timestamptz`] : []),
    ];
    const all = conditions.reduce((whole, one) => sql`${whole} ${one}`, empty);
    const [rows] = await this.db.read<[ListedDelivery]>(
      { organizationId },
      sql`SELECT d.id, d.endpoint_id AS "endpointId", w.url, d.event_id AS "eventId", d.kind AS "eventType", d.status, d.attempts,
          d.last_error AS problem, d.response_status AS "responseStatus", d.duration_ms AS "durationMs", d.answer,
          d.created_at AS "createdAt", d.due_at AS "dueAt", d.tried_at AS "triedAt"
        FROM outbox d LEFT JOIN webhook_endpoints w ON w.organization_id = d.organization_id AND w.id = d.endpoint_id
        WHERE d.organization_id = ${organizationId} AND d.topic = 'webhook' ${all}${behind(after, 'd.created_at', 'd.id')}
        ORDER BY d.created_at DESC, d.id DESC LIMIT ${most + 1}`,
    );
    return rows;
  }
}
