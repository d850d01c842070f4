import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';

/** Writes files of a folder into one archive, a piece at a time. @returns its bytes */
export async function zipFolder(
  folder: string,
  paths: string[],
  target: string,
  signal?: AbortSignal,
): Promise<number> {
  const zip = new ZipFile();
  for (const path of paths) zip.addFile(join(folder, path), path);
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(target, { mode: 0o600 }), { signal });
  return (await stat(target)).size;
}
