import { vi } from 'vitest';
import { TestApi } from '../support/http/api.js';
import { Factories } from '../support/data/factories.js';
import { CORPUS, findBreach, PLANTED, withBug } from '../support/faults/identity-runs.js';

// Thousands of passwords, none of which is anybody's: what hashing costs is not what is looked at here.
vi.mock('@node-rs/argon2', () => ({
  hash: (password: string) => Promise.resolve(`hash of ${password}`),
  verify: (stored: string, password: string) => Promise.resolve(stored === `hash of ${password}`),
}));

let api: TestApi;
let make: Factories;
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

beforeAll(async () => {
  api = await TestApi.start({ SMTP_URL: 'smtp://127.0.0.1:1' });
  make = await Factories.connect(api.database);
});

afterAll(async () => {
  await make.close();
  await api.stop();
});

describe(`nobody becomes, or sees, somebody else (seed ${seed})`, () => {
  it('in a hundred random sequences, and in those that once went wrong', { timeout: 120_000 }, async () => {
    expect(await findBreach(api, make, { seed, runs: 100, longest: 10 })).toBeNull();
  });

  it.each(Object.keys(PLANTED) as (keyof typeof PLANTED)[])('finds %s', async (bug) => {
    await withBug(api, bug, async () => {
      expect(await findBreach(api, make, { seed: 7, runs: CORPUS.length, longest: 10 })).not.toBeNull();
    });
  });
});
