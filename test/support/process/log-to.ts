import { Writable } from 'node:stream';

/** A destination for the log of an application under test. The logger writes one line at a time. */
export function logTo(lines: string[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
}
