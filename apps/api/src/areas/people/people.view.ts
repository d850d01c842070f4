import { VALUES, visiblePerson } from '@app/database';
import { foundPerson } from '@app/people';
import { byValue, flag, kinds, like, nullable, oneOf, parameter, text } from '../../http/kit.js';

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

/** The filters of lists of people. A search finds what the list shows, and never a hidden name or address. */
export const BY_PERSON = [
  byValue('status', VALUES.members.status, 'Only people with this status.'),
  parameter(
    'search',
    kinds.search,
    'Only people in whose name or email address, as it is shown, each of these words is: at least 2 characters, whatever their case, accents, ' +
      'apostrophes and dashes.',
    { where: (words, alias) => foundPerson(alias, words, ['first_name', 'last_name', 'email']) },
  ),
] as const;

type Status = (typeof VALUES.members.status)[number];

/** How the total of a list of people is found: their counters with this status, or all of them; a search is counted by the rows. */
export function totalOf<Kind extends string>(
  kinds: Kind[],
  { status, search }: { status?: Status; search?: string } = {},
) {
  const statuses = status ? [status] : VALUES.members.status;
  const total = kinds.flatMap((kind) => statuses.map((each): `${Kind}:${Status}` => `${kind}:${each}`));
  return { total, counted: search !== undefined };
}
