import { Random } from '../../support/data/random.js';
import { NOTHING_WRONG, underBlows } from '../../support/faults/blows.js';
import { plantedBug } from '../../support/faults/planted-bug.js';
import { inReport, reached, seedOf } from '../../support/faults/promise.js';

/** Promises 1 and 2: a repeated write never duplicates or loses anything, whatever dies, and whenever. */
const KILLS = Number(process.env.KILLS ?? inReport(200, 4));
const CRASHES = Number(process.env.CRASHES ?? 50);
/** Share of blows that must hit a write for the run to prove anything. */
const LANDED = 0.4;
const BACK_WITHIN_MS = 2_000;
const SEED = seedOf();
const DURABLE = { synchronous_commit: 'on', fsync: 'on' };
const BATCHES = { rows: [100], atOnce: 2 };
const MIXED = { rows: [5, 1], organizations: 4 };
/** An API to which every request with a key is the first. */
const FORGETS = plantedBug(
  'http/writes/idempotency.store.js',
  `const { claim } = module.IdempotencyStore.prototype;
   Object.assign(module.IdempotencyStore.prototype, {
     find: () => Promise.resolve(null),
     claim(use) { return claim.call(this, use).then(() => true); },
   });`,
);

it(`${KILLS} kills of the API in the middle of bulk invites that are sent twice: nothing is duplicated or lost`, async () => {
  const { wrong, landed, doneUntold, figures } = await underBlows({ blows: KILLS, untold: 0.2, ...BATCHES }, new Random(SEED));
  reached(1, figures, SEED);
  expect(wrong).toEqual(NOTHING_WRONG);
  expect(landed).toBeGreaterThanOrEqual(KILLS * LANDED);
  expect(doneUntold).toBeGreaterThanOrEqual(Math.floor(KILLS * 0.1));
});

it('catches an API that forgets keys', async () => {
  const { wrong } = await underBlows({ blows: 2, untold: 1, planted: FORGETS, ...BATCHES }, new Random(SEED));
  expect(wrong.duplicates).toBeGreaterThan(0);
});

describe.each(inReport([CRASHES], []))('%d crashes of PostgreSQL during writes', (crashes) => {
  it('lose nothing, duplicate nothing, and recovery is quick', async () => {
    const { wrong, landed, doneUntold, slowest, figures } = await underBlows({ blows: crashes, untold: 0.3, postgres: DURABLE, ...MIXED }, new Random(SEED)); // prettier-ignore
    reached(2, figures, SEED);
    expect(wrong).toEqual(NOTHING_WRONG);
    expect(landed).toBeGreaterThanOrEqual(crashes * 2 * LANDED);
    expect(doneUntold).toBeGreaterThanOrEqual(Math.floor(crashes * 0.15));
    expect(slowest).toBeLessThanOrEqual(BACK_WITHIN_MS);
  });

  it('catches a PostgreSQL that confirms commits before they are durable', async () => {
    const { wrong } = await underBlows({ blows: 5, untold: 0, postgres: { synchronous_commit: 'off' }, ...MIXED }, new Random(SEED));
    expect(wrong.losses).toBeGreaterThan(0);
  });

  it('catches clients that retry with another key', async () => {
    const { wrong } = await underBlows({ blows: 10, untold: 1, postgres: DURABLE, forgetful: true, ...MIXED, rows: [5] }, new Random(SEED));
    expect(wrong.duplicates).toBeGreaterThan(0);
  });
});
