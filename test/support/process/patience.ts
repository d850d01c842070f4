/** How long an event is waited for (ms): only a test that fails waits for all of it, however busy the machine is. */
const PATIENCE = 20_000;

// Vitest's own default is a second, which a loaded machine exceeds. `expect.poll` has a setting for it; these have none.
const { waitFor, waitUntil } = vi;

const patient = (options: number | { timeout?: number; interval?: number } = {}) => ({
  timeout: PATIENCE,
  ...(typeof options === 'number' ? { timeout: options } : options),
});

vi.waitFor = (callback, options) => waitFor(callback, patient(options));
vi.waitUntil = (callback, options) => waitUntil(callback, patient(options));

export {};
