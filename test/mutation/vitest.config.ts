import { defineConfig } from 'vitest/config';
import ordinary from '../../vitest.config.js';
import { ROOMS } from './rooms.js';
import { WarmWorker } from './warm-worker.js';

const room = ROOMS[process.env.MUTATION_ROOM!]!;

/** The specs of one room, for Stryker, which runs them for each mutant until the first failure. */
export default defineConfig({
  ...ordinary,
  plugins: [
    {
      name: 'warm-worker',
      // Stryker sets the pool, too, and its setting would win over one below.
      configureVitest: ({ project }) => Object.assign(project.config, { pool: 'warm', poolRunner: WarmWorker.pool }),
    },
  ],
  test: {
    ...ordinary.test,
    setupFiles: [ordinary.test!.setupFiles!, './test/mutation/between-mutants.ts'].flat(),
    include: room.specs,
    reporters: [],
    sequence: {},
    // Many mutants wait for something that never happens, but on a busy machine an unchanged test takes its time, too.
    testTimeout: room.patience ?? 30_000,
    hookTimeout: 60_000,
    retry: 0,
  },
});
