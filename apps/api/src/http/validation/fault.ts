import type { Env } from '@app/config';

/** The kinds of fault that clients of pydantic know. */
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

/** What is wrong with one value. A parser returns it in the value's place. */
export class Fault {
  constructor(
    readonly type: FaultType,
    /** A plain sentence that tells the caller what to change. */
    readonly msg: string,
    /** Where, seen from the value that was read. */
    readonly at: readonly (string | number)[] = [],
  ) {}

  /** The same fault, seen from the object or list around it. */
  under(place: string | number): Fault {
    return new Fault(this.type, this.msg, [place, ...this.at]);
  }
}

/** What is wrong inside one value: a list's items, an object's fields. */
export class Faults {
  constructor(readonly list: readonly Fault[]) {}
}

/** Reads a raw value: the value itself, or what is wrong with it. Some values depend on the configuration. */
export type Parser<T> = (raw: unknown, env: Env) => T | Fault | Faults;
