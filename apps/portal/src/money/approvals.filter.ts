import { CLAIM, type Position } from '@app/database';
import { positionText, queryOf as query } from '../web/paging.js';

/** Which claims are listed: those in a state, or all. */
export type ClaimFilter = (typeof CLAIM.values)[number] | 'all';

/** Those that wait for a decision, unless the page asks for others. */
export function readFilter({ state }: Record<string, unknown>): ClaimFilter {
  return [...CLAIM.values, 'all' as const].find((value) => value === state) ?? 'logged';
}

/** The query of the page with this filter, from this position on. */
export function queryOf(filter: ClaimFilter, after: Position | null = null): string {
  return query({ state: filter === 'logged' ? null : filter, after: after && positionText(after) });
}
