import { isStorable, type Position } from '@app/database';
import { positionText, queryOf, readPosition } from '../web/paging.js';

/** The statuses in the form. The URL accepts any status. */
export const STATUSES: [value: string, label: string][] = [
  ['2xx', '2xx – done'],
  ['4xx', '4xx – refused'],
  ['5xx', '5xx – failed'],
  ['403', '403 – not allowed'],
  ['404', '404 – not found'],
  ['422', '422 – invalid'],
  ['429', '429 – too many'],
  ['503', '503 – overloaded'],
];

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const STATUS = /^[1-5](xx|\d\d)$/;
const LONGEST_ROUTE = 128;

/** The filters of the page; null for no filter. */
export class ActivityFilters {
  constructor(
    readonly key: string | null,
    readonly route: string | null,
    readonly status: string | null,
    readonly before: Position | null,
  ) {}

  get any(): boolean {
    return this.key !== null || this.route !== null || this.status !== null;
  }

  /** The first and the last status, inclusive. */
  get statuses(): [first: number, last: number] | null {
    const { status } = this;
    if (status === null) return null;
    const first = Number(status.replace('xx', '00'));
    return [first, status.endsWith('xx') ? first + 99 : first];
  }

  /** The query string of the first page with these filters changed. */
  queryWith(other: { route?: string; before?: Position }): string {
    const { key, status } = this;
    const before = other.before ? positionText(other.before) : null;
    return queryOf({ key, route: other.route ?? this.route, status, before }) || '?';
  }
}

/** Reads the filters, ignoring invalid values. The form shows which filters apply. */
export function readFilters({ key, route, status, before }: Record<string, unknown>): ActivityFilters {
  const matching = (value: unknown, pattern: RegExp) => {
    const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
    return pattern.test(text) ? text : null;
  };
  const path = typeof route === 'string' ? route.trim() : '';
  const usable = path !== '' && path.length <= LONGEST_ROUTE && isStorable(path);
  return new ActivityFilters(matching(key, UUID), usable ? path : null, matching(status, STATUS), readPosition(before));
}
