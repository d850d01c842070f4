import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import { CSV } from '../web/csv.js';
import { plain, refusalOf, whatOf, whoOf } from './audit-words.js';
import type { AuditRow } from './audit.queries.js';

const COLUMNS = [
  'time',
  'who',
  'what',
  'not_done_because',
  'network',
  'operation',
  'request_id',
  'person_id',
  'api_key_id',
  'times_in_that_hour',
];

/** Rows as CSV. */
export function auditCsv(rows: AsyncIterable<AuditRow>, timeZone: string): Readable {
  // `2026-12-06 19:07:31`, which spreadsheets read as a time.
  const time = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone });
  const csv = stringify({ ...CSV, columns: COLUMNS });
  const lines = Readable.from(linesOf(rows, (at) => time.format(at)));
  // An error reaches the response through the stream itself, which ends the download without an end.
  return pipeline(lines, csv, () => undefined);
}

async function* linesOf(rows: AsyncIterable<AuditRow>, timeOf: (at: Date) => string) {
  for await (const row of rows) {
    const { operation, requestId, personId, keyId, network } = row;
    const [who, what] = [whoOf(row).text, plain(whatOf(row))];
    yield [timeOf(row.at), who, what, refusalOf(row), network, operation, requestId, personId, keyId, row.times];
  }
}
