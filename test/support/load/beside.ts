import { load, loadFromElsewhere, Outcome, type Traffic } from './load.js';

/** What an ordinary client may lose to an attack: its p99 (ms) becomes at most twice as long, or this. */
const MOST_SLOWDOWN = 2;
const UNNOTICED_MS = 30;

/** An attack, and everybody who must not suffer from it. */
export interface Scene {
  /** The ordinary client, at a fixed rate. */
  usual: Traffic;
  /** Requests of others, at a fixed rate, that must all succeed. */
  checks?: Traffic[];
  attack: Traffic[];
  /** Statuses that the attackers may get besides 429 and 503. 0: cut off, or given up. */
  statuses?: number[];
}

/** How long each part of a round takes (s). */
export interface Timing {
  quiet: number;
  attacked: number;
  rounds: number;
}

/**
 * Measures an ordinary client alone and beside an attack, in turns, so that other load on the machine affects both alike.
 * The client has its own process: in a shared one, it would also measure the generation of the attack.
 */
export async function beside(port: number, scene: Scene, { quiet, attacked, rounds }: Timing): Promise<Beside> {
  const { usual, checks = [], attack } = scene;
  const alone: Outcome[] = [];
  const others: Outcome[][] = [];
  const attackers: Outcome[][] = [];
  for (let round = 0; round < rounds; round++) {
    alone.push(...(await load(port, { ...usual, seconds: quiet })));
    const [watched, attacking] = await Promise.all([
      load(port, ...[usual, ...checks].map((lane) => ({ ...lane, seconds: attacked }))),
      loadFromElsewhere(port, ...attack.map((lane) => ({ ...lane, abandons: true, seconds: attacked }))),
    ]);
    others.push(watched);
    attackers.push(attacking);
  }
  const [usually, ...checked] = joined(others);
  return new Beside(scene, Outcome.joined(alone), usually!, checked, joined(attackers));
}

/** Joins the rounds of each lane. */
function joined(rounds: Outcome[][]): Outcome[] {
  return rounds[0]!.map((_, lane) => Outcome.joined(rounds.map((outcomes) => outcomes[lane]!)));
}

/** What an attack did to others. */
export class Beside {
  /** The head of a table of {@link row}s. */
  static readonly head = '| attack | p50, p99 alone (ms) | beside it | refused | attackers served/s | |\n|---|---|---|---|---|---|';

  constructor(
    private readonly scene: Scene,
    readonly alone: Outcome,
    readonly usual: Outcome,
    readonly checks: Outcome[],
    readonly attack: Outcome[],
  ) {}

  /** The ordinary client's p99 (ms), alone and beside the attack. */
  get p99(): [alone: number, beside: number] {
    return [this.alone.percentile(0.99), this.usual.with(200).percentile(0.99)];
  }

  get isSlower(): boolean {
    const [alone, beside] = this.p99;
    return beside > Math.max(MOST_SLOWDOWN * alone, UNNOTICED_MS);
  }

  /** Requests of the ordinary client that got no 200, or no connection. */
  get refused(): number {
    return this.usual.without(200).count + this.usual.unsent;
  }

  /** What others suffer that was promised not to happen. */
  get breaches(): string[] {
    const checked = Outcome.joined(this.checks);
    const attackers = Outcome.joined(this.attack);
    const wrong = attackers.without(200, 201, 429, 503, ...(this.scene.statuses ?? []));
    return [
      this.alone.without(200).count > 0 && `alone: ${this.alone.statuses}`,
      this.refused > 0 && `${this.refused} refused (${this.usual.statuses})`,
      this.isSlower && `p99 ${this.p99.map((ms) => ms.toFixed(1)).join(' -> ')} ms`,
      checked.without(200, 201).count + checked.unsent > 0 && `checks: ${checked.statuses}, ${checked.unsent} unsent`,
      attackers.untold > 0 && `${attackers.untold} refusals without Retry-After`,
      wrong.count > 0 && `attackers: ${wrong.statuses}`,
    ].filter((breach) => breach !== false);
  }

  /** Several attacks as one. */
  static joined(all: Beside[]): Beside {
    const { scene } = all[0]!;
    const [alone, usual] = [all.map((one) => one.alone), all.map((one) => one.usual)].map((each) => Outcome.joined(each));
    return new Beside(scene, alone!, usual!, joined(all.map((one) => one.checks)), joined(all.map((one) => one.attack)));
  }

  row(name: string): string {
    const breaches = this.breaches.join('; ');
    return `| ${[name, timesOf(this.alone), timesOf(this.usual.with(200)), this.refused, this.served, breaches].join(' | ')} |`;
  }

  /** `p50, p99 2.0, 4.1 -> 3.1, 5.0 ms, 0 of 320 refused; checks 200: 64, 201: 32; attackers 512/s served (200: 8192)` */
  toString(): string {
    const checks = this.checks.length > 0 ? `; checks ${Outcome.joined(this.checks).statuses}` : '';
    return (
      `p50, p99 ${timesOf(this.alone)} -> ${timesOf(this.usual.with(200))} ms, ${this.refused} of ` +
      `${this.usual.count + this.usual.unsent} refused${checks}; attackers ${this.served}/s served (${Outcome.joined(this.attack).statuses})`
    );
  }

  /** The attackers' successful requests per second. */
  private get served(): string {
    const attackers = Outcome.joined(this.attack);
    return (attackers.with(200, 201).count / (attackers.seconds / this.attack.length)).toFixed(0);
  }
}

const timesOf = (outcome: Outcome) => [0.5, 0.99].map((share) => outcome.percentile(share).toFixed(1)).join(', ');
