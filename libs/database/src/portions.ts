import type { Client, QueryResult, QueryResultRow } from 'pg';

/** What an open cursor of the transaction yields, some rows at a time, until there are no more; then it is closed. */
export async function* portionsOf<Row extends QueryResultRow>(
  client: Client,
  cursor: string,
  rowsAtOnce: number,
): AsyncGenerator<QueryResult<Row>> {
  for (;;) {
    const portion = await client.query<Row>(`FETCH ${rowsAtOnce} FROM ${cursor}`);
    if (portion.rows.length === 0) break;
    yield portion;
  }
  await client.query(`CLOSE ${cursor}`);
}
