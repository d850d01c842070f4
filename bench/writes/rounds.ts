import { medianOf } from '../tables.js';

/** How often something is called. */
export interface Plan {
  warmUp: number;
  rounds: number;
  calls: number;
}

/** What one way to do something took (ms); round n of every way belongs together. */
export interface Times {
  p50: number[];
  p95: number[];
}

/**
 * A, B, A, B …, call by call: whatever else the machine does falls on all of them.
 *
 * @param ways each answers with its milliseconds
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
