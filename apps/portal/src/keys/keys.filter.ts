import type { KeyFilter } from '@app/access';
import { isStorable } from '@app/database';
import { queryOf as query } from '../web/paging.js';

/** Enough for the name or the shown characters. A whole key, pasted by mistake, is cut, so that most of it never leaves the browser. */
export const LONGEST_SEARCH = 40;

/** The filter in the query; invalid values are ignored. The home page links to `?unused=30` and `?expiring=14`. */
export function readFilter({ search, unused, expiring }: Record<string, unknown>): KeyFilter {
  const text = typeof search === 'string' && isStorable(search) ? search.trim().slice(0, LONGEST_SEARCH) : '';
  return { search: text, unused: unused === '30', expiring: expiring === '14' };
}

/** The query of a page of the list with this filter. */
export function queryOf({ search, unused, expiring }: KeyFilter, page: number): string {
  const [days, soon] = [unused ? '30' : null, expiring ? '14' : null];
  return query({ search, unused: days, expiring: soon, page: page > 1 ? String(page) : null });
}
