import { Writable } from 'node:stream';

/** A destination for the log of an application under test. */
export function logTo(lines: string[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
}
