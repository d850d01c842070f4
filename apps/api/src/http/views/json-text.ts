/** JSON that PostgreSQL wrote: it goes out as it is. */
export class JsonText {
  constructor(readonly text: string) {}
}
