/** How long to wait for an event (ms). Only failing tests wait this long, however busy the machine is. */
const PATIENCE = 60_000;

// Vitest's default of one second is too short on a loaded machine. Unlike `expect.poll`, these have no setting for it.
const { waitFor, waitUntil } = vi;

const patient = (options: number | { timeout?: number; interval?: number } = {}) => ({
  timeout: PATIENCE,
  ...(typeof options === 'number' ? { timeout: options } : options),
});

vi.waitFor = (callback, options) => waitFor(callback, patient(options));
vi.waitUntil = (callback, options) => waitUntil(callback, patient(options));

export {};
