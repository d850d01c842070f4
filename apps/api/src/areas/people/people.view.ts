import { VALUES } from '@app/database';
import { flag, like, nullable, oneOf, text } from '../../http/kit.js';

/**
 * A person as an organization may see them: their login, or only what the organization supplied until they accept. A
 * placeholder address shows as null. Row-level security hides all other logins, hence the left join.
 *
 * @param membership alias of the row that ties the person to the organization
 */
export function person(membership: string) {
  const of = (column: string) =>
    `CASE WHEN ${membership}.accepted_at IS NULL THEN ${membership}.supplied_${column} ELSE u.${column} END`;
  const placeholder = `(u.placeholder_email AND ${membership}.accepted_at IS NOT NULL)`;
  return {
    first_name: nullable(text(of('first_name'), 'Mia')),
    last_name: nullable(text(of('last_name'), 'Nguyen')),
    full_name: nullable(text(`${of('first_name')} || ' ' || ${of('last_name')}`, 'Mia Nguyen')),
    email: nullable(text(`CASE WHEN ${placeholder} THEN NULL ELSE ${of('email')} END`, 'mia@example.org')),
    placeholder_email: like(nullable(flag(placeholder)), false),
    status: nullable(oneOf(`${membership}.status`, VALUES.members.status)),
  };
}
