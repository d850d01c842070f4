import { TestRunner } from 'vitest';

/** A test's result for a row of the table of promises. */
export interface Reached {
  row: number;
  /** Figures in plain English: `0 lost, 12 doubled`. */
  figures: string;
  /** Seed of the random choices, if any. */
  seed?: number | string;
}

/** All that is promised where the promises are reported, and a sample of it in `npm test`. */
export const inReport = (all: number, sample: number): number => (process.env.PROMISES_REPORT === undefined ? sample : all);

/** Records what the running test measured for a row of the table of promises. `test:faults -- --report` prints it. */
export function reached(row: number, figures: string, seed?: number | string): void {
  const test = TestRunner.getCurrentTest();
  if (!test) throw new Error('reached() must be called within a running test');
  const meta = test.meta as { reached?: Reached[] };
  (meta.reached ??= []).push({ row, figures, ...(seed === undefined ? {} : { seed }) });
  console.log(`row ${row}: ${figures}${seed === undefined ? '' : ` (seed ${seed})`}`);
}
