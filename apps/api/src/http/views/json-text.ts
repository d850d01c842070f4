/** JSON from PostgreSQL, sent as it is. */
export class JsonText {
  /** @param etag for records that support If-Match */
  constructor(
    readonly text: string,
    readonly etag?: string,
  ) {}
}
