import sql, { raw, type Sql } from 'sql-template-tag';
import { digitsOf, normalizeEmail } from '@app/database';
import { type Caller, instant, nullable, oneOf, type RecordSet, Source, uuid, View } from '../../../http/kit.js';
import { person } from '../people.view.js';

const { first_name, last_name, email } = person('m');

const ACCOUNT_TYPES = ['owner', 'admin', 'tutor', 'student', 'parent'];

export const userLookupView = new View('UserLookup', {
  id: uuid('m.user_id'),
  first_name,
  last_name,
  email,
  account_type: nullable(oneOf('m.role', ACCOUNT_TYPES)),
  created_at: nullable(instant('m.created_at')),
});

const SHARED = `organization_id, user_id, supplied_first_name, supplied_last_name, supplied_email, supplied_phone,
  accepted_at, frozen_at, created_at`;

/** Everybody of the organization; somebody who is both staff and a parent, as both. */
const PEOPLE = new Source(
  // Without a WHERE, so that PostgreSQL looks people up in each table rather than reading all parents.
  `(SELECT ${SHARED}, role, true AS shown FROM members
    UNION ALL SELECT ${SHARED}, 'parent'::text, enrolled_at IS NOT NULL FROM parents)`,
  'm',
  { id: 'user_id', joins: sql`LEFT JOIN users u ON u.id = m.user_id` },
);

/** Of several who share a phone, the one who accepted first. */
const FIRST = sql`m.accepted_at, m.created_at, m.user_id, m.role`;

/** The person whose address, as it is shown, is this one. */
export function personByEmail(caller: Caller, address: string): RecordSet {
  const normalized = normalizeEmail(address);
  const logins = sql`SELECT id FROM users WHERE email_normalized = ${normalized}`;
  const given = sql`lower(supplied_email) IN (${normalized}, ${address.toLowerCase()})`;
  const same = sql`CASE WHEN m.accepted_at IS NULL THEN ${given} 
    ELSE u.email_normalized = ${normalized} AND NOT u.placeholder_email END`;
  return { view: userLookupView, source: PEOPLE, where: among(caller, logins, given, same), first: FIRST };
}

/** The person whose phone number, as the organization may see it, has these digits. */
export function personByPhone(caller: Caller, phone: string): RecordSet {
  const digits = sql`(SELECT ${raw(digitsOf('wanted'))} FROM (SELECT ${phone}::text AS wanted) w)`;
  const logins = sql`SELECT id FROM users WHERE phone_digits = ${digits}`;
  const given = sql`${raw(digitsOf('supplied_phone'))} = ${digits}`;
  const same = sql`CASE WHEN m.accepted_at IS NULL THEN ${given} ELSE u.phone_digits = ${digits} END`;
  return { view: userLookupView, source: PEOPLE, where: among(caller, logins, given, same), first: FIRST };
}

/**
 * Finds candidates by indexes, because row-level security keeps other conditions from using one.
 *
 * @param logins ids of logins that match, of which row-level security shows those that accepted
 * @param given whether what the organization supplied of somebody who has not accepted matches
 * @param same whether the person, as the organization may see them, matches
 */
function among({ organizationId }: Caller, logins: Sql, given: Sql, same: Sql): Sql {
  const unaccepted = (table: Sql) =>
    sql`SELECT user_id FROM ${table} WHERE organization_id = ${organizationId} AND accepted_at IS NULL AND ${given}`;
  return sql`m.user_id IN (${logins} UNION ALL ${unaccepted(raw('members'))} UNION ALL ${unaccepted(raw('parents'))})
    AND m.shown AND ${same}`;
}
