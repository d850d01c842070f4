import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { plantedBug } from '../faults/planted-bug.js';
import type { SlowKind, SlowPlan, SlowReport } from './slow-attack.js';

/** When each kind of slow client is cut off, and the tolerance (s). */
export const LIMIT: Record<SlowKind, number> = { headers: 10, body: 30, reader: 30 };
export const SLACK = 3;

const PROGRAM = fileURLToPath(new URL('slow-attack.ts', import.meta.url));

/** Runs slow clients in their own process. Their starts are spread over the limit of their kind. */
export async function attackSlowly(plan: Omit<SlowPlan, 'within'>, seconds: number): Promise<SlowReport> {
  const clients = fork(PROGRAM, { execArgv: [] });
  clients.send({ ...plan, within: LIMIT } satisfies SlowPlan);
  await sleep(seconds * 1_000);
  clients.send('report');
  const [report] = (await once(clients, 'message')) as [SlowReport];
  clients.kill('SIGKILL');
  return report;
}

/** When the clients of each kind were cut off. */
export function tellCuts({ cuts }: SlowReport, kinds: SlowKind[]): string {
  const told = kinds.map((kind) => {
    const sorted = cuts[kind].toSorted((a, b) => a - b);
    return `${sorted.length} ${kind} cut after ${sorted[0]?.toFixed(1)} to ${sorted.at(-1)?.toFixed(1)} s`;
  });
  return told.join(', ');
}

/** Expects that each slow client was cut off at the limit of its kind, senders with 408, and that none was refused. */
export function expectCutInTime(slow: SlowReport, count: Record<SlowKind, number>, kinds: SlowKind[]): void {
  for (const kind of kinds) {
    // Clients start during only part of the time.
    expect(slow.cuts[kind].length).toBeGreaterThan(0.8 * count[kind]);
    expect(slow.oldest[kind]).toBeLessThanOrEqual(LIMIT[kind] + SLACK);
    for (const seconds of slow.cuts[kind]) expect(Math.abs(seconds - LIMIT[kind])).toBeLessThanOrEqual(SLACK);
  }
  expect(slow.answers).toEqual(['408']);
  expect(slow.refused).toEqual([]);
}

/** Settings for a process with Node's default limits. */
export const nodesLimits = (): Record<string, string> =>
  plantedBug(
    '../../../libs/serving/src/slow-clients.js',
    'Object.assign(module.SLOW_CLIENT_LIMITS, { headers: 60_000, body: 300_000, upload: 300_000, stall: 1e9, answer: 1e9 });',
  );
