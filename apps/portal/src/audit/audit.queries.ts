import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import { behind, MANAGES } from '@app/database';
import { shownName } from '@app/people';
import { endOfDay, startOfDay } from '@app/scheduling';
import type { Membership } from '../web/sessions.js';
import type { AuditFilters } from './audit.filters.js';

/** A row of the audit log, with the names that the organization may see. */
export interface AuditRow {
  id: string;
  at: Date;
  operation: string;
  status: number;
  result: string;
  details: Record<string, unknown>;
  network: string | null;
  requestId: string;
  userId: string | null;
  userName: string | null;
  keyId: string | null;
  keyName: string | null;
  personId: string | null;
  personName: string | null;
  /** The key that it was about. */
  aboutKeyId: string | null;
  aboutKeyName: string | null;
  /** How often a key was refused this in that hour. */
  times: number | null;
}

export interface NamedRow {
  id: string;
  name: string;
}

const COLUMNS = raw(
  'id, created_at, operation, status, result, details, network, request_id, user_id, api_key_id, person_id',
);
const NEWEST_FIRST = raw('ORDER BY created_at DESC, id DESC');

/** A page of the log, newest first. Names are looked up only for the rows of the page. */
export function auditPage({ organizationId, timeZone }: Membership, filters: AuditFilters, rows: number): Sql {
  const { person, key, day, before } = filters;
  const [from, to] = day ? [startOfDay(day, timeZone), endOfDay(day, timeZone)] : [null, null];
  const common = sql`organization_id = ${organizationId}
    ${key ? sql`AND api_key_id = ${key}` : empty}
    ${from ? sql`AND created_at BETWEEN ${from.toISOString()} AND ${to.toISOString()}` : empty}
    ${behind(before)}`;
  const read = (which: Sql) =>
    sql`(SELECT ${COLUMNS} FROM audit_log WHERE ${common} ${which} ${NEWEST_FIRST} LIMIT ${rows})`;
  // What somebody did and what was done to them have an index each.
  const found = person
    ? [read(sql`AND user_id = ${person}`), read(sql`AND person_id = ${person} AND user_id IS DISTINCT FROM ${person}`)]
    : [read(empty)];
  const aboutKey = sql`(a.details ->> 'api_key_id')::uuid`;
  return sql`
    SELECT a.id, a.created_at AS at, a.operation, a.status, a.result, a.details, a.network, a.request_id AS "requestId",
      a.user_id AS "userId", ${nameOf(organizationId, raw('a.user_id'))} AS "userName", a.api_key_id AS "keyId",
      ${keyName(organizationId, raw('a.api_key_id'))} AS "keyName", a.person_id AS "personId",
      ${nameOf(organizationId, raw('a.person_id'))} AS "personName", ${aboutKey} AS "aboutKeyId",
      ${keyName(organizationId, aboutKey)} AS "aboutKeyName",
      CASE WHEN a.status >= 400 THEN (SELECT sum(r.count)::integer FROM refusals r
        WHERE r.organization_id = ${organizationId} AND r.api_key_id = a.api_key_id AND r.operation = a.operation
          AND r.status = a.status AND r.minute >= date_trunc('hour', a.created_at, 'UTC')
          AND r.minute < date_trunc('hour', a.created_at, 'UTC') + interval '1 hour') END AS times
    FROM (SELECT * FROM (${join(found, ' UNION ALL ')}) f ${NEWEST_FIRST} LIMIT ${rows}) a
    ORDER BY a.created_at DESC, a.id DESC`;
}

/** Null for somebody who was never of the organization. */
function nameOf(organizationId: string, id: Sql): Sql {
  const tie = (table: string) => sql`(SELECT ${shownName('t')} FROM ${raw(table)} t
    LEFT JOIN users u ON u.id = t.user_id WHERE t.organization_id = ${organizationId} AND t.user_id = ${id})`;
  return sql`coalesce(${tie('members')}, ${tie('parents')})`;
}

function keyName(organizationId: string, id: Sql): Sql {
  return sql`(SELECT k.name FROM api_keys k WHERE k.organization_id = ${organizationId} AND k.id = ${id})`;
}

/** The people to choose from: those who manage the organization, and the one who is chosen. */
export function people(organizationId: string, chosen: string | null, most: number): Sql {
  return sql`
    SELECT c.id, ${nameOf(organizationId, raw('c.id'))} AS name FROM (
      SELECT user_id AS id FROM members WHERE organization_id = ${organizationId} AND ${MANAGES}
      UNION SELECT t.user_id FROM (SELECT user_id FROM members WHERE organization_id = ${organizationId}
        UNION SELECT user_id FROM parents WHERE organization_id = ${organizationId}) t WHERE t.user_id = ${chosen}) c
    ORDER BY c.id = ${chosen} DESC NULLS LAST, 2, 1 LIMIT ${most}`;
}

/** The keys to choose from: the newest, and the one that is chosen. */
export function keys(organizationId: string, chosen: string | null, most: number): Sql {
  return sql`
    SELECT id, name || ' (' || first_four || '…' || last_four || ')' AS name FROM api_keys
    WHERE organization_id = ${organizationId} ORDER BY id = ${chosen} DESC NULLS LAST, created_at DESC, id DESC LIMIT ${most}`;
}
