/** Records as JSON, separated by commas; null for none. */
export interface Part {
  count: number;
  data: string | null;
}

/** One page of a list, with its records as JSON text from PostgreSQL. */
export class Page {
  constructor(
    /** All records, or parts that are read while the page is sent. */
    readonly records: Part | AsyncIterable<Part>,
    /** `array` without an envelope, `data` for one without `meta`. */
    readonly meta: OffsetMeta | CursorMeta | 'array' | 'data',
  ) {}
}

export interface OffsetMeta {
  limit: number;
  offset: number;
  count: number;
  /** Records in the whole list, for lists that count them. */
  total?: number;
}

export interface CursorMeta {
  limit: number;
  count: number;
  next_cursor: string | null;
}
