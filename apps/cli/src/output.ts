import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';

/** A failed command, with lines for the operator. */
export class Failure extends Error {
  readonly lines: string[];

  constructor(...lines: string[]) {
    super(lines.join('\n'));
    this.lines = lines;
  }
}

/** Errors on writing to a reader that is gone (`head`, a closed terminal). */
const NOBODY_READS = new Set(['EPIPE', 'EIO', 'ECONNRESET']);

/** Lets commands finish even if nobody reads their output. Output that cannot be written for other reasons makes them fail at their end. */
export function tolerateClosedOutput(): void {
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
    if (NOBODY_READS.has(code)) return;
    process.stderr.write(`The output could not be written (${code})\n`);
    process.exitCode = 1;
  });
}

/** Asks for confirmation at the terminal. @throws Failure if the user declines or there is no terminal */
export async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY) throw new Failure(`${question} Add --yes to confirm.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C, Ctrl-D and the end of input mean no, unless an answer arrives together with it.
  const closed = new Promise<string>((resolve) => terminal.once('close', () => setImmediate(resolve, '')));
  try {
    const asked = terminal.question(`${question} Continue? [y/N] `).catch(() => '');
    const answer = await Promise.race([asked, closed]);
    if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('Nothing was changed.');
  } finally {
    terminal.close();
  }
}

/** Prints a result: a line of JSON with `--json`, otherwise text. */
export function print(command: Command, result: object, words: string): void {
  process.stdout.write(`${wantsJson(command) ? JSON.stringify(result) : words}\n`);
}

/** How to show rows: as JSON objects, or in a table with these headings. */
interface Listing<Row> {
  /** The fields of the JSON objects, where their names are in snake_case. */
  fields?: (keyof Row & string)[];
  json?: (row: Row) => object;
  columns: Record<string, (row: Row) => string>;
  /** Printed instead of an empty table. */
  empty: string;
}

/** Prints several results: JSON objects with `--json`, otherwise a table. */
export function printRows<Row>(
  command: Command,
  rows: Row[],
  { fields = [], json, columns, empty }: Listing<Row>,
): void {
  if (wantsJson(command)) {
    const pick = (row: Row) => Object.fromEntries(fields.map((name) => [snakeCase(name), row[name]]));
    for (const row of rows) process.stdout.write(`${JSON.stringify((json ?? pick)(row))}\n`);
    return;
  }
  if (rows.length === 0) {
    process.stdout.write(`${empty}\n`);
    return;
  }
  const cells = [Object.keys(columns), ...rows.map((row) => Object.values(columns).map((cell) => cell(row)))];
  const widths = Object.keys(columns).map((_, column) => Math.max(...cells.map((line) => line[column]!.length)));
  for (const line of cells) {
    const padded = line.map((cell, column) => cell.padEnd(widths[column]!));
    process.stdout.write(`${padded.join('  ').trimEnd()}\n`);
  }
}

/** Formats a time for a table, in UTC to the minute. */
export function minute(time: Date | null, never = '-'): string {
  return time ? time.toISOString().slice(0, 16).replace('T', ' ') : never;
}

const snakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function wantsJson(command: Command): boolean {
  return command.optsWithGlobals<{ json?: boolean }>().json ?? false;
}

/** A progress line, which appears only on a terminal. */
export class ProgressLine {
  private shown = false;

  show(text: string): void {
    if (!process.stderr.isTTY) return;
    process.stderr.write(`\r\x1b[2K${text}`);
    this.shown = true;
  }

  clear(): void {
    if (this.shown) process.stderr.write('\r\x1b[2K');
    this.shown = false;
  }
}
