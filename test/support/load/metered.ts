import { fileURLToPath } from 'node:url';
import { Random } from '../data/random.js';
import { inReport, reached, seedOf } from '../faults/promise.js';
import type { ApiProcess } from '../http/api-process.js';
import type { Position } from '../fuzz/long-bodies.js';
import { exchange, type RawAnswer } from '../http/raw-http.js';

/** One request's cost: CPU time, longest block of the event loop (both ms), and peak memory (bytes). */
export interface Cost {
  cpu: number;
  hold: number;
  memory: number;
}

/** Limits for the costs of a position. */
export interface Bounds {
  /** Cost of 16n divided by the cost of n. */
  ratio: number;
  /** Lower costs count as these: they are mostly the fixed costs of a request. */
  floor: { cpu: number; memory: number };
  /** ms */
  hold: number;
}

/** The bounds of promise 41. Ratios compare costs within one process; {@link TRIES} makes up for other load. */
export const PROMISED: Bounds = { ratio: 24, floor: { cpu: 3, memory: 4e6 }, hold: 50 };

/**
 * Bounds that do not depend on the machine's speed. Quadratic work costs 256 times as much at 16 times the length.
 */
const NOT_SQUARE: Bounds = { ratio: 64, floor: { cpu: 5, memory: 4e6 }, hold: Infinity };

/** The result at a position. */
export interface Finding {
  position: Position;
  /** Cost of 16n divided by the cost of n, after applying the floors. */
  ratios: { cpu: number; memory: number };
  hold: number;
  complaints: string[];
}

/** Positions of each family in a sample. */
const SAMPLE = 2;

/** How often to measure a position that exceeds its bounds, because other load inflates costs. */
const TRIES = 4;

const moduleAt = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** A program to measure, and the positions in its requests whose length is the caller's choice. */
export interface Subject {
  positions: Position[];
  /** Starts the program with the meter. */
  start: (flags: string[], settings: Record<string, string>) => Promise<ApiProcess>;
  /** The faults of a response with a status below 500. */
  faults: (answer: RawAnswer) => string[];
  /** Stops what the program depends on. */
  close: () => Promise<void>;
}

/** A process on a filled database, with a meter. */
export class Metered {
  private constructor(
    private readonly subject: Subject,
    private target: ApiProcess,
  ) {}

  static async open(subject: Subject): Promise<Metered> {
    return new Metered(subject, await start(subject));
  }

  get positions(): Position[] {
    return this.subject.positions;
  }

  /** Restarts the process with a planted bug, see planted-growth.js. */
  async plant(planted: string): Promise<void> {
    await this.target.stop();
    this.target = await start(this.subject, planted);
  }

  async close(): Promise<void> {
    await this.target.stop();
    await this.subject.close();
  }

  /**
   * Sends requests of length n, 4n and 16n, where 16n is the position's maximum, and checks their costs.
   *
   * @param tries maximum number of measurements if the position exceeds its bounds
   */
  async examine(position: Position, bounds: Bounds, tries = TRIES): Promise<Finding> {
    const sizes = [position.most / 16, position.most / 4, position.most].map(Math.floor);
    const lowest = sizes.map((): Cost => ({ cpu: Infinity, hold: Infinity, memory: Infinity }));
    for (let time = 1; ; time++) {
      const complaints: string[] = [];
      for (const [index, size] of sizes.entries()) {
        // Collecting garbage is slow: on the first try, only the longest request needs it.
        const empty = time > 1 || index === sizes.length - 1;
        const { cost, faults } = await this.cost(position.request(size), empty);
        lowest[index] = least(lowest[index]!, cost);
        complaints.push(...faults.map((fault) => `${position.name}, ${size} long: ${fault}`));
      }
      const finding = judge(position, lowest, bounds);
      if (complaints.length > 0 || finding.complaints.length === 0 || time === tries) {
        return { ...finding, complaints: [...complaints, ...finding.complaints] };
      }
    }
  }

  /** A random sample of each family of positions. */
  sample(random: Random): Position[] {
    const families = Object.values(Object.groupBy(this.positions, ({ family }) => family));
    return families.flatMap((own) => Array.from({ length: SAMPLE }, () => random.pick(own!)));
  }

