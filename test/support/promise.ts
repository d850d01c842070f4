import { TestRunner } from 'vitest';

/** What a test has to say about a row of the table of promises. */
export interface Reached {
  row: number;
  /** Figures, in words: `0 lost, 12 doubled`. */
  figures: string;
  /** Of the random choices, where there were any. */
  seed?: number | string;
}

/** Says what the running test has measured for a row of the table of promises; `npm run test:faults -- --report` prints it. */
export function reached(row: number, figures: string, seed?: number | string): void {
  const test = TestRunner.getCurrentTest();
  if (!test) throw new Error('Only a running test can say what it has reached.');
  const meta = test.meta as { reached?: Reached[] };
  (meta.reached ??= []).push({ row, figures, ...(seed === undefined ? {} : { seed }) });
  console.log(`row ${row}: ${figures}${seed === undefined ? '' : ` (seed ${seed})`}`);
}
