import sql, { type Sql } from 'sql-template-tag';
import { behind, type Position } from '@app/database';

/** A trip or an expense that somebody claims for themselves. */
export interface OwnClaimRow {
  kind: 'mileage' | 'expenses';
  id: string;
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
  /** An address elsewhere. */
  receipt: string | null;
  /** Whether the receipt was uploaded. */
  uploaded: boolean;
  created_at: Date;
}

/** Newest first. */
export function claimsOf(organizationId: string, tutorId: string, before: Position | null, most: number): Sql {
  const some = sql`c.organization_id = ${organizationId} AND c.tutor_id = ${tutorId} ${behind(before, 'c.created_at', 'c.id')}
    ORDER BY c.created_at DESC, c.id DESC LIMIT ${most}`;
  return sql`
    (SELECT 'mileage' AS kind, c.id, c.status, to_char(c.trip_date, 'YYYY-MM-DD') AS day, c.destination AS place, NULL AS category,
      c.distance_km AS km, c.amount_cents::float8 AS claimed, c.amount_cents::float8 AS approved, NULL AS receipt, false AS uploaded, c.created_at
    FROM mileage_trips c WHERE ${some})
    UNION ALL
    (SELECT 'expenses', c.id, c.status, to_char(c.expense_date, 'YYYY-MM-DD'), c.vendor, c.category, NULL, c.amount_cents::float8,
      c.approved_amount_cents::float8, c.receipt_photo_url, c.receipt_file_id IS NOT NULL, c.created_at
    FROM expense_claims c WHERE ${some})
    ORDER BY created_at DESC, id DESC LIMIT ${most}`;
}

/** The uploaded receipt of somebody's own expense. */
export const receiptOf = (organizationId: string, tutorId: string, claimId: string): Sql => sql`
  SELECT receipt_file_id AS id FROM expense_claims
  WHERE organization_id = ${organizationId} AND id = ${claimId} AND tutor_id = ${tutorId} AND receipt_file_id IS NOT NULL`;

/** What the tutor was last paid for a kilometer, which the next trip is suggested. */
export const lastRateOf = (organizationId: string, tutorId: string): Sql => sql`
  SELECT rate_cents::float8 AS cents FROM mileage_trips
  WHERE organization_id = ${organizationId} AND tutor_id = ${tutorId} AND rate_cents IS NOT NULL ORDER BY created_at DESC, id DESC LIMIT 1`;
