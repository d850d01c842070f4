import { chmodSync, lstatSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { Writable } from 'node:stream';

/**
 * A log that never fails: what cannot be written (a full disk, a folder that is gone) is dropped, and said once until it
 * works again. The file is opened anew each time, so that it can be rotated or removed.
 */
export class LogFile extends Writable {
  private failing = false;

  constructor(private readonly path: string) {
    super();
    try {
      // One that an earlier version left open to others. What is no file (/dev/null) is left alone.
      if (lstatSync(path).isFile()) chmodSync(path, 0o600);
    } catch {
      // There is none yet.
    }
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
    if (!this.failing) process.stderr.write(`The log ${this.path} cannot be written (${code}). The service goes on.\n`);
    this.failing = true;
  }
}
