import { readdirSync, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { getPriority, setPriority } from 'node:os';
import { Injectable } from '@nestjs/common';
import { Turns } from '@app/concurrency';
import { Fairness } from './fairness.js';

/** Hashing a password takes 19 MB and about 30 ms of a core. Two at once leave half of the threads for everything else. */
const AT_ONCE = 2;
/** ms: a class that joins from one room waits for itself. */
const LONGEST_WAIT = 10_000;

/** The nice value of hashing: with a flood of it on two cores, the p99 of pages was 16 to 25 ms at 0 and 11 to 14 ms at 10. */
const PRIORITY = 10;

/** Hashes passwords, two at a time, shared between networks: a flood of sign-ins leaves time for everybody else. */
@Injectable()
export class PasswordWork {
  private readonly turns = new Turns(AT_ONCE, LONGEST_WAIT);

  constructor(private readonly fairness: Fairness) {}

  /** @throws QueueFull when too many tasks are waiting */
  run<T>(network: string, work: () => Promise<T>): Promise<T> {
    return this.fairness.without(() => this.turns.run(network, work));
  }
}

/** Gives the threads of libuv's pool, which do little but hash passwords here, a lower priority. Only on Linux; only Node 24 names them. */
export async function lowerPriorityOfHashing(): Promise<void> {
  if (process.platform !== 'linux') return;
  const threads = () => readdirSync('/proc/self/task');
  const nameOf = (thread: string) => readFileSync(`/proc/self/task/${thread}/comm`, 'latin1');
  const before = new Set(threads());
  // Starts the pool if nothing has used it.
  const started = stat('/proc/self');
  try {
    for (const thread of threads()) {
      const isOfPool = !before.has(thread) || nameOf(thread).startsWith('libuv-worker');
      if (isOfPool) setPriority(Number(thread), Math.max(getPriority(), PRIORITY));
    }
  } catch {
    // Not allowed in this container.
  }
  await started;
}
