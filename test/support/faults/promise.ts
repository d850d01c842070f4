import { TestRunner } from 'vitest';

/** A test's result for a row of the table of promises. */
export interface Reached {
  row: number;
  /** Figures in plain English: `0 lost, 12 doubled`. */
  figures: string;
  /** Seed of the random choices, if any. */
  seed?: number | string;
}

/** All that is promised in a fault run, and a sample of it in `npm test`. */
export const inReport = <T>(all: T, sample: T): T => (process.env.PROMISES_REPORT === undefined ? sample : all);

/** Another one in each fault run; fixed in `npm test`, so that what lands does not depend on luck. */
export const seedOf = (fixed = 111_692_451): number => Number(process.env.SEED ?? inReport(Date.now() % 1_000_000, fixed));

/** A fault run takes several batches, each on a database of its own, so that what is there already slows nothing down. */
export const batchesFrom = (seed: number, all: number): number[] => Array.from({ length: inReport(all, 1) }, (_, batch) => seed + batch);

/** Records what the running test measured for a row of the table of promises. `test:faults -- --report` prints it. */
export function reached(row: number, figures: string, seed?: number | string): void {
  const test = TestRunner.getCurrentTest();
  if (!test) throw new Error('reached() must be called within a running test');
  const meta = test.meta as { reached?: Reached[] };
  (meta.reached ??= []).push({ row, figures, ...(seed === undefined ? {} : { seed }) });
  console.log(`row ${row}: ${figures}${seed === undefined ? '' : ` (seed ${seed})`}`);
}
