import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../data/percentile.js';
import type { BulkInviteAnswer, RowWish } from '../data/provisioning.js';
import { type Posted, post, type Reply } from '../http/post.js';
import { Random } from '../data/random.js';
import { type Account, judge, type Mail, mixedRows, type Verdict, wantedOf } from './wanted-people.js';

/** A server that the test kills. Its data survives, and the next process continues with it. */
export interface Victim {
  start(): Promise<VictimProcess>;
  readonly headers: Record<string, string>;
  accounts(): Promise<Account[]>;
  mails(): Promise<Mail[]>;
}

export interface VictimProcess {
  readonly port: number;
  /** Sends SIGKILL; resolves when the process is gone. */
  stop(): Promise<void>;
}

export interface KillPlan {
  /** Kills at least. More follow until enough of them hit a request, at most `PATIENCE` times as many. */
  kills: number;
  /** Concurrent requests with the same key. */
  atOnce: number;
  seed: number;
  /** Called before each kill's requests. The kill follows when the promise resolves, or at a random moment if null. */
  moment?: (kill: number) => Promise<void> | null;
}

/** One batch, sent until it succeeds. */
export interface Round {
  /** Also its idempotency key and request id. */
  name: string;
  rows: RowWish[];
  /** All responses with status 200. */
  answers: Reply[];
}

export interface KillReport extends Verdict {
  kills: number;
  /** Kills between sending the requests and the first response. */
  landed: number;
  /** How many of those came after the commit. */
  afterCommit: number;
  /** Rounds whose 200 responses differ. */
  differing: number;
  /** Clients that got no 200 after all retries, or when they repeated the request later. */
  unanswered: number;
  rounds: Round[];
}

const PATH = '/v1/users/bulk-invite';
const ROWS = 100;
const RETRIES = 3;
/** Share of the planned kills that must hit a request for the run to prove anything. */
export const LANDED = 0.4;
/** Whether a kill comes before the first response depends on the machine, so a plan may take this many times as many. */
const PATIENCE = 4;
/** Processes started ahead of time, together. */
const SPARES = 2;
/** Share of kills timed around the commit. The others come at any moment before. */
const LATE = 0.3;
/** Factor by which the next kill around a commit moves later after a hit, or earlier after a miss. */
const STEP = 1.06;
/** A request is expected to take the median of this many previous ones. */
const RECENT = 3;

/**
 * Kills the server at random moments during a bulk invite with concurrent duplicates, restarts it, and has clients retry.
 * Finally counts all accounts and mails.
 */
export class KillHarness {
  private readonly random: Random;
  private readonly processes: VictimProcess[] = [];
  private readonly rounds: Round[] = [];
  private readonly durations: number[] = [];
  /** Expected time of a request relative to the previous ones: below 1, because a warmer process is faster. */
  private pace = 0.8;
  private readonly counts = { kills: 0, landed: 0, afterCommit: 0, differing: 0, unanswered: 0 };

  private constructor(
    private readonly victim: Victim,
    private readonly plan: KillPlan,
  ) {
    this.random = new Random(plan.seed);
  }

  static async run(victim: Victim, plan: KillPlan): Promise<KillReport> {
    const harness = new KillHarness(victim, plan);
    try {
      await harness.killRepeatedly();
      return await harness.report();
    } finally {
      await Promise.all(harness.processes.map((process) => process.stop()));
    }
  }

  private async killRepeatedly(): Promise<void> {
    let current = await this.start();
    let spares: VictimProcess[] = [];
    while (!this.done()) {
      // Starts spares before sending requests, so that no request waits for a start or is slowed down by one.
      if (spares.length === 0) spares = await Promise.all(Array.from({ length: SPARES }, () => this.start()));
      await this.undisturbed(current);
      const { round, firsts } = await this.kill(current);
      current = spares.pop()!;
      await this.retry(current, round, firsts);
    }
  }

  private done(): boolean {
    const { kills, landed } = this.counts;
    if (kills < this.plan.kills) return false;
    return landed >= this.plan.kills * LANDED || kills >= this.plan.kills * PATIENCE;
  }

