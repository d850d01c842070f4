import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';

/** A line whose text cannot be read. */
export class BadLine {
  constructor(readonly problem: string) {}
}

/** Consecutive lines. `first` is the number of the first one, counted from 1. */
export interface Block {
  first: number;
  lines: (string | BadLine)[];
}

const CHUNK = 64 * 1024;
const LONGEST = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * Reads the lines of a file, 64 kB at a time: freed blocks of a megabyte would stay with the process. A last line without a newline
 * counts. Ignores a byte order mark at the start of the file.
 */
export async function* readLines(path: string): AsyncGenerator<Block> {
  let first = 1;
  const begun = new BegunLine();
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK }) as AsyncIterable<Buffer>) {
    const end = chunk.indexOf(NEWLINE);
    if (end === -1) {
      begun.add(chunk);
      continue;
    }
    const last = chunk.lastIndexOf(NEWLINE);
    begun.add(chunk.subarray(0, end));
    const lines = [begun.take()];
    if (last > end) lines.push(...decode(chunk.subarray(end + 1, last)));
    begun.add(chunk.subarray(last + 1));
    if (first === 1) lines[0] = withoutMark(lines[0]!);
    yield { first, lines };
    first += lines.length;
  }
  if (begun.size > 0) yield { first, lines: [first === 1 ? withoutMark(begun.take()) : begun.take()] };
}

/** The start of a line that ends in a later chunk. Drops lines that are too long. */
class BegunLine {
  size = 0;
  private parts: Buffer[] = [];

  add(part: Buffer): void {
    this.size += part.length;
    if (this.size > LONGEST) this.parts = [];
    else if (part.length > 0) this.parts.push(part);
  }

  take(): string | BadLine {
    const line = this.size > LONGEST ? new BadLine('is longer than 16 MiB') : decode(Buffer.concat(this.parts))[0]!;
    this.parts = [];
    this.size = 0;
    return line;
  }
}

function decode(bytes: Buffer): (string | BadLine)[] {
  if (isUtf8(bytes)) return bytes.toString('utf8').split('\n');
  // This is rare, so the faulty line is located only now.
  const lines: (string | BadLine)[] = [];
  for (let start = 0; start <= bytes.length;) {
    const found = bytes.indexOf(NEWLINE, start);
    const end = found === -1 ? bytes.length : found;
    const line = bytes.subarray(start, end);
    lines.push(isUtf8(line) ? line.toString('utf8') : new BadLine('is not UTF-8'));
    start = end + 1;
  }
  return lines;
}

function withoutMark(line: string | BadLine): string | BadLine {
  return typeof line === 'string' ? line.replace(/^\uFEFF/, '') : line;
}
