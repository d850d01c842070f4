import { isStorable, type Position } from '@app/database';
import { positionText, queryOf as query } from '../web/paging.js';

/** Which people are listed. `waiting`: people who joined with a code and wait for an owner or admin to decide. */
export const STATUSES = ['accepted', 'pending', 'waiting', 'archived'] as const;
export const ROLES = ['owner', 'admin', 'tutor', 'student', 'parent'] as const;

export const DAYS = ['7', '30'] as const;

export interface PeopleFilter {
  status: (typeof STATUSES)[number] | null;
  role: (typeof ROLES)[number] | null;
  /** Only people who were added in so many days. */
  days: (typeof DAYS)[number] | null;
  /** Text to find in names and addresses; empty for everybody. */
  search: string;
}

const LONGEST_SEARCH = 100;

/** Invalid values are ignored. */
export function readFilter({ status, role, days, search }: Record<string, unknown>): PeopleFilter {
  const oneOf = <T extends string>(values: readonly T[], value: unknown) => values.find((one) => one === value) ?? null;
  return {
    status: oneOf(STATUSES, status),
    role: oneOf(ROLES, role),
    days: oneOf(DAYS, days),
    search: typeof search === 'string' && isStorable(search) ? shortened(search.trim()) : '',
  };
}

/** The query of the page with this filter, from this position on. */
export function queryOf({ status, role, days, search }: PeopleFilter, after: Position | null = null): string {
  return query({ status, role, days, search, after: after && positionText(after) });
}

/** As many characters as are searched, none of them cut in two. */
const shortened = (text: string): string =>
  Array.from(text.slice(0, 2 * LONGEST_SEARCH))
    .slice(0, LONGEST_SEARCH)
    .join('');
