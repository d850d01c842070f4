import { setImmediate as otherWork } from 'node:timers/promises';

/** How long a computation keeps the event loop from everything else (ms). */
const SLICE = 5;

/** Runs a long computation, which yields between its steps, and lets other work come in between. */
export async function inSlices<Result>(steps: Generator<void, Result>): Promise<Result> {
  for (let began = performance.now(); ;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - began < SLICE) continue;
    await otherWork();
    began = performance.now();
  }
}
