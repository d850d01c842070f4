import { Fault, Faults, isFault, type Parser } from './fault.js';
import type { Kind } from './kinds.js';

export interface ListSize {
  min?: number;
  max: number;
  /** No item may repeat an earlier one. Only for items that are texts or numbers. */
  distinct?: boolean;
}

const REPEATED = new Fault('value_error', 'Must not repeat an earlier item.');

/** A list. Reads each item separately and reports all faults at their positions. */
export function listOf<T>({ parse, schema }: Kind<T>, { min, max, distinct = false }: ListSize): Kind<T[]> {
  return {
    schema: {
      type: 'array',
      items: schema,
      ...(min !== undefined && { minItems: min }),
      maxItems: max,
      ...(distinct && { uniqueItems: true }),
    },
    parse: (raw, env) => {
      if (!Array.isArray(raw)) return new Fault('list_type', 'Must be an array.');
      if (raw.length < (min ?? 0))
        return new Fault('too_short', `Must have at least ${min} item${min === 1 ? '' : 's'}.`);
      if (raw.length > max) return new Fault('too_long', `Must have at most ${max} items.`);
      const items = raw.map((value: unknown) => parse(value, env));
      const faults = new Faults();
      const seen = new Set<unknown>();
      for (const [index, value] of items.entries()) {
        if (isFault(value)) faults.add(value, index);
        else if (distinct && seen.has(value)) faults.add(REPEATED, index);
        else seen.add(value);
      }
      return faults.count > 0 ? faults : (items as T[]);
    },
  };
}

export type RawObject = Record<string, unknown>;

/** Reads a JSON object. */
export function fromObject<T>(
  parse: (raw: RawObject, ...rest: [Parameters<Parser<T>>[1]]) => ReturnType<Parser<T>>,
): Parser<T> {
  return (raw, env) =>
    typeof raw !== 'object' || raw === null || Array.isArray(raw)
      ? new Fault('dict_type', 'Must be an object.')
      : parse(raw as RawObject, env);
}

/** What keeps free JSON small, in bytes of its text and in levels of nesting. */
export interface JsonSize {
  bytes: number;
  depth?: number;
}

/** An object with any names and values, for a column of type jsonb. Its names are data: never copy it by assignment. */
export function json({ bytes, depth = 16 }: JsonSize): Kind<RawObject> {
  return {
    schema: { type: 'object', additionalProperties: true },
    parse: fromObject((raw) => {
      const unfit = unfitFor(raw, depth);
      if (unfit) return new Fault('value_error', unfit);
      if (Buffer.byteLength(JSON.stringify(raw)) <= bytes) return raw;
      return new Fault('too_long', `Must have at most ${bytes} bytes as JSON.`);
    }),
  };
}

/** Any JSON, for an item of a column of type jsonb. */
export const anything: Kind = {
  schema: {},
  parse: (raw) => {
    const unfit = unfitFor(raw, 32);
    return unfit ? new Fault('value_error', unfit) : raw;
  },
};

/** Why jsonb, or whoever reads it, could not hold the value as it is. PostgreSQL writes numbers with all their digits; from 2^53 on, a double is not the number that was sent. */
function unfitFor(value: unknown, depth: number): string | null {
  if (typeof value === 'string') {
    return value.isWellFormed() && !value.includes('\0') ? null : 'Must not contain NUL characters or lone surrogates.';
  }
  if (typeof value === 'number') {
    const size = Math.abs(value);
    return size === 0 || (size >= 1e-20 && size <= Number.MAX_SAFE_INTEGER)
      ? null
      : 'Numbers must be 0, or from 1e-20 to below 2^53 in size. Send others as text.';
  }
  if (typeof value !== 'object' || value === null) return null;
  if (depth === 0) return 'Must not be nested that deeply.';
  for (const [name, inner] of Object.entries(value)) {
    const unfit = unfitFor(name, 0) ?? unfitFor(inner, depth - 1);
    if (unfit) return unfit;
  }
  return null;
}
