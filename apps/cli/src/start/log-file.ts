import { appendFile } from 'node:fs/promises';
import { Writable } from 'node:stream';

/** A log that never fails: drops lines that cannot be written, and says so once. Reopens the file, so that it can be rotated. */
export class LogFile extends Writable {
  private failing = false;

  constructor(private readonly path: string) {
    super();
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    appendFile(this.path, chunk, { mode: 0o600 })
      .then(
        () => (this.failing = false),
        (error: NodeJS.ErrnoException) => this.complain(error),
      )
      .finally(done);
  }

  private complain({ code }: NodeJS.ErrnoException): void {
    if (!this.failing)
      process.stderr.write(`The log ${this.path} cannot be written (${code}). The service continues.\n`);
    this.failing = true;
  }
}
