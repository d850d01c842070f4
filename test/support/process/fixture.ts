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

const shared = new Map<string, Promise<unknown>>();

/**
 * Starts what the spec files of one process share, as they share its modules, once: a start takes half a second of work, and so does a
 * database. For tests that look only at organizations of their own, and change no setting. It ends with the process.
 */
export function sharedHere<T>(name: string, start: () => Promise<T>): Promise<T> {
  const started = (shared.get(name) as Promise<T> | undefined) ?? start();
  shared.set(name, started);
  return started;
}
