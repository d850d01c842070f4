import { isStorable } from '@app/database';
import { Fault, Faults, isFault, type Parser } from './fault.js';
import { canonicalUuid, parseDate } from './parsers.js';
import { readObject } from './read-object.js';

/** Unicode code points, which is what lengths count. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

export interface TextRule {
  min?: number;
  max: number;
  pattern?: { shape: RegExp; message: string };
  /** Surrounding blanks do not count and are not kept. */
  trim?: boolean;
}

/** Something that a reader sees: no blank, and none of the characters that are invisible by design. */
const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}]/u;

/** Text, measured in code points, without control characters. One that has to be there is not of blanks alone. */
export function jsonText({ min = 0, max, pattern, trim = false }: TextRule): Parser<string> {
  return (raw) => {
    if (typeof raw !== 'string') return new Fault('string_type', 'Give a text.');
    if (!isStorable(raw)) {
      return new Fault(
        'value_error',
        'Leave out control characters other than tabs and line breaks, and halves of surrogate pairs.',
      );
    }
    const text = trim ? raw.trim() : raw;
    // A code point has at most two units: what is far too long is not counted.
    const length = text.length > 2 * max ? text.length : codePoints(text);
    if (length < min) return new Fault('string_too_short', `Give at least ${min} character${min === 1 ? '' : 's'}.`);
    if (length > max) return new Fault('string_too_long', `Give at most ${max} characters.`);
    if (min > 0 && !VISIBLE.test(text)) return new Fault('string_too_short', 'Give a text that is not blank.');
    if (pattern && !pattern.shape.test(text)) return new Fault('string_pattern_mismatch', pattern.message);
    return text;
  };
}

export const jsonUuid: Parser<string> = (raw) => {
  if (typeof raw !== 'string') return new Fault('string_type', 'Give a UUID as text.');
  return (
    canonicalUuid(raw) ?? new Fault('uuid_parsing', 'Give a UUID, for example 0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30.')
  );
};

export const jsonBoolean: Parser<boolean> = (raw) =>
  typeof raw === 'boolean' ? raw : new Fault('bool_type', 'Give true or false, without quotes.');

export function jsonEnum<const T extends string>(values: readonly T[]): Parser<T> {
  return (raw) => values.find((value) => value === raw) ?? new Fault('enum', `Give one of ${values.join(', ')}.`);
}

/** One of the two brands of the configuration. */
export const jsonBrand: Parser<string> = (raw, env) => {
  const brands = env.get('BLOG_BRANDS');
  return brands.find((brand) => brand === raw) ?? new Fault('enum', `Give one of ${brands.join(', ')}.`);
};

const LINK = /^https?:\/\/[^\s\p{Cc}]+$/iu;

/** The address of something on the web, kept as it was given. */
export function jsonLink(max: number): Parser<string> {
  const text = jsonText({ max });
  return (raw, env) => {
    const link = text(raw, env);
    if (typeof link !== 'string' || (LINK.test(link) && URL.canParse(link))) return link;
    return new Fault('value_error', 'Give an address that starts with https:// or http://.');
  };
}

/** An instant; a date alone is its midnight in UTC. */
export const jsonInstant: Parser<Date> = (raw) => {
  if (typeof raw !== 'string') return new Fault('string_type', 'Give an ISO 8601 date-time as text.');
  return (
    parseDate(raw)?.at ?? new Fault('datetime_parsing', 'Give an ISO 8601 date-time, for example 2026-05-01T09:30:00Z.')
  );
};

/** A day, `YYYY-MM-DD`; of a date-time, the day that the caller wrote, whatever its offset. */
export const jsonDay: Parser<string> = (raw) => {
  if (typeof raw !== 'string') return new Fault('string_type', 'Give an ISO 8601 date as text.');
  return parseDate(raw)
    ? raw.slice(0, 10)
    : new Fault('date_parsing', 'Give an ISO 8601 date, for example 2026-05-01.');
};

/** A list whose every item is read by itself; all faults are told, each at its position. */
export function jsonList<T>(item: Parser<T>, { min = 0, max }: { min?: number; max: number }): Parser<T[]> {
  return (raw, env) => {
    if (!Array.isArray(raw)) return new Fault('list_type', 'Give a list.');
    if (raw.length < min) return new Fault('too_short', `Give at least ${min} item${min === 1 ? '' : 's'}.`);
    if (raw.length > max) return new Fault('too_long', `Give at most ${max} items.`);
    const items = raw.map((value: unknown) => item(value, env));
    const faults = new Faults();
    for (const [index, value] of items.entries()) if (isFault(value)) faults.add(value, index);
    return faults.count > 0 ? faults : (items as T[]);
  };
}

/** An object of a request class; what the class does not name is refused. */
export function jsonObject<T extends object>(shape: new () => T): Parser<T> {
  return (raw, env) => {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return new Fault('dict_type', 'Give an object.');
    const { value, faults } = readObject(shape, raw, env);
    return faults.count > 0 ? faults : (value as T);
  };
}

/** What stands for an object whose faults are its own affair; null when they are the request's. */
export type Tolerate<T> = (faults: Faults, raw: Record<string, unknown>) => T | null;

/** One of several classes, told apart by a field whose values are their names. */
export function jsonUnion<T extends object>(
  tag: string,
  shapes: Record<string, new () => T>,
  tolerate: Tolerate<T> = () => null,
): Parser<T> {
  return (raw, env) => {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return new Fault('dict_type', 'Give an object.');
    const name = (raw as Record<string, unknown>)[tag];
    const among = Object.keys(shapes).join(', ');
    if (!Object.hasOwn(raw, tag)) return new Fault('union_tag_not_found', `Give "${tag}": one of ${among}.`);
    const shape = typeof name === 'string' && Object.hasOwn(shapes, name) ? shapes[name] : undefined;
    if (!shape) return new Fault('union_tag_invalid', `"${tag}" must be one of ${among}.`);
    const { value, faults } = readObject(shape, raw, env);
    return faults.count === 0 ? (value as T) : (tolerate(faults, raw as Record<string, unknown>) ?? faults);
  };
}

/** null is the default. */
export function orDefault<T>(parse: Parser<T>, fallback: T): Parser<T> {
  return (raw, env) => (raw === null ? fallback : parse(raw, env));
}

/** null stays null. */
export function orNull<T>(parse: Parser<T>): Parser<T | null> {
  return (raw, env) => (raw === null ? null : parse(raw, env));
}
