import { type Place, placeText } from '../web/place.js';

/** Which people are listed. `waiting`: tutors who joined by a code, before an owner or admin has decided. */
export const STATUSES = ['accepted', 'pending', 'waiting', 'archived'] as const;
export const ROLES = ['owner', 'admin', 'tutor', 'student', 'parent'] as const;

export interface PeopleFilter {
  status: (typeof STATUSES)[number] | null;
  role: (typeof ROLES)[number] | null;
}

/** What is not one of the values is no filter. */
export function readFilter({ status, role }: Record<string, unknown>): PeopleFilter {
  const oneOf = <T extends string>(values: readonly T[], value: unknown) => values.find((one) => one === value) ?? null;
  return { status: oneOf(STATUSES, status), role: oneOf(ROLES, role) };
}

/** The query of the page with this filter, from this position on. */
export function queryOf({ status, role }: PeopleFilter, after: Place | null = null): string {
  const query = new URLSearchParams({
    ...(status && { status }),
    ...(role && { role }),
    ...(after && { after: placeText(after) }),
  });
  return query.size > 0 ? `?${query.toString()}` : '';
}
