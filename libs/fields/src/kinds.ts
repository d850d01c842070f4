import { isEmail } from '@app/people';
import { canonicalUuid, type DateBound, isBlank, isStorable, isTimeZone, parseDate } from '@app/database';
import { Fault, MALFORMED_ADDRESS, type Parser } from './fault.js';

/** A JSON Schema, as in OpenAPI 3.1. */
export type Schema = Record<string, unknown>;

/** A kind of value: its parser and its JSON Schema, used for query parameters and body fields alike. */
export interface Kind<T = unknown> {
  parse: Parser<T>;
  /** Reads a query string's way to write the value, if it is not a string in JSON. */
  parseText?: Parser<T>;
  schema: Schema;
}

/** @param expected completes "Must be …" for a value that is not a string */
function fromString<T>(expected: string, schema: Schema, parse: (text: string) => T | Fault): Kind<T> {
  const refusal = new Fault('string_type', `Must be ${expected}.`);
  return { schema: { type: 'string', ...schema }, parse: (raw) => (typeof raw === 'string' ? parse(raw) : refusal) };
}

const UUID_EXAMPLE = '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30';

export const uuid = fromString(
  'a UUID string',
  { format: 'uuid' },
  (text) => canonicalUuid(text) ?? new Fault('uuid_parsing', `Must be a UUID, for example ${UUID_EXAMPLE}.`),
);

export const oneOf = (values: readonly string[]): Kind<string> => ({
  schema: { type: 'string', enum: [...values] },
  parse: (raw) => oneAmong(values, raw),
});

/** The value itself if it is one of these. */
export const oneAmong = (values: readonly string[], raw: unknown): string | Fault =>
  values.find((value) => value === raw) ??
  new Fault('enum', values.length === 1 ? `Must be ${values[0]}.` : `Must be one of: ${values.join(', ')}.`);

export interface TextRule {
  min?: number;
  max: number;
  pattern?: { shape: RegExp; message: string };
  /** Surrounding whitespace is removed before the length is checked. */
  trim?: boolean;
}

/** Text without control characters, measured in code points. Required text is not blank. */
export function text({ min = 0, max, pattern, trim = false }: TextRule): Kind<string> {
  const schema: Schema = { ...(min > 0 && { minLength: min }), maxLength: max, ...(min > 0 && { pattern: '\\S' }) };
  return fromString('a string', { ...schema, ...(pattern && { pattern: pattern.shape.source }) }, (raw) => {
    if (!isStorable(raw)) {
      return new Fault(
        'value_error',
        'Must not contain control characters other than tabs and line breaks, or lone surrogates.',
      );
    }
    const value = trim ? raw.trim() : raw;
    // A code point has at most two units: a text that is far too long need not be counted.
    const length = value.length > 2 * max ? value.length : codePoints(value);
    if (length < min)
      return new Fault('string_too_short', `Must have at least ${min} character${min === 1 ? '' : 's'}.`);
    if (length > max) return new Fault('string_too_long', `Must have at most ${max} characters.`);
    if (min > 0 && isBlank(value)) return new Fault('string_too_short', 'Must not be blank.');
    if (pattern && !pattern.shape.test(value)) return new Fault('string_pattern_mismatch', pattern.message);
    return value;
  });
}

function codePoints(value: string): number {
  let count = 0;
  for (const _ of value) count++;
  return count;
}

/** A phone number as people write it, with a digit of any script: "N/A" is none. @param min whether it may be empty, which is no number */
export const phone = (min: 0 | 1): Kind<string> => {
  const message = 'Must be a phone number, with digits. Leave it out if there is none.';
  const shape = min > 0 ? /\p{Nd}/u : /^$|\p{Nd}/u;
  const { schema, parse } = text({ min, max: 50, trim: true, pattern: { shape, message } });
  return { schema: { ...schema, examples: ['+61 3 5550 1234'] }, parse };
};

const SEARCHED = text({ min: 2, max: 100, trim: true });

