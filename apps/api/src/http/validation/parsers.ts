import type { Env } from '@app/config';
import { Fault, type Parser } from './fault.js';

/** A value of the query string: text, and given once. */
function once<T>(parse: (text: string, env: Env) => T | Fault): Parser<T> {
  return (raw, env) => {
    if (typeof raw !== 'string') return new Fault('value_error', 'Give this parameter once.');
    return parse(raw, env);
  };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The canonical form of a UUID, null for anything else; PostgreSQL itself would take braces and missing dashes. */
export function canonicalUuid(text: string): string | null {
  return UUID.test(text) ? text.toLowerCase() : null;
}

export const uuidText: Parser<string> = once(
  (text) =>
    canonicalUuid(text) ?? new Fault('uuid_parsing', 'Give a UUID, for example 0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30.'),
);

/** Decimal digits only: no exponent, no hexadecimal, no blanks. */
export function integerText(min: number, max: number): Parser<number> {
  return once((text) => {
    if (!/^-?\d+$/.test(text)) return new Fault('int_parsing', 'Give a whole number in decimal digits.');
    // Compared before it is converted: a double would round what is too large. 40 digits say that it is, leading zeros not.
    const exact = BigInt(text.replace(/^(-?)0+(?=\d)/, '$1').slice(0, 40));
    if (exact < BigInt(min)) return new Fault('greater_than_equal', `Give a number of at least ${min}.`);
    if (exact > BigInt(max)) return new Fault('less_than_equal', `Give a number of at most ${max}.`);
    return Number(exact);
  });
}

export const booleanText: Parser<boolean> = once((text) => {
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  return new Fault('bool_parsing', 'Give true or false.');
});

export function enumText<const T extends string>(values: readonly T[]): Parser<T> {
  return once(
    (text) => values.find((value) => value === text) ?? new Fault('enum', `Give one of ${values.join(', ')}.`),
  );
}

/** One of the two brands of the configuration. */
export const brandText: Parser<string> = once((text, env) => {
  const brands = env.get('BLOG_BRANDS');
  return brands.includes(text) ? text : new Fault('enum', `Give one of ${brands.join(', ')}.`);
});

/** An instant, and whether it was given as a day. */
export interface DateBound {
  at: Date;
  wholeDay: boolean;
}

const DAY_MS = 86_400_000;

/** The last millisecond of an upper bound: a day counts whole. */
export function endOf({ at, wholeDay }: DateBound): Date {
  return wholeDay ? new Date(at.getTime() + DAY_MS - 1) : at;
}

/** Whether an upper bound ends before a lower one begins: nothing lies between them. */
export function isBefore(to: DateBound, from: DateBound): boolean {
  return endOf(to) < from.at;
}

const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/** An ISO 8601 date or date-time of the years 1 to 9999. One without an offset is UTC. */
export const dateText: Parser<DateBound> = once(
  (text) => parseDate(text) ?? new Fault('date_parsing', 'Give an ISO 8601 date or date-time, for example 2026-05-01.'),
);

/** Null for what the calendar or the clock does not have: February 30th, 24:00, a leap second. */
export function parseDate(text: string): DateBound | null {
  const match = DATE_TIME.exec(text);
  if (!match) return null;
  const numbers = match.slice(1, 7).map((part: string | undefined) => Number(part ?? 0));
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = numbers;
  const millisecond = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  const utc = new Date(0);
  utc.setUTCFullYear(year, month - 1, day);
  if (year < 1 || utc.getUTCMonth() !== month - 1 || utc.getUTCDate() !== day) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  const offset = offsetMinutes(match[8]);
  if (offset === null) return null;
  utc.setUTCHours(hour, minute - offset, second, millisecond);
  if (utc.getUTCFullYear() < 1 || utc.getUTCFullYear() > 9999) return null;
  return { at: utc, wholeDay: match[4] === undefined };
}

function offsetMinutes(offset: string | undefined): number | null {
  if (!offset || /^z$/i.test(offset)) return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(3).replace(':', '') || 0);
  if (hours > 15 || minutes > 59) return null;
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

/** An opaque token of this service: its form is checked here, its meaning where it is used. */
export function tokenText(pattern: RegExp, message: string): Parser<string> {
  return once((text) => (pattern.test(text) ? text : new Fault('value_error', message)));
}
