import { vi } from 'vitest';
import type { Stage } from '../support/faults/identity-model.js';
import { closeStage, CORPUS, findBreach, openStage, PLANTED, withBug } from '../support/faults/identity-runs.js';

// Hashing thousands of passwords would take too long, and its cost does not matter here.
vi.mock('@node-rs/argon2', () => ({
  hash: (password: string) => Promise.resolve(`hash of ${password}`),
  verify: (stored: string, password: string) => Promise.resolve(stored === `hash of ${password}`),
}));

let stage: Stage;
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

beforeAll(async () => {
  stage = await openStage();
});

afterAll(() => closeStage(stage));

describe(`nobody becomes or sees somebody else (seed ${seed})`, () => {
  it('in a hundred random sequences and in the regression corpus', { timeout: 120_000 }, async () => {
    expect(await findBreach(stage, { seed, runs: 100, longest: 10 })).toBeNull();
  });

  it.each(Object.keys(PLANTED) as (keyof typeof PLANTED)[])('finds the planted bug %s', async (bug) => {
    await withBug(stage.api, bug, async () => {
      expect(await findBreach(stage, { seed: 7, runs: CORPUS.length, longest: 10 })).not.toBeNull();
    });
  });
});
