import sql, { type Sql } from 'sql-template-tag';

/** The uploaded receipt of somebody's own expense. */
export const receiptOf = (organizationId: string, tutorId: string, claimId: string): Sql => sql`
  SELECT receipt_file_id AS id FROM expense_claims
  WHERE organization_id = ${organizationId} AND id = ${claimId} AND tutor_id = ${tutorId} AND receipt_file_id IS NOT NULL`;

/** What the tutor was last paid for a kilometer, which the next trip is suggested. */
export const lastRateOf = (organizationId: string, tutorId: string): Sql => sql`
  SELECT rate_cents::float8 AS cents FROM mileage_trips
  WHERE organization_id = ${organizationId} AND tutor_id = ${tutorId} AND rate_cents IS NOT NULL ORDER BY created_at DESC, id DESC LIMIT 1`;
