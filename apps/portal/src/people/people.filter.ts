import { isStorable, type Position } from '@app/database';
import { positionText, queryOf as query } from '../web/paging.js';

/** Which people are listed. `waiting`: people who joined with a code and wait for an owner or admin to decide. */
export const STATUSES = ['accepted', 'pending', 'waiting', 'archived'] as const;
export const ROLES = ['owner', 'admin', 'tutor', 'student', 'parent'] as const;

/** The lists of some roles, which have a page each, by its path. */
export const LISTS = { students: 'student', families: 'parent', tutors: 'tutor', team: 'team' } as const;
export type List = keyof typeof LISTS;

export const DAYS = ['7', '30'] as const;

export interface PeopleFilter {
  status: (typeof STATUSES)[number] | null;
  /** `team`: owners and admins. */
  role: (typeof ROLES)[number] | 'team' | null;
  /** Only people who were added in so many days. */
  days: (typeof DAYS)[number] | null;
  /** Text to find in names and addresses; empty for everybody. */
  search: string;
}

const LONGEST_SEARCH = 100;

/** Invalid values are ignored. @param list the page of some roles; null for that of everybody */
export function readFilter(
  { status, role, days, search }: Record<string, unknown>,
  list: List | null = null,
): PeopleFilter {
  const oneOf = <T extends string>(values: readonly T[], value: unknown) => values.find((one) => one === value) ?? null;
  return {
    status: oneOf(STATUSES, status),
    role: list ? LISTS[list] : oneOf(ROLES, role),
    days: oneOf(DAYS, days),
    search: typeof search === 'string' && isStorable(search) ? shortened(search.trim()) : '',
  };
}

/** The list with this filter, from this position on, below the path of people: `/students?status=waiting`. */
export function pathOf(
  list: List | null,
  { status, role, days, search }: PeopleFilter,
  after: Position | null = null,
): string {
  const path = list ? `/${list}` : '';
  return path + query({ status, role: list ? null : role, days, search, after: after && positionText(after) });
}

/** As many characters as are searched, none of them cut in two. */
const shortened = (text: string): string =>
  Array.from(text.slice(0, 2 * LONGEST_SEARCH))
    .slice(0, LONGEST_SEARCH)
    .join('');
