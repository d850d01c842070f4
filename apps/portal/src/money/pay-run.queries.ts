import sql, { type Sql } from 'sql-template-tag';
import { IS_STAFF } from '@app/database';
import { memberName } from './invoices.queries.js';

/** A correction of what a tutor earned. */
export interface AdjustmentRow {
  id: string;
  period_start: string;
  amount: number;
  note: string | null;
}

export interface PayoutRow {
  id: string;
  amount: number;
  paid_at: Date;
  /** Whether it can be taken back as a mistake. */
  revocable: boolean;
}

/** The names of these members of staff. */
export const namesOf = (organizationId: string, ids: string[]): Sql => sql`
  SELECT i.id, ${memberName(organizationId, sql`i.id`)} AS name FROM unnest(${ids}::uuid[]) i (id)
  JOIN members s ON s.organization_id = ${organizationId} AND s.user_id = i.id AND s.${IS_STAFF}`;

export const adjustmentsOf = (organizationId: string, tutorId: string, most: number): Sql => sql`
  SELECT id, to_char(period_start, 'YYYY-MM-DD') AS period_start, amount_cents::float8 AS amount, note FROM adjustments
  WHERE organization_id = ${organizationId} AND tutor_id = ${tutorId} AND NOT voided ORDER BY created_at DESC, id DESC LIMIT ${most}`;

export const payoutsOf = (organizationId: string, tutorId: string, most: number): Sql => sql`
  SELECT id, amount_cents::float8 AS amount, paid_at, recorded AND created_at > now() - interval '24 hours' AS revocable FROM payouts
  WHERE organization_id = ${organizationId} AND tutor_id = ${tutorId} AND NOT taken_back ORDER BY created_at DESC, id DESC LIMIT ${most}`;
