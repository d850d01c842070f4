/** One page of a list, its records as JSON text that PostgreSQL wrote. */
export class Page {
  constructor(
    /** A JSON array. */
    readonly data: string,
    readonly meta: OffsetMeta | CursorMeta,
  ) {}
}

export interface OffsetMeta {
  limit: number;
  offset: number;
  count: number;
  /** Of the whole list, on lists that tell it. */
  total?: number;
}

export interface CursorMeta {
  limit: number;
  count: number;
  next_cursor: string | null;
}
