/** JSON from PostgreSQL, sent as it is. */
export class JsonText {
  /** @param etag of a record whose versions are told apart */
  constructor(
    readonly text: string,
    readonly etag?: string,
  ) {}
}
