import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/process/longest-first.js';

/** What differs on the PostgreSQL that operators run: what is planned, compiled and claimed, and that all is made there. */
const ON_DEBIAN = [
  'database/migrate',
  'database/outbox',
  'database/outbox-turns',
  'database/claims',
  'worker/relay',
  'worker/worker',
  'api/lists/lists-deep',
];

export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    globals: true,
    exclude: ['node_modules/**', 'dist/**', 'test/faults/**'],
    // The files that a process runs share modules: loading them for each file would take half of the time.
    isolate: false,
    setupFiles: ['reflect-metadata', './test/support/process/clean-slate.ts', './test/support/process/patience.ts'],
    expect: { poll: { timeout: 60_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'embedded',
          globalSetup: './test/support/process/global-setup.ts',
          include: ['test/**/*.spec.ts', '{apps,libs}/**/*.spec.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'debian',
          globalSetup: './test/support/process/debian-setup.ts',
          include: ON_DEBIAN.map((spec) => `test/${spec}.spec.ts`),
        },
      },
    ],
    reporters: ['default', './test/support/process/summary.reporter.ts'],
    // Each spec file has its own database. Files run in parallel, tests within a file in order.
    pool: 'forks',
    // Twice the cores of a small machine, because many tests mostly wait.
    maxWorkers: 4,
    // Long enough for any machine: they only decide how long a hang is waited for.
    testTimeout: 400_000,
    hookTimeout: 400_000,
    // A test that fails is run once more. The summary names it: what passes only then is a fault of the test, or a race.
    retry: 1,
    sequence: { shuffle: { files: true }, sequencer: LongestFirst },
  },
});
