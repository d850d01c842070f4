import type { Command } from 'commander';

/** A command that could not do what it was asked; each line is for the operator. */
export class Failure extends Error {
  readonly lines: string[];

  constructor(...lines: string[]) {
    super(lines.join('\n'));
    this.lines = lines;
  }
}

/** One result: as a JSON object on a line of its own with `--json`, else in words. */
export function print(command: Command, result: object, words: string): void {
  const { json } = command.optsWithGlobals<{ json?: boolean }>();
  process.stdout.write(`${json ? JSON.stringify(result) : words}\n`);
}

/** A line that tells how far the work is; only for people who watch. */
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