/** Words to look for. */
export const search: Kind<string> = {
  schema: { ...SEARCHED.schema, examples: ['mia nguyen'] },
  parse: (raw, env) => {
    const words = SEARCHED.parse(raw, env);
    const known = typeof words !== 'string' || (words.match(/[\p{L}\p{N}]/gu)?.length ?? 0) > 1;
    return known ? words : new Fault('string_too_short', 'Must have at least 2 letters or digits.');
  },
};

/** The id or code of a record: any other text is that of no record. The format tells tests that it names one. */
export const idOrCode: Kind<string> = {
  ...text({ min: 1, max: 100 }),
  schema: { type: 'string', format: 'id-or-code', minLength: 1, maxLength: 100, examples: [UUID_EXAMPLE] },
};

const ADDRESS = text({ max: 254, trim: true });

/** A person's address. */
export const email: Kind<string> = {
  schema: ADDRESS.schema,
  parse: (raw, env) => {
    const address = ADDRESS.parse(raw, env);
    return typeof address !== 'string' || isEmail(address) ? address : new Fault('value_error', MALFORMED_ADDRESS);
  },
};

const LINK = /^https?:\/\/[^\s\p{Cc}]+$/iu;

/** An http or https address, kept as it was given. */
export function link(max: number): Kind<string> {
  const { parse } = text({ max });
  return {
    schema: { type: 'string', format: 'uri', pattern: '^[hH][tT][tT][pP][sS]?://', maxLength: max },
    parse: (raw, env) => {
      const value = parse(raw, env);
      if (typeof value !== 'string' || (LINK.test(value) && URL.canParse(value))) return value;
      return new Fault('value_error', 'Must be a URL that starts with https:// or http://.');
    },
  };
}

/** The same, of https alone. */
export function httpsLink(max: number): Kind<string> {
  const { schema, parse } = link(max);
  return {
    schema: { ...schema, pattern: '^[hH][tT][tT][pP][sS]://' },
    parse: (raw, env) => {
      const value = parse(raw, env);
      if (typeof value !== 'string' || /^https:/i.test(value)) return value;
      return new Fault('value_error', 'Must be a URL that starts with https://.');
    },
  };
}

/** An instant; a date alone means midnight UTC. */
export const instant = fromString(
  'an ISO 8601 date-time string',
  { format: 'date-time' },
  (text) =>
    parseDate(text)?.at ??
    new Fault('datetime_parsing', 'Must be an ISO 8601 date-time, for example 2026-05-01T09:30:00Z.'),
);

/** A day, `YYYY-MM-DD`. Of a date-time, the day as written, whatever its offset. */
export const day = fromString('an ISO 8601 date string', { format: 'date', examples: ['2026-05-01'] }, (text) =>
  parseDate(text) ? text.slice(0, 10) : new Fault('date_parsing', 'Must be an ISO 8601 date, for example 2026-05-01.'),
);

/** An instant on a whole minute. */
export const wholeMinute: Kind<Date> = {
  ...instant,
  parse: (raw, env) => {
    const at = instant.parse(raw, env);
    if (!(at instanceof Date) || at.getTime() % 60_000 === 0) return at;
    return new Fault('value_error', 'Must be on a whole minute, without seconds.');
  },
};

/** @param ends whether `24:00`, the end of a day, is one */
const wallClock = (ends: boolean) => {
  const pattern = ends ? /^(([01]\d|2[0-3]):[0-5]\d|24:00)$/ : /^([01]\d|2[0-3]):[0-5]\d$/;
  const example = ends ? '24:00' : '09:30';
  const message = `Must be a time of day as HH:MM, for example ${example}.`;
  return fromString('a time string', { pattern: pattern.source, examples: [example] }, (text) =>
    pattern.test(text) ? text : new Fault('string_pattern_mismatch', message),
  );
};

/** A time of day by the clock on the wall, `HH:MM`. */
export const time = wallClock(false);

/** The same as an end, which may be `24:00`. */
export const endTime = wallClock(true);

/** A name such as Australia/Melbourne; no offset. */
export const timeZone = fromString(
  'a time zone string',
  { pattern: '^[A-Za-z][A-Za-z0-9_+/-]{0,63}$', examples: ['Australia/Melbourne'] },
  (text) =>
    isTimeZone(text) ? text : new Fault('value_error', 'Must be an IANA time zone, for example Australia/Melbourne.'),
);

