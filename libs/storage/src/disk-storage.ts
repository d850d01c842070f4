import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import type { Env } from '@app/config';
import { type ByteRange, Storage, type StoredObject } from './storage.js';

/** The folder of STORAGE=disk, which the API serves under /media. */
export function mediaFolder(env: Env): string {
  return resolve(env.get('DATA_DIR'), 'media');
}

/** The folder of STORAGE=disk that nobody serves: who may read a document is decided for each request. */
export function privateFolder(env: Env): string {
  return resolve(env.get('DATA_DIR'), 'private');
}

/** Incomplete files, which are never served. */
const UNFINISHED = '.unfinished';

/** Files below a folder of DATA_DIR. They appear atomically: written elsewhere, flushed, then renamed. */
export class DiskStorage extends Storage {
  constructor(
    private readonly env: Env,
    private readonly folder: string,
  ) {
    super();
  }

  override async put(path: string, object: StoredObject): Promise<void> {
    const target = join(this.folder, path);
    const unfinished = join(this.folder, UNFINISHED, randomUUID());
    await makeFolder(dirname(unfinished));
    try {
      const file = await open(unfinished, 'wx', 0o600);
      try {
        for await (const chunk of object.chunks()) await file.writeFile(chunk);
        await file.sync();
      } finally {
        await file.close();
      }
      await makeFolder(dirname(target));
      await rename(unfinished, target);
      await flushFolder(dirname(target));
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
  }

  override async read(path: string, range?: ByteRange): Promise<Readable | null> {
    try {
      const file = await open(join(this.folder, path), 'r');
      return file.createReadStream(range);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  override async remove(path: string): Promise<void> {
    await rm(join(this.folder, path), { force: true });
  }

  override urlOf(path: string): string {
    const origin = this.env.apiUrl;
    return `${origin}/media/${path}`;
  }

  override async check(): Promise<void> {
    const probe = join(this.folder, UNFINISHED, randomUUID());
    await makeFolder(dirname(probe));
    const file = await open(probe, 'wx');
    await file.close();
    await rm(probe);
  }
}

/** Only the API reads this folder. Others get images from the API. */
async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** A rename survives a power failure once the folder is flushed too. */
async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
