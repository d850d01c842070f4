import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Lane, load, loadFromElsewhere, Outcome } from './load.js';

const BARE_SERVER = fileURLToPath(new URL('bare-server.js', import.meta.url));

/** An ordinary client's results, alone and alongside other traffic. */
export interface Comparison {
  alone: Outcome;
  beside: Outcome;
  others: Outcome[];
  /** The results of a slow client that sends one of the other traffic's requests per second. */
  probes: Outcome;
  /** The p99 alongside other traffic, divided by the p99 alone. */
  slowdown: number;
  /** The same, with the other traffic sent to a server that only returns 429: the cost of its clients alone. */
  control: number;
}

/**
 * Measures an ordinary client alone and alongside other traffic, in turns, so that other load on the machine affects
 * both alike. The client has its own process: in a shared one, it would also measure the generation of that traffic.
 */
export async function compare(
  port: number,
  usual: Lane,
  others: Lane[],
  seconds: number,
  turns = 4,
): Promise<Comparison> {
  const bare = fork(BARE_SERVER, { execArgv: [] });
  try {
    return await alternate(port, await portOf(bare), usual, others, seconds, turns);
  } finally {
    bare.kill('SIGKILL');
  }
}

async function portOf(server: ChildProcess): Promise<number> {
  const [port] = (await once(server, 'message')) as [number];
  return port;
}

async function alternate(
  port: number,
  barePort: number,
  usual: Lane,
  others: Lane[],
  seconds: number,
  turns: number,
): Promise<Comparison> {
  const part = seconds / turns;
  const parts: { alone: Outcome; beside: Outcome; control: Outcome; probes: Outcome; others: Outcome[] }[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const [alone] = (await load(port, { ...usual, seconds: part })) as [Outcome];
    const lanes = others.map((lane) => ({ ...lane, seconds: part }));
    const [[control]] = (await Promise.all([
      load(port, { ...usual, seconds: part }),
      loadFromElsewhere(barePort, ...lanes),
    ])) as [[Outcome], Outcome[]];
    const probe = { requests: others.flatMap(({ requests }) => requests), connections: 1, rate: 1, seconds: part };
    const [[beside, probes], rest] = await Promise.all([
      load(port, { ...usual, seconds: part }, probe) as Promise<[Outcome, Outcome]>,
      loadFromElsewhere(port, ...lanes),
    ]);
    parts.push({ alone, beside, control, probes, others: rest });
  }
  const sum = (of: (part: (typeof parts)[number]) => Outcome) =>
    new Outcome(
      parts.flatMap((each) => of(each).replies),
      seconds,
    );
  const [alone, beside, probes] = [sum((each) => each.alone), sum((each) => each.beside), sum((each) => each.probes)];
  const slowdownOf = (outcome: Outcome) => outcome.percentile(0.99) / alone.percentile(0.99);
  return {
    alone,
    beside,
    probes,
    others: others.map((_, index) => sum((each) => each.others[index]!)),
    slowdown: slowdownOf(beside),
    control: slowdownOf(sum((each) => each.control)),
  };
}

/** `p99 2.1 -> 3.0 ms (x1.43; x1.10 beside the clients alone), 1200 requests, 2 errors (503: 2)` */
export function tell({ alone, beside, slowdown, control }: Comparison): string {
  const [before, after] = [alone.percentile(0.99), beside.percentile(0.99)];
  const errors = beside.without(200);
  const which = errors.count === 0 ? '' : ` (${errors.statuses})`;
  return `p99 ${before.toFixed(1)} -> ${after.toFixed(1)} ms (x${slowdown.toFixed(2)}; x${control.toFixed(2)} beside the clients alone), ${beside.count} requests, ${errors.count} errors${which}`; // prettier-ignore
}
