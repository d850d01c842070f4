import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A file that nobody else sees and that is gone with its last user, however the process ends: its name is removed as soon
 * as it is open.
 */
export class TemporaryFile {
  size = 0;

  private constructor(private readonly handle: FileHandle) {}

  static async create(): Promise<TemporaryFile> {
    const path = join(tmpdir(), `upload-${randomUUID()}`);
    const handle = await open(path, 'wx+', 0o600);
    await unlink(path);
    return new TemporaryFile(handle);
  }

  /** Writes to the end. */
  async append(chunk: Buffer): Promise<void> {
    // As writeFile of an open file does: from where it stands, however many writes that takes.
    await this.handle.writeFile(chunk);
    this.size += chunk.length;
  }

  /** The whole content. */
  async read(): Promise<Buffer> {
    const content = Buffer.allocUnsafeSlow(this.size);
    for (let done = 0; done < content.length;) {
      const { bytesRead } = await this.handle.read(content, done, content.length - done, done);
      if (bytesRead === 0) throw new Error('A temporary file is shorter than what was written to it');
      done += bytesRead;
    }
    return content;
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}
