import { Readable } from 'node:stream';
import { setImmediate as otherWork } from 'node:timers/promises';
import { Injectable, StreamableFile } from '@nestjs/common';
import { stringify } from 'csv-stringify/sync';
import { Turns } from '@app/concurrency';
import { Deadline } from '@app/database';
import { CSV } from '@app/exports';
import type { Managed } from './access.decorators.js';
import { PageError } from './page-error.js';

/** Rows of a part: writing 100 takes some 3 ms, for which the event loop does nothing else. */
export const ROWS_OF_PART = 100;

/** How long a part may wait for its turn, and then for the database (ms): a file that has begun is worth some patience. */
const LONGEST_WAIT = 30_000;
const LONGEST_READ = 10_000;

/** A bigint is an amount in cents. */
export type Cell = string | number | bigint | null | undefined;

type Rows = Record<string, Cell>[];

/** A file to download. */
export interface Spreadsheet {
  /** Without its ending. */
  name: string;
  columns: string[];
  /** Rows by the names of the columns, {@link ROWS_OF_PART} at a time. */
  parts: AsyncIterator<Rows>;
}

/** Writes files for spreadsheets, of any length, without keeping pages waiting: one for each organization at a time, and each of its parts in a turn. */
@Injectable()
export class Spreadsheets {
  private readonly turns = new Turns(1, LONGEST_WAIT);
  /** Organizations to which one is being sent. */
  private readonly busy = new Set<string>();

  /** Reads the first part before it answers, so that what fails then has a page. @throws PageError 503 while another one is sent to the organization */
  async send({ organizationId, request }: Managed, { name, columns, parts }: Spreadsheet): Promise<StreamableFile> {
    if (this.busy.has(organizationId)) throw PageError.oneFileAtATime();
    this.busy.add(organizationId);
    // Reads no further once the client has left.
    const left = new AbortController();
    request.res!.once('close', () => {
      this.busy.delete(organizationId);
      left.abort();
    });
    const begin = await parts.next();
    const csv = Readable.from(this.write(organizationId, columns, begin, parts), { signal: left.signal });
    csv.on('error', () => undefined);
    const file = new StreamableFile(csv, {
      type: 'text/csv; charset=utf-8',
      disposition: `attachment; filename="${name}.csv"`,
    });
    // A file that ended early would look complete.
    return file.setErrorHandler((_error, response) => response.destroy?.());
  }

  private async *write(
    organizationId: string,
    columns: string[],
    begin: IteratorResult<Rows>,
    parts: Spreadsheet['parts'],
  ): AsyncGenerator<string> {
    yield stringify(begin.done ? [] : begin.value, { ...CSV, columns, header: true, bom: true });
    for (;;) {
      const text = await this.turns.run(organizationId, async () => {
        const part = await new Deadline(LONGEST_READ).within(() => parts.next());
        return part.done ? null : stringify(part.value, { ...CSV, columns });
      });
      if (text === null) return;
      yield text;
      await otherWork();
    }
  }
}

/** Parts of rows that are there already. */
// eslint-disable-next-line @typescript-eslint/require-await -- an iterator of promises, like those that read
export async function* inParts<Row>(rows: readonly Row[]): AsyncGenerator<Row[]> {
  for (let at = 0; at < rows.length; at += ROWS_OF_PART) yield rows.slice(at, at + ROWS_OF_PART);
}
