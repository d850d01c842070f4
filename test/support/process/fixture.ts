/** What ends with the file that started it. */
type Fixture = { stop(): unknown } | { close(): unknown } | { drop(): unknown };

/**
 * Starts what the tests of a file share, and stops it after them: what was started last, first. Call it at the top level
 * of the file.
 */
export async function fixture<T extends Fixture>(starting: Promise<T>): Promise<T> {
  const started = await starting;
  afterAll(async () => {
    if ('stop' in started) await started.stop();
    else if ('close' in started) await started.close();
    else await started.drop();
  });
  return started;
}
