import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Log } from '@app/logging';
import { HIT, REGISTER } from './rate-limit.scripts.js';
import type { Second } from './sliding-window.js';

/** A request never waits longer than this for Redis (ms). A Redis in the same network answers within one. */
const REDIS_PATIENCE = 50;
/** A process that starts waits for Redis no longer than this (ms). */
const REDIS_START = 2_000;
/** How often a process registers (ms). Redis is away when one registration is unanswered at the time of the next. */
const HEARTBEAT = 1_000;
/** A process that has been silent for this long no longer shares the limits (s): ten heartbeats. */
const PROCESS_KEPT = 10;
/** Redis may come back without its data. After this long on a new connection, all processes have registered again (ms). */
const PROCESSES_RETURN = 3_000;
/** A connection without an answer for this long is replaced (ms): nobody closed it, but it is dead. */
const SILENCE = 5_000;
/**
 * The pause between two attempts to connect (ms). Short, so that all processes are back at nearly the same time: what one
 * has allowed is unknown to the others until it has reported.
 */
const RETRY = 100;

const PROCESSES = 'rate-limit:processes';

/** Whether the hit was allowed, Redis' clock in milliseconds, and the window as the text of a JSON array. */
type HitAnswer = [allowed: number, now: number, counts: string];

interface Commands extends Redis {
  hit(window: string, kept: number, limit: number, asked: 0 | 1, ...reported: number[]): Promise<HitAnswer>;
  register(processes: string, id: string, secondsKept: number): Promise<number>;
}

/**
 * The Redis that rate limits share: whether it answers in time, what its clock says, and how many processes share it.
 * The connection is for rate limits alone, so that nothing slow stands in front of a hit.
 */
export class RateLimitRedis {
  /** Redis does not answer in time: each process decides by itself. */
  late = true;
  /** It has been so for about a second, and the log says so. */
  away = false;
  /** Counts connections. Over a new one Redis may turn out to have lost what it held. */
  connection = 0;
  private readonly redis: Commands;
  private readonly id = randomUUID();
  private inFlight = 0;
  /** Called when Redis is late. */
  private readonly waiting = new Set<() => void>();
  /** The heartbeat that is under way. */
  private beating: Promise<void> | null = null;
  private timer: NodeJS.Timeout | undefined;
  /**
   * Redis' clock less this process' own (s). Nobody sets the latter: a minute stays a minute. Until Redis has answered,
   * its clock is taken to be the system's.
   */
  private clockOffset = performance.timeOrigin / 1000;
  private clockKnown = false;
  private processes = 1;
  private connectedAt = 0;

  /** @param onBack called when Redis answers again, once every hit that was under way is settled */
  constructor(
    url: string,
    private readonly log: Log,
    private readonly onBack: () => void,
  ) {
    this.redis = new Redis(url, {
      lazyConnect: true,
      connectTimeout: 1_000,
      socketTimeout: SILENCE,
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      retryStrategy: () => RETRY,
    }) as Commands;
    this.redis.defineCommand('hit', { numberOfKeys: 1, lua: HIT });
    this.redis.defineCommand('register', { numberOfKeys: 1, lua: REGISTER });
    // Each command reports its own failure; without a listener the process would end here.
    this.redis.on('error', () => undefined);
    this.redis.on('close', () => this.setLate());
    this.redis.on('ready', () => {
      this.connection++;
      this.connectedAt = performance.now();
      this.clockKnown = false;
      void this.beat();
    });
  }

  /** The first requests count in Redis too, if it answers soon; if not, the process starts without it. */
  async start(): Promise<void> {
    const signal = AbortSignal.timeout(REDIS_START);
    this.redis.connect().catch(() => undefined);
    try {
      await once(this.redis, 'ready', { signal });
      await this.inTime(this.beat());
      await nextTurn();
    } catch {
      this.setAway();
    }
    this.timer = setInterval(() => {
      const unanswered = this.beating;
      if (!unanswered) void this.beat();
      // If it was this process that was held up, the answer is there and is read first.
      else setImmediate(() => this.beating === unanswered && this.setAway());
    }, HEARTBEAT).unref();
  }

  /** Leaves at once, so that the others need not wait until this process has been silent for long. */
  stop(): void {
    clearInterval(this.timer);
    if (this.connected) this.redis.zrem(PROCESSES, this.id).catch(() => undefined);
    this.redis.disconnect();
  }

  get connected(): boolean {
    return this.redis.status === 'ready';
  }

  /** Redis' clock as this process knows it (s). */
  now(): number {
    return performance.now() / 1000 + this.clockOffset;
  }

  /** How many processes share what Redis has not counted. */
  get sharers(): number {
    return this.late ? this.processes : 1;
  }

  /**
   * Brings a window up to date, and counts a hit in it if one is asked for.
   *
   * @param reported what Redis has to be told of the window first
   * @returns whether the hit was allowed; pairs of second and count
   */
  async hit(key: string, kept: number, limit: number, asked: 0 | 1, reported: Second[]) {
    const report = reported.flatMap(({ at, shared, own }) => [at, shared, own]);
    this.inFlight++;
    try {
      const [allowed, now, counts] = await this.redis.hit(key, kept, limit, asked, ...report);
      this.setClock((now - performance.now()) / 1000);
      if (this.late) void this.back();
      return { allowed: allowed === 1, counts: JSON.parse(counts) as number[] };
    } finally {
      this.inFlight--;
    }
  }

  /**
   * Rejects when the answer fails or is late. Then nobody waits any longer: answers come in order. If it was this process
   * that was held up, the answer may be there unread, so sockets are read once more before Redis is blamed.
   */
  inTime<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        reject(new Error('Redis is late'));
      };
      const expired = () => setImmediate(() => this.waiting.has(giveUp) && this.setLate());
      const timer = setTimeout(expired, REDIS_PATIENCE);
      this.waiting.add(giveUp);
      answer
        .then(resolve, () => {
          this.setLate();
        })
        .finally(() => {
          clearTimeout(timer);
          this.waiting.delete(giveUp);
        });
    });
  }

  /** Registers this process, learns how many share the limits, and notices that Redis answers again. */
  private beat(): Promise<void> {
    this.beating ??= this.register()
      .catch(() => this.setAway())
      .finally(() => (this.beating = null));
    return this.beating;
  }

  private async register(): Promise<void> {
    const count = await this.redis.register(PROCESSES, this.id, PROCESS_KEPT);
    // Until all may have registered again, the number only grows.
    const complete = performance.now() > this.connectedAt + PROCESSES_RETURN;
    this.processes = complete ? count : Math.max(count, this.processes);
    void this.back();
  }

  /** An answer that was read late makes Redis' clock look slow: the fastest one counts, unless the clock was set. */
  private setClock(offset: number): void {
    if (this.clockKnown && offset < this.clockOffset && offset > this.clockOffset - 1) return;
    this.clockOffset = offset;
    this.clockKnown = true;
  }

  /** Redis answers again. Late answers are waited for: what they counted must not be reported as well. */
  private async back(): Promise<void> {
    await nextTurn();
    if (!this.late || !this.connected || this.inFlight > 0) return;
    this.late = false;
    if (this.away) this.log.warn('Redis answers again: rate limits are shared', RateLimitRedis.name);
    this.away = false;
    this.onBack();
  }

  private setAway(): void {
    if (!this.away) this.log.warn('Redis does not answer: rate limits are per process', RateLimitRedis.name);
    this.away = true;
    this.setLate();
  }

  private setLate(): void {
    this.late = true;
    for (const giveUp of this.waiting) giveUp();
  }
}
