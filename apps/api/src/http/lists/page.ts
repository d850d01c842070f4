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
    readonly meta: PageMeta | 'array' | 'data',
    /** The version of the whole list, of those that are replaced as a whole. */
    readonly etag?: string,
  ) {}
}

interface PageMeta {
  limit: number;
  count: number;
  /** In offset mode; `total` only of lists that count their records. */
  offset?: number;
  total?: number;
  /** In cursor mode. */
  next_cursor?: string | null;
  /** Of the event feed, whose cursor never ends. */
  has_more?: boolean;
}
