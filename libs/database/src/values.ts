import { domainToASCII, domainToUnicode } from 'node:url';

/** C0 control characters except tab, line feed and carriage return. */
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f]/;

/**
 * Whether the text can be stored. PostgreSQL rejects NUL and lone surrogates; other control characters have no meaning
 * in a text, and take six bytes each in JSON.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !CONTROL.test(text);
}

/** Whether nothing in the text is visible: whitespace, characters that are never drawn, and the Braille pattern without dots. */
export function isBlank(text: string): boolean {
  return !/[^\s\u2800\p{Default_Ignorable_Code_Point}]/u.test(text);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The canonical form of a UUID; null for anything else. PostgreSQL itself would accept braces and missing dashes. */
export function canonicalUuid(text: string): string | null {
  return UUID.test(text) ? text.toLowerCase() : null;
}

/** Whether it is the name of a time zone, such as Australia/Melbourne. */
export function isTimeZone(name: string): boolean {
  // Offsets are not names, and PostgreSQL reads `+05:30` as west of Greenwich.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** An instant, and whether it was given as a day. */
export interface DateBound {
  at: Date;
  wholeDay: boolean;
}

const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/**
 * Parses an ISO 8601 date or date-time of the years 1 to 9999. Without an offset it is UTC. Returns null for a day or
 * time that does not exist: February 30th, 24:00, a leap second.
 */
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

/**
 * The form in which addresses are compared and kept unique. Unicode has two ways to write a letter with an accent, and
 * a domain has two ways to write letters beyond ASCII, of which this is the readable one.
 */
export function normalizeEmail(text: string): string {
  const address = text.trim().toLowerCase().normalize('NFC');
  const at = address.lastIndexOf('@') + 1;
  return address.slice(0, at) + readableDomain(address.slice(at));
}

/** The length of the longest domain. Decoding longer texts would take more than linear time. */
const LONGEST_DOMAIN = 253;

/** Decodes Punycode in a domain, unless the result would be a different domain. */
function readableDomain(domain: string): string {
  if (domain.length > LONGEST_DOMAIN || !domain.includes('xn--')) return domain;
  const readable = domainToUnicode(domain);
  return readable && domainToASCII(readable) === domainToASCII(domain) ? readable : domain;
}
