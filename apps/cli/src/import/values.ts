import type { Env } from '@app/config';
import { canonicalUuid, isStorable, parseDate } from '@app/database';
import { Fault, FIELDS, hoursOfDay, isFault, type Kind } from '@app/fields';
import { isAddress, isEmail } from '@app/people';

/** Why a value does not fit; completes "<field>: …". */
export class Misfit {
  constructor(readonly message: string) {}
}

/** Converts a JSON value (never null) to the value that is staged for its column. */
export type ReadValue = (value: unknown, env: Env) => unknown;

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
  jsonb: (value) => (typeof value === 'object' ? value : new Misfit('must be an object or an array')),
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
};

/** The reader for a column type, as PostgreSQL's catalog names it. */
export function readerOf(type: string): ReadValue {
  const reader = readers[type];
  if (!reader) throw new Error(`The importer cannot read values of type ${type} yet`);
  return reader;
}

/** Reads a value as the API does. */
export const readBy =
  ({ parse }: Kind): ReadValue =>
  (value, env) => {
    const read = parse(value, env);
    if (!isFault(read)) return read;
    const { at, msg } = read instanceof Fault ? read : read.list[0]!;
    const place = at.map((part) => (typeof part === 'number' ? `item ${part + 1}: ` : `${part}: `)).join('');
    return new Misfit(place + msg[0]!.toLowerCase() + msg.slice(1).replace(/\.$/, ''));
  };

const readAddress = readBy(FIELDS.users.email);

/** An address, also the placeholder of somebody without one. */
export const readEmail: ReadValue = (value, env) => {
  const isPlaceholder = typeof value === 'string' && isAddress(value) && !isEmail(value);
  return isPlaceholder ? value.trim() : readAddress(value, env);
};

const DAY = /^(mon|tues|wednes|thurs|fri|satur|sun)day$/;
const readHours = readBy(hoursOfDay);

/** Hours by day of the week, as the API takes them. */
export const readHoursByDay: ReadValue = (value, env) => {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return new Misfit('must be an object');
  for (const [day, hours] of Object.entries(value as Record<string, unknown>)) {
    if (!DAY.test(day)) return new Misfit('must be hours by day like {"monday": ["16:00-18:00"]}');
    const read = readHours(hours, env);
    if (read instanceof Misfit) return new Misfit(`${day}: ${read.message}`);
    const early = (read as string[]).findIndex((one) => one.slice(6) <= one.slice(0, 5));
    if (early >= 0) return new Misfit(`${day}: item ${early + 1}: must end after it begins`);
  }
  return value;
};

function storable(text: string): string | Misfit {
  if (isStorable(text)) return text;
  return new Misfit('must not contain control characters other than tabs and line breaks, or lone surrogates');
}