const COLOR = /^#[0-9a-fA-F]{6}$/;

/** `#rrggbb`. */
export const color = fromString('a string', { pattern: COLOR.source, examples: ['#3366cc'] }, (text) =>
  COLOR.test(text) ? text : new Fault('string_pattern_mismatch', 'Must be a color as #rrggbb, for example #3366cc.'),
);

/** A date or a date-time that bounds a filter. */
export const dateBound = fromString<DateBound>(
  'an ISO 8601 date string',
  { examples: ['2026-05-01', '2026-05-01T09:30:00Z'] },
  (text) =>
    parseDate(text) ?? new Fault('date_parsing', 'Must be an ISO 8601 date or date-time, for example 2026-05-01.'),
);

/** A token of this service. Checks only its form; its user checks the meaning. Tests use the examples. */
export const token = (pattern: RegExp, message: string, ...examples: string[]): Kind<string> =>
  fromString('a string', { pattern: pattern.source, examples }, (text) =>
    pattern.test(text) ? text : new Fault('value_error', message),
  );

/** True and false; in a query string in any case, and also 1 and 0. */
export const boolean: Kind<boolean> = {
  schema: { type: 'boolean' },
  parse: (raw) => (typeof raw === 'boolean' ? raw : new Fault('bool_type', 'Must be true or false, without quotes.')),
  parseText: (raw) => {
    const text = typeof raw === 'string' ? raw.toLowerCase() : raw;
    if (text === 'true' || text === '1') return true;
    if (text === 'false' || text === '0') return false;
    return new Fault('bool_parsing', 'Must be true or false.');
  },
};

/**
 * A whole number. JSON writes it in any of its ways, 5 as well as 5.0 and 5e0; a query string in decimal digits only.
 *
 * @param min and max, between which doubles are exact
 */
export function integer(min: number, max: number): Kind<number> {
  const within = (exact: number | bigint) => {
    if (exact < min) return new Fault('greater_than_equal', `Must be at least ${min}.`);
    if (exact > max) return new Fault('less_than_equal', `Must be at most ${max}.`);
    // There is no negative zero.
    return Number(exact) + 0;
  };
  return {
    schema: { type: 'integer', minimum: min, maximum: max },
    parse: (raw) => {
      // What a double cannot hold was parsed as an infinity.
      const whole = typeof raw === 'number' && (Number.isInteger(raw) || Math.abs(raw) === Infinity);
      return whole ? within(raw) : new Fault('int_type', 'Must be a whole number, without quotes.');
    },
    parseText: (raw) => {
      const text = String(raw);
      if (!/^-?\d+$/.test(text)) return new Fault('int_parsing', 'Must be a whole number in decimal digits.');
      // Compares before converting, because a double would round large numbers. 40 digits without leading zeros suffice.
      return within(BigInt(text.replace(/^(-?)0+(?=\d)/, '$1').slice(0, 40)));
    },
  };
}

/** A number of a JSON body that has at most so many decimal places. */
export const decimal = (min: number, max: number, places: number): Kind<number> => ({
  schema: { type: 'number', minimum: min, maximum: max },
  parse: (raw) => {
    if (typeof raw !== 'number') return new Fault('float_type', 'Must be a number, without quotes.');
    if (raw < min) return new Fault('greater_than_equal', `Must be at least ${min}.`);
    if (raw > max) return new Fault('less_than_equal', `Must be at most ${max}.`);
    if (Number(raw.toFixed(places)) !== raw)
      return new Fault('value_error', `Must have at most ${places} decimal places.`);
    return raw + 0;
  },
});

/** An amount of money in cents. */
export const cents = (min: number, max: number): Kind<number> => {
  const { schema, ...parsers } = integer(min, max);
  return { ...parsers, schema: { ...schema, examples: [Math.min(Math.max(8500, min), max)] } };
};

/** 0 is Sunday. */
export const dayOfWeek = integer(0, 6);
