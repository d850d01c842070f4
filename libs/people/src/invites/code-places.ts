import type { Tables } from '@app/database';

type Scope = Tables['invites']['scope'];

/**
 * How many people a code or link lets in that anybody can use. Parents see a child, so their code is for a family; the
 * others are for a class. Codes to the organization itself have no limit: whom they let in is decided by who waits.
 */
const PLACES: Partial<Record<Scope, number>> = { parent: 2, classroom: 40, group: 40, tutor_student: 40 };

/** The limit of a new invite; null for one without. */
export function placesOf({ scope, email }: { scope: Scope; email?: string | null }): number | null {
  return email ? null : (PLACES[scope] ?? null);
}