  private async start(): Promise<VictimProcess> {
    const process = await this.victim.start();
    this.processes.push(process);
    return process;
  }

  private open(): Round {
    const name = `${this.plan.seed}-${this.rounds.length}`;
    const round: Round = { name, rows: mixedRows(name, ROWS), answers: [] };
    this.rounds.push(round);
    return round;
  }

  private post({ port }: VictimProcess, { name, rows }: Round): Posted {
    const headers = { ...this.victim.headers, 'Idempotency-Key': name, 'X-Request-Id': name };
    return post(port, PATH, headers, JSON.stringify({ users: rows }));
  }

  /** Sends one batch without a kill, to warm the process up and to time the next kill. */
  private async undisturbed(process: VictimProcess): Promise<void> {
    const round = this.open();
    const posted = this.atOnce(() => this.post(process, round));
    await Promise.all(posted.map(({ sent }) => sent));
    const began = performance.now();
    await Promise.race(posted.map(({ reply }) => reply));
    this.durations.push(performance.now() - began);
    await this.retry(process, round, await Promise.all(posted.map(({ reply }) => reply)));
  }

  private async kill(process: VictimProcess): Promise<{ round: Round; firsts: (Reply | null)[] }> {
    const round = this.open();
    const late = this.random.chance(LATE);
    const share = late ? 0.9 + this.random.next() * 0.2 : this.random.next();
    const moment = percentile(this.durations.slice(-RECENT), 0.5) * this.pace * share;
    const told = this.plan.moment?.(this.counts.kills);
    const posted = this.atOnce(() => this.post(process, round));
    await Promise.all(posted.map(({ sent }) => sent));
    await (told ?? sleep(moment));
    await process.stop();
    // The kill came too late if a response was already on its way.
    const firsts = await Promise.all(posted.map(({ reply }) => reply));
    this.counts.kills++;
    const landed = firsts.every((answer) => answer === null);
    if (landed) this.counts.landed++;
    if (!landed) this.pace /= STEP;
    else if (late && !told) this.pace *= STEP;
    return { round, firsts };
  }

  /** Retries each client until it gets 200, at most `RETRIES` times, then sends the request once more. */
  private async retry(process: VictimProcess, round: Round, firsts: (Reply | null)[]): Promise<void> {
    const later: Reply[] = [];
    const clients = firsts.map(async (first) => {
      let reply = first;
      for (let retry = 0; reply?.status !== 200 && retry < RETRIES; retry++) {
        if (reply) await sleep(Number(reply.headers['retry-after'] ?? 0) * 1000);
        reply = await this.post(process, round).reply;
        if (reply) later.push(reply);
      }
      if (reply?.status === 200) round.answers.push(reply);
      else this.counts.unanswered++;
    });
    await Promise.all(clients);
    const replayed = later.length > 0 && later.every(({ headers }) => headers['idempotency-replayed'] === 'true');
    if (replayed && firsts.every((first) => first === null)) this.counts.afterCommit++;
    const last = await this.post(process, round).reply;
    if (last?.status === 200) round.answers.push(last);
    else this.counts.unanswered++;
    const texts = round.answers.map(({ headers, body }) => `${String(headers['content-type'])} ${body}`);
    if (new Set(texts).size > 1) this.counts.differing++;
  }

  private atOnce<T>(make: () => T): T[] {
    return Array.from({ length: this.plan.atOnce }, make);
  }

  private async report(): Promise<KillReport> {
    const wanted = this.rounds.flatMap(({ rows, answers }) => wantedOf(rows, answers[0] ? answerOf(answers[0]).results : []));
    const verdict = judge(wanted, await this.victim.accounts(), await this.victim.mails());
    return { ...this.counts, ...verdict, rounds: this.rounds };
  }
}

export function answerOf({ body }: Reply): BulkInviteAnswer {
  return JSON.parse(body) as BulkInviteAnswer;
}
