import sql, { empty, type Sql } from 'sql-template-tag';
import { behind, IS_STAFF, type Position } from '@app/database';
import { shownName } from '@app/people';
import type { ClaimFilter } from './approvals.filter.js';

/** A trip or an expense, as whoever claims it sees it. */
export interface OwnClaimRow {
  kind: 'mileage' | 'expenses';
  id: string;
  tutor_id: string;
  status: 'logged' | 'approved' | 'rejected' | 'reimbursed';
  /** YYYY-MM-DD. */
  day: string;
  /** Where to, or from whom. */
  place: string | null;
  category: string | null;
  km: number | null;
  /** Cents; a trip may have none. */
  claimed: number | null;
  approved: number | null;
  receipt: string | null;
  /** The receipt, if it was uploaded. */
  file: string | null;
  created_at: Date;
}

/** The same with the tutor's name, for owners and admins. */
export interface ClaimRow extends OwnClaimRow {
  tutor: string | null;
}

/** Newest first. @param which begins with AND, about a trip or an expense `c` */
export function claimsThat(organizationId: string, which: Sql, before: Position | null, most: number): Sql {
  const some = sql`c.organization_id = ${organizationId} ${which} ${behind(before, 'c.created_at', 'c.id')}
    ORDER BY c.created_at DESC, c.id DESC LIMIT ${most}`;
  return sql`
    (SELECT 'mileage' AS kind, c.id, c.tutor_id, c.status, to_char(c.trip_date, 'YYYY-MM-DD') AS day, c.destination AS place,
      NULL AS category, c.distance_km AS km, c.amount_cents::float8 AS claimed, c.amount_cents::float8 AS approved,
      NULL AS receipt, NULL::uuid AS file, c.created_at
    FROM mileage_trips c WHERE ${some})
    UNION ALL
    (SELECT 'expenses', c.id, c.tutor_id, c.status, to_char(c.expense_date, 'YYYY-MM-DD'), c.vendor, c.category, NULL,
      c.amount_cents::float8, c.approved_amount_cents::float8, c.receipt_photo_url, c.receipt_file_id, c.created_at
    FROM expense_claims c WHERE ${some})
    ORDER BY created_at DESC, id DESC LIMIT ${most}`;
}

/** Newest first. */
export const claims = (organizationId: string, filter: ClaimFilter, before: Position | null, most: number): Sql => sql`
  SELECT c.*, ${shownName('m')} AS tutor
  FROM (${claimsThat(organizationId, filter === 'all' ? empty : sql`AND c.status = ${filter}`, before, most)}) c
  JOIN members m ON m.organization_id = ${organizationId} AND m.user_id = c.tutor_id LEFT JOIN users u ON u.id = m.user_id
  ORDER BY c.created_at DESC, c.id DESC`;

/** The names of the staff, also of those who have left. */
export const staffNames = (organizationId: string): Sql => sql`
  SELECT m.user_id AS id, ${shownName('m')} AS name FROM members m LEFT JOIN users u ON u.id = m.user_id
  WHERE m.organization_id = ${organizationId} AND m.${IS_STAFF}`;

export const currencyOf = (organizationId: string): Sql => sql`
  SELECT currency FROM organizations WHERE id = ${organizationId}`;
