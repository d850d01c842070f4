import { vi } from 'vitest';
import type { Stage } from '../support/faults/identity-model.js';
import { closeStage, CORPUS, findBreach, openStage, PLANTED, withBug } from '../support/faults/identity-runs.js';

// Thousands of passwords, none of which is anybody's: what hashing costs is not what is looked at here.
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

describe(`nobody becomes, or sees, somebody else (seed ${seed})`, () => {
  it('in a hundred random sequences, and in those that once went wrong', { timeout: 120_000 }, async () => {
    expect(await findBreach(stage, { seed, runs: 100, longest: 10 })).toBeNull();
  });

  it.each(Object.keys(PLANTED) as (keyof typeof PLANTED)[])('finds %s', async (bug) => {
    await withBug(stage.api, bug, async () => {
      expect(await findBreach(stage, { seed: 7, runs: CORPUS.length, longest: 10 })).not.toBeNull();
    });
  });
});
