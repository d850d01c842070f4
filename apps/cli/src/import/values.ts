import { isAddress } from '@app/people';
import { canonicalUuid, isStorable, isTimeZone, parseDate } from '@app/database';

/** Why a value does not fit; completes "<field>: …". */
export class Misfit {
  constructor(readonly message: string) {}
}

/** Converts a JSON value (never null) to the value that is staged for its column. */
export type ReadValue = (value: unknown) => unknown;

/** Maximum nesting of a JSON column's value, because PostgreSQL and the API's readers recurse. */
const DEEPEST = 32;

const readJson: ReadValue = (value) => storableJson(value, DEEPEST) ?? value;

const readers: Record<string, ReadValue> = {
  uuid: (value) => (typeof value === 'string' && canonicalUuid(value)) || new Misfit('must be a UUID'),
  text: (value) => (typeof value === 'string' ? storable(value) : new Misfit('must be a string')),
  'text[]': (value) => {
    if (!Array.isArray(value)) return new Misfit('must be an array of strings');
    for (const item of value as unknown[]) {
      if (typeof item !== 'string') return new Misfit('must be an array of strings');
      const text = storable(item);
      if (text instanceof Misfit) return text;
    }
    return value as unknown[];
  },
  'uuid[]': (value) => {
    const ids = Array.isArray(value) ? value.map((id) => typeof id === 'string' && canonicalUuid(id)) : [null];
    return ids.every(Boolean) ? ids : new Misfit('must be an array of UUIDs');
  },
  boolean: (value) => (typeof value === 'boolean' ? value : new Misfit('must be true or false')),
  integer: (value) =>
    Number.isInteger(value) && Math.abs(value as number) <= 2_147_483_647
      ? value
      : new Misfit('must be a whole number below 2^31'),
  bigint: (value) => (Number.isSafeInteger(value) ? value : new Misfit('must be a whole number below 2^53')),
  'double precision': (value) => (Number.isFinite(value) ? value : new Misfit('must be a number')),
  'numeric(5,2)': (value) =>
    typeof value === 'number' && Number(value.toFixed(2)) === value
      ? value
      : new Misfit('must be a number with at most two decimals'),
  date: (value) => {
    const known = typeof value === 'string' && value.length === 10 && parseDate(value);
    return known ? value : new Misfit('must be a date like 2026-05-01');
  },
  'timestamp(3) with time zone': (value) => {
    const instant = typeof value === 'string' ? parseDate(value) : null;
    return instant?.at.toISOString() ?? new Misfit('must be an ISO 8601 date or date-time like 2026-05-01T09:30:00Z');
  },
  json: readJson,
  jsonb: readJson,
};

/** The reader for a column type, as PostgreSQL's catalog names it. */
export function readerOf(type: string): ReadValue {
  const reader = readers[type];
  if (!reader) throw new Error(`The importer cannot read values of type ${type} yet`);
  return reader;
}

/** Trims a person's name, as the API does. The schema checks its length. */
export const readName: ReadValue = (value) =>
  typeof value === 'string' ? storable(value.trim()) : new Misfit('must be a string');

/** Trims an address, as the API does. */
export const readEmail: ReadValue = (value) => {
  const text = readName(value);
  return text instanceof Misfit || isAddress(text as string) ? text : new Misfit('must be an email address');
};

/** The name of a time zone, as the API takes it. */
export const readTimeZone: ReadValue = (value) =>
  typeof value === 'string' && isTimeZone(value) ? value : new Misfit('must be a time zone like Australia/Melbourne');

const DAY = /^(mon|tues|wednes|thurs|fri|satur|sun)day$/;
const HOURS = /^([01]\d|2[0-3]):[0-5]\d-(([01]\d|2[0-3]):[0-5]\d|24:00)$/;

/** Hours by day of the week, as the API takes them. */
export const readHoursByDay: ReadValue = (value) => {
  const isHours = (one: unknown) => typeof one === 'string' && HOURS.test(one) && one.slice(6) > one.slice(0, 5);
  const entries = value !== null && typeof value === 'object' ? Object.entries(value) : [];
  const valid = entries.every(([day, hours]) => DAY.test(day) && Array.isArray(hours) && hours.every(isHours));
  if (typeof value === 'object' && !Array.isArray(value) && valid) return value;
  return new Misfit('must be hours by day like {"monday": ["16:00-18:00"]}');
};

function storable(text: string): string | Misfit {
  if (isStorable(text)) return text;
  return new Misfit('must not contain control characters other than tabs and line breaks, or lone surrogates');
}

function storableJson(value: unknown, depth: number): Misfit | null {
  if (typeof value === 'string') {
    const text = storable(value);
    return text instanceof Misfit ? text : null;
  }
  // A number too large for a double has become infinite and would be written as null.
  if (typeof value === 'number')
    return Number.isFinite(value) ? null : new Misfit('contains a number that is too large');
  if (value === null || typeof value !== 'object') return null;
  if (depth === 0) return new Misfit(`must not be nested deeper than ${DEEPEST} levels`);
  for (const [key, item] of Object.entries(value)) {
    const misfit = storableJson(key, depth) ?? storableJson(item, depth - 1);
    if (misfit) return misfit;
  }
  return null;
}
