import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import ordinary from '../../vitest.config.js';
import { PROMISES } from '../support/faults/promises.js';

// Every spec in full: see inReport().
process.env.PROMISES_REPORT ??= '1';
const report = process.env.PROMISES_TABLE !== undefined;
const promised = [...new Set(PROMISES.flatMap(({ specs }) => specs))].map((spec) => `test/${spec}.spec.ts`);

/** Specs that take too long for every run, or do so in full. They run one at a time because they measure time and kill processes. */
export default defineConfig({
  ...ordinary,
  test: {
    ...ordinary.test,
    projects: undefined,
    globalSetup: './test/support/process/global-setup.ts',
    // Memory and time are measured in a new process.
    isolate: true,
    include: ['test/faults/**/*.spec.ts', ...promised.filter((spec) => report || readFileSync(spec, 'utf8').includes('inReport('))],
    exclude: ['node_modules/**', 'dist/**'],
    reporters: ['default', ...(report ? ['./test/support/faults/promises.reporter.ts'] : []), './test/support/process/summary.reporter.ts'],
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 1_800_000,
    hookTimeout: 300_000,
    retry: 0,
  },
});
