/**
 * `npm run bench` compares reads of this API with a bare server (limit/) and with what tutorials build (textbook/), on the
 * same data and alternating within one run. Then it measures writes (writes/), what row-level security adds to pages of a
 * demo with the given number of `--students`, what the request log adds to a read, what slots cost, and what sums of money
 * cost in a large organization. `-- --quick` takes less time and reports less. `-- --only reads`, `writes`,
 * `row-security`, `request-log`, `slots` or `money` measures one part. `-- --against ../other` compares the reads with those
 * of another built checkout. `-- --smoke` runs all of it in a minute, and measures nothing. Timing never fails a run; servers that do not start or responses that differ do.
 */
import 'reflect-metadata';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { measureAgainst } from './against.js';
import { Bench, say } from './bench.js';
import { measureMoney } from './money.js';
import { measureReads } from './reads.js';
import { measureRequestLog } from './request-log/request-log.js';
import { measureRowSecurity } from './row-security.js';
import { measureSlots } from './slots.js';
import { measureWrites } from './writes/writes.js';

const PARTS = {
  reads: measureReads,
  writes: measureWrites,
  'row-security': measureRowSecurity,
  'request-log': measureRequestLog,
  slots: measureSlots,
  money: measureMoney,
};

const { smoke, quick, only, students, against } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    students: { type: 'string' },
    against: { type: 'string' },
  },
}).values;
const length = smoke ? 'smoke' : quick ? 'quick' : 'full';
const bench = new Bench(length, Number(students ?? (smoke ? 30 : 5_000)));

async function main(): Promise<void> {
  if (only !== undefined && !(only in PARTS)) throw new Error(`--only is one of ${Object.keys(PARTS).join(', ')}`);
  say('Preparing PostgreSQL');
  await bench.prepare();
  say(`${bench.database.homeworkRows} rows of homework in each of two organizations`);
  const [processor] = cpus();
  say(`Node ${process.version}, ${cpus().length} x ${processor?.model ?? 'unknown'}`);
  if (against !== undefined) return measureAgainst(bench, against);
  for (const [part, measure] of Object.entries(PARTS)) {
    if (only !== undefined && only !== part) continue;
    await measure(bench);
    await bench.stop(false);
  }
}

/** Rejects when the run is interrupted; started processes still have to be stopped. */
const interrupted = new Promise<never>((_resolve, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      reject(new Error(signal));
    });
  // The reader has closed the pipe, as `head` does.
  process.stdout.on('error', reject);
});

try {
  await Promise.race([main(), interrupted]);
} catch (error) {
  say(`The benchmark could not measure: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await bench.stop();
  // An interrupted run may still be waiting for something.
  process.exit();
}
