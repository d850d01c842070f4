import { defineConfig } from 'vitest/config';
import ordinary from '../../vitest.config.js';
import { ROOMS } from './rooms.js';

const room = ROOMS[process.env.MUTATION_ROOM!]!;

/** The specs of one room, for Stryker, which runs them for each mutant until the first failure. */
export default defineConfig({
  ...ordinary,
  test: {
    ...ordinary.test,
    include: room.specs,
    reporters: [],
    sequence: {},
    // Many mutants wait for something that never happens, but on a busy machine an unchanged test takes its time, too.
    testTimeout: room.patience ?? 30_000,
  },
});
