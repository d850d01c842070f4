import { randomUUID } from 'node:crypto';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';

const PREFIX = 'tutoring-upload-';

const CHUNK_BYTES = 65_536;

/** The temporary folder cannot be used: it is full, missing or read-only, or no file descriptors are left. */
export class TemporaryFileError extends Error {
  constructor(override readonly cause: unknown) {
    super(`A temporary file cannot be used: ${(cause as Error).message}`);
  }
}

/** An anonymous file: its name is removed once it is open, so it disappears however the process ends. Fails with {@link TemporaryFileError}. */
export class TemporaryFile {
  size = 0;

  private constructor(private readonly handle: FileHandle) {}

  static create(): Promise<TemporaryFile> {
    return guarded(async () => {
      const path = join(tmpdir(), PREFIX + randomUUID());
      const handle = await open(path, 'wx+', 0o600);
      try {
        await rm(path, { force: true });
      } catch (error) {
        await handle.close();
        throw error;
      }
      return new TemporaryFile(handle);
    });
  }

  /** Removes the names left by processes that died between the two steps. One that still uses such a file doesn't need its name. */
  static async removeLeftovers(): Promise<void> {
    const names = await readdir(tmpdir());
    await Promise.all(
      names.filter((name) => name.startsWith(PREFIX)).map((name) => rm(join(tmpdir(), name), { force: true })),
    );
  }

  /** Writes to the end. */
  append(chunk: Buffer): Promise<void> {
    return guarded(async () => {
      // writeFile on an open file continues at its position, with as many writes as it takes.
      await this.handle.writeFile(chunk);
      this.size += chunk.length;
    });
  }

  /** The whole content, piece by piece: each is there until the next is asked for, so that a large file takes one buffer. */
  async *chunks(): AsyncGenerator<Buffer> {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, this.size));
    for (let done = 0; done < this.size;) {
      const { bytesRead } = await guarded(() => this.handle.read(buffer, 0, buffer.length, done));
      if (bytesRead === 0) throw new TemporaryFileError(new Error('It is shorter than what was written to it'));
      done += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** The whole content as a stream, which reads ahead. */
  stream(): Readable {
    return Readable.from(copiesOf(this.chunks()), { objectMode: false });
  }

  /** Never fails: nobody needs the unwritten rest of a file without a name. */
  async close(): Promise<void> {
    await this.handle.close().catch(() => undefined);
  }
}

/** For whoever keeps a piece while the next is read. */
async function* copiesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new TemporaryFileError(error);
  }
}
