import { defineConfig } from 'vitest/config';
import ordinary from '../../vitest.config.js';

/** What takes too long for every run: one file after the other, since they measure time and kill processes. */
export default defineConfig({
  ...ordinary,
  test: {
    ...ordinary.test,
    include: ['test/faults/**/*.spec.ts'],
    exclude: ['node_modules/**', 'dist/**'],
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 1_800_000,
    hookTimeout: 300_000,
  },
});
