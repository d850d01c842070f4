import type { Position } from '@app/database';

/** The last millisecond that is a date for the database and in URLs: of the year 9999. */
const LAST_MS = 253_402_300_799_999;

const POSITION = /^(\d{1,15})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** A position in a list, newest first, as in the URL of the next page: `1795305600000-<id>`. */
export const positionText = ({ at, id }: Position): string => `${at.getTime()}-${id}`;

/** Parses {@link positionText}; null for anything else, which means the first page. */
export function readPosition(text: unknown): Position | null {
  const match = typeof text === 'string' ? POSITION.exec(text) : null;
  const ms = Number(match?.[1]);
  return match && ms <= LAST_MS ? { at: new Date(ms), id: match[2]! } : null;
}

/** The query string of a page of a list, with the values that are set. */
export function queryOf(values: Record<string, string | null>): string {
  const given = Object.entries(values).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return given.length > 0 ? `?${new URLSearchParams(given).toString()}` : '';
}
