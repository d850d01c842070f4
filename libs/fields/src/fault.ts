import type { Env } from '@app/config';

/** The maximum number of faults in a response. The last one says how many more there are. */
export const MOST_FAULTS = 100;

/** Fault types, in pydantic's vocabulary. */
export type FaultType =
  | 'missing'
  | 'extra_forbidden'
  | 'string_type'
  | 'string_too_short'
  | 'string_too_long'
  | 'string_pattern_mismatch'
  | 'too_short'
  | 'too_long'
  | 'int_parsing'
  | 'int_type'
  | 'float_type'
  | 'bool_parsing'
  | 'bool_type'
  | 'list_type'
  | 'dict_type'
  | 'greater_than_equal'
  | 'less_than_equal'
  | 'enum'
  | 'literal_error'
  | 'uuid_parsing'
  | 'datetime_parsing'
  | 'date_parsing'
  | 'union_tag_not_found'
  | 'union_tag_invalid'
  | 'json_invalid'
  | 'value_error';

/** Unknown names are repeated up to this length (code points): a name may be the whole body. */
const LONGEST_NAME = 100;

/** A fault in one value. A parser returns it in the value's place. */
export class Fault {
  constructor(
    readonly type: FaultType,
    /** A plain sentence that tells the caller what to change. */
    readonly msg: string,
    /** Where, relative to the value that was read. */
    readonly at: readonly (string | number)[] = [],
  ) {}

  /** A name that the request class does not declare. @param known those that it does */
  static unknown(name: string, known: ReadonlySet<string>, what: 'field' | 'parameter' = 'field'): Fault {
    const taker = what === 'field' ? 'object' : known.has('limit') ? 'list' : 'request';
    const names = known.size > 0 ? [...known].join(', ') : 'none';
    return new Fault('extra_forbidden', `Unknown ${what}. This ${taker} takes ${names}.`, [shortened(name)]);
  }

  /** The same fault, relative to the object or list around it. */
  under(place: string | number): Fault {
    return new Fault(this.type, this.msg, [place, ...this.at]);
  }
}

/**
 * The faults inside one value (a list's items, an object's fields): as many as a response lists, and the number of all.
 */
export class Faults {
  private readonly first: Fault[] = [];
  private all = 0;

  get list(): readonly Fault[] {
    return this.first;
  }

  get count(): number {
    return this.all;
  }

  /** @param place where the faulty value is in the value around it */
  add(found: Fault | Faults, place?: string | number): void {
    const [faults, count] = found instanceof Fault ? [[found], 1] : [found.list, found.count];
    this.all += count;
    for (const fault of faults) {
      if (this.first.length === MOST_FAULTS) return;
      this.first.push(place === undefined ? fault : fault.under(place));
    }
  }

  /** The same faults, relative to what they are in one place further inside. */
  within(): Faults {
    const inner = new Faults();
    for (const { type, msg, at } of this.first) inner.add(new Fault(type, msg, at.slice(1)));
    inner.all = this.all;
    return inner;
  }
}

export function isFault(value: unknown): value is Fault | Faults {
  return value instanceof Fault || value instanceof Faults;
}

/** Reads a raw value: returns the parsed value, or its faults. Some parsers depend on the configuration. */
export type Parser<T> = (raw: unknown, env: Env) => T | Fault | Faults;

function shortened(name: string): string {
  // A code point has at most two units: the rest of a long name need not be examined.
  const points = Array.from(name.slice(0, 2 * (LONGEST_NAME + 1)));
  return points.length > LONGEST_NAME ? `${points.slice(0, LONGEST_NAME).join('')}…` : name;
}

/** The message of an address that cannot be one: bulk requests tell this fault from others. */
export const MALFORMED_ADDRESS = 'This is not a valid email address.';
