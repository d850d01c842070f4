import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/process/longest-first.js';

export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    globals: true,
    include: ['test/**/*.spec.ts', '{apps,libs}/**/*.spec.ts'],
    exclude: ['node_modules/**', 'dist/**', 'test/faults/**'],
    // The files that a process runs share modules: loading them for each file would take half of the time.
    isolate: false,
    setupFiles: ['reflect-metadata', './test/support/process/clean-slate.ts', './test/support/process/patience.ts'],
    expect: { poll: { timeout: 60_000 } },
    globalSetup: './test/support/process/global-setup.ts',
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
