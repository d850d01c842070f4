/** JSON from PostgreSQL, sent as it is. */
export class JsonText {
  /**
   * @param etag for records that support If-Match
   * @param version what the `etag` is made of, if readers see the record differently
   * @param lasting the part of it that changes only by writes, if there is another one
   */
  constructor(
    readonly text: string,
    readonly etag?: string,
    readonly version = text,
    readonly lasting?: string,
  ) {}
}
