import { Injectable } from '@nestjs/common';
import sql, { empty, type Sql } from 'sql-template-tag';
import { behind, Database, pageOf, type Position } from '@app/database';
import type { Membership } from '../web/sessions.js';
import { ActivityFilters } from './activity-filters.js';
import { type Chart, chartOf, type Hour } from './chart.js';

const PAGE = 25;
const MOST_KEYS = 50;

/** A key to filter by: one that was used in the last 7 days. */
interface Key {
  id: string;
  name: string;
  firstFour: string;
  lastFour: string;
}

export interface RequestView {
  id: string;
  keyId: string;
  keyName: string | null;
  method: string;
  route: string | null;
  status: number;
  durationMs: number;
  requestId: string;
  createdAt: Date;
}

export interface Activity {
  keys: Key[];
  requests: RequestView[];
  /** Where the next page begins; null on the last one. */
  older: Position | null;
  chart: Chart;
}

/** Reads the request log of an organization. */
@Injectable()
export class ActivityService {
  constructor(private readonly db: Database) {}

  async look({ organizationId, timeZone }: Membership, filters: ActivityFilters): Promise<Activity> {
    const { before } = filters;
    const where = conditions(organizationId, filters);
    const beyond = behind(before, 'r.created_at', 'r.id');
    const [keys, rows, hours] = await this.db.read<[Key, RequestView, Hour]>(
      { organizationId },
      sql`SELECT id, name, first_four AS "firstFour", last_four AS "lastFour" FROM api_keys
        WHERE organization_id = ${organizationId} AND (last_used_at > now() - interval '7 days' OR id = ${filters.key}::uuid)
        ORDER BY id = ${filters.key}::uuid DESC NULLS LAST, created_at DESC, id DESC LIMIT ${MOST_KEYS}`,
      sql`SELECT r.id, r.api_key_id AS "keyId", k.name AS "keyName", r.method, r.route, r.status, r.duration_ms AS "durationMs",
          r.request_id AS "requestId", r.created_at AS "createdAt"
        FROM request_log r LEFT JOIN api_keys k ON k.organization_id = r.organization_id AND k.id = r.api_key_id
        WHERE ${where} ${beyond} ORDER BY r.created_at DESC, r.id DESC LIMIT ${PAGE + 1}`,
      hoursOf(where, timeZone),
    );
    const { rows: requests, next: older } = pageOf(rows, PAGE, 'createdAt');
    return { keys, requests, chart: chartOf(hours, timeZone), older };
  }

  /** The requests of one key. */
  async chart({ organizationId, timeZone }: Membership, key: string): Promise<Chart> {
    const where = conditions(organizationId, new ActivityFilters(key, null, null, null));
    const [hours] = await this.db.read<[Hour]>({ organizationId }, hoursOf(where, timeZone));
    return chartOf(hours, timeZone);
  }
}

function conditions(organizationId: string, { key, route, statuses }: ActivityFilters): Sql {
  return sql`r.organization_id = ${organizationId} AND r.created_at > now() - interval '7 days'
    ${key ? sql`AND r.api_key_id = ${key}` : empty} ${route ? sql`AND r.route = ${route}` : empty}
    ${statuses ? sql`AND r.status BETWEEN ${statuses[0]} AND ${statuses[1]}` : empty}`;
}

/** Hours in the time zone, which may start at half past an hour of UTC. */
function hoursOf(where: Sql, timeZone: string): Sql {
  return sql`
    SELECT date_bin('1 hour', r.created_at, date_trunc('hour', now(), ${timeZone})) AS start, count(*)::integer AS requests,
      (count(*) FILTER (WHERE r.status >= 400))::integer AS errors
    FROM request_log r WHERE ${where} GROUP BY 1 ORDER BY 1`;
}
