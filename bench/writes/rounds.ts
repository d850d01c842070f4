import { medianOf } from '../tables.js';

/** How many calls to make. */
export interface Plan {
  warmUp: number;
  rounds: number;
  calls: number;
}

/** The times of one alternative (ms). Values at the same index belong to the same round. */
export interface Times {
  p50: number[];
  p95: number[];
}

/**
 * Calls the alternatives in turns (A, B, A, B …), so that other load on the machine affects all of them.
 *
 * @param ways each resolves to its duration (ms)
 */
export async function inTurns(ways: (() => Promise<number>)[], plan: Plan): Promise<Times[]> {
  await round(ways, plan.warmUp);
  const times: Times[] = ways.map(() => ({ p50: [], p95: [] }));
  for (let number = 0; number < plan.rounds; number++) {
    for (const [index, each] of (await round(ways, plan.calls)).entries()) {
      times[index]!.p50.push(medianOf(each));
      times[index]!.p95.push(each.sort((a, b) => a - b)[Math.floor(each.length * 0.95)]!);
    }
  }
  return times;
}

async function round(ways: (() => Promise<number>)[], calls: number): Promise<number[][]> {
  const times: number[][] = ways.map(() => []);
  for (let call = 0; call < calls; call++) {
    for (const [index, way] of ways.entries()) times[index]!.push(await way());
  }
  return times;
}