  private async cost(bytes: string, empty: boolean): Promise<{ cost: Cost; faults: string[] }> {
    await this.target.ask(empty ? 'begin empty' : 'begin');
    const answer = await exchange(this.target.port, bytes);
    const cost = (await this.target.ask('end')) as Cost;
    const faults = answer.status < 500 ? this.subject.faults(answer) : [];
    if (answer.status === 0 || answer.status >= 500) faults.push(`status ${answer.status}`);
    return { cost, faults };
  }
}

function start(subject: Subject, planted?: string): Promise<ApiProcess> {
  const modules = ['meter.js', ...(planted ? ['planted-growth.js'] : [])];
  const flags = ['--expose-gc', ...modules.flatMap((name) => ['--import', moduleAt(name)])];
  return subject.start(flags, planted ? { PLANTED: planted } : {});
}

function least(a: Cost, b: Cost): Cost {
  return { cpu: Math.min(a.cpu, b.cpu), hold: Math.min(a.hold, b.hold), memory: Math.min(a.memory, b.memory) };
}

function judge(position: Position, costs: Cost[], { ratio, floor, hold: mostHold }: Bounds): Finding {
  const [small, , large] = costs as [Cost, Cost, Cost];
  const ratios = { cpu: large.cpu / Math.max(small.cpu, floor.cpu), memory: large.memory / Math.max(small.memory, floor.memory) };
  const hold = Math.max(...costs.map((cost) => cost.hold));
  const complaints = [
    ...(ratios.cpu > ratio ? [`CPU ${small.cpu.toFixed(1)} ms, at 16 times the length ${large.cpu.toFixed(1)} ms`] : []),
    ...(ratios.memory > ratio ? [`memory ${mb(small.memory)}, at 16 times the length ${mb(large.memory)}`] : []),
    ...(hold > mostHold && !position.reframed ? [`blocked the event loop for ${hold.toFixed(0)} ms`] : []),
  ].map((complaint) => `${position.name}: ${complaint}`); // prettier-ignore
  return { position, ratios, hold, complaints };
}

const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

/**
 * Promise 41: all positions in a fault run, with limits on time; STEP=n tries every nth. A sample in `npm test`, without them.
 * Figures are printed even if the run ends early.
 */
export function growsLinearly(whose: string, metered: Metered): void {
  const seed = seedOf(20_260_501);
  const step = Number(process.env.STEP ?? 1);

  it(`work and memory of ${whose} grow no faster than what it is sent (seed ${seed})`, { timeout: 7_200_000 }, async () => {
    const findings: Finding[] = [];
    const positions = inReport(metered.positions.filter((_, index) => index % step === 0), metered.sample(new Random(seed))); // prettier-ignore
    try {
      for (const position of positions) findings.push(await metered.examine(position, inReport(PROMISED, NOT_SQUARE)));
    } finally {
      console.log(tell(findings).join('\n'));
      const failing = findings.filter(({ complaints }) => complaints.length > 0).length;
      reached(41, `${whose}: ${findings.length} of ${positions.length} positions, ${failing} over their bounds`, seed);
    }
    expect(findings.flatMap(({ complaints }) => complaints)).toEqual([]);
  });
}

/** One line per family: its positions, worst ratios and longest block of the event loop. */
function tell(findings: Finding[]): string[] {
  const families = new Set(findings.map(({ position }) => position.family));
  return [...families].map((family) => {
    const own = findings.filter(({ position }) => position.family === family);
    const worst = (of: (finding: Finding) => number) => own.reduce((most, one) => (of(one) > of(most) ? one : most));
    const [cpu, memory, hold] = [worst(({ ratios }) => ratios.cpu), worst(({ ratios }) => ratios.memory), worst((one) => one.hold)]; // prettier-ignore
    return [
      `${family}: ${own.length} positions`,
      `CPU of 16n at most ${cpu.ratios.cpu.toFixed(1)} times that of n (${cpu.position.name})`,
      `memory ${memory.ratios.memory.toFixed(1)} times (${memory.position.name})`,
      `event loop blocked for ${hold.hold.toFixed(0)} ms (${hold.position.name})`,
    ].join('; ');
  });
}
