import { VALUES } from '@app/database';
import { visiblePerson } from '@app/people';
import { flag, like, nullable, oneOf, text } from '../../http/kit.js';

/**
 * A person as an organization may see them: {@link visiblePerson}.
 *
 * @param membership alias of the row that ties the person to the organization
 */
export function person(membership: string) {
  const shown = visiblePerson(membership);
  return {
    first_name: nullable(text(shown.first_name, 'Mia')),
    last_name: nullable(text(shown.last_name, 'Nguyen')),
    full_name: nullable(text(shown.full_name, 'Mia Nguyen')),
    email: nullable(text(shown.email, 'mia@example.org')),
    placeholder_email: like(nullable(flag(shown.placeholder_email)), false),
    status: nullable(oneOf(`${membership}.status`, VALUES.members.status)),
  };
}
