import { afterAll } from 'vitest';

/**
 * Starts what the tests of a file share, and stops it after them: what was started last, first. Call it at the top level
 * of the file.
 */
export async function fixture<T extends { stop(): unknown }>(starting: Promise<T>): Promise<T> {
  const started = await starting;
  afterAll(async () => {
    await started.stop();
  });
  return started;
}
