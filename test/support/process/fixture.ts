/** What ends with the file, or with the test, that started it. */
type Fixture = { stop(): unknown } | { close(): unknown } | { drop(): unknown };

async function end(started: Fixture): Promise<void> {
  await ('stop' in started ? started.stop() : 'close' in started ? started.close() : started.drop());
}

/**
 * Starts what the tests of a file share, and stops it after them: what was started last, first. Call it at the top level
 * of the file.
 */
export async function fixture<T extends Fixture>(starting: Promise<T>): Promise<T> {
  const started = await starting;
  afterAll(() => end(started));
  return started;
}

/** The same for what the running test alone uses. */
export async function inTest<T extends Fixture>(starting: Promise<T>): Promise<T> {
  const started = await starting;
  onTestFinished(() => end(started));
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
