import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Log } from '@app/logging';
import { HIT, REGISTER } from './rate-limit.scripts.js';
import type { Second } from './sliding-window.js';

/** The longest that a request waits for Redis (ms). A Redis in the same network answers within 1 ms. */
const REDIS_PATIENCE = 50;
/** The longest that a starting process waits for Redis (ms). */
const REDIS_START = 2_000;
/** How often a process registers (ms). Redis counts as away if a registration is unanswered when the next is due. */
const HEARTBEAT = 1_000;
/** After this silence, a process no longer shares the limits (s): ten heartbeats. */
const PROCESS_KEPT = 10;
/** Redis may return without its data. All processes have registered again after this long on a new connection (ms). */
const PROCESSES_RETURN = 3_000;
/** A connection is replaced after this long without an answer (ms): it is dead, although nobody closed it. */
const SILENCE = 5_000;
/**
 * The pause between two attempts to connect (ms). Short, so that all processes reconnect at nearly the same time: until
 * a process has reported what it allowed, the others do not know about it.
 */
const RETRY = 100;

const PROCESSES = 'rate-limit:processes';

/** Whether the hit was allowed, Redis's clock (ms), and the window as the text of a JSON array. */
type HitAnswer = [allowed: number, now: number, counts: string];

interface Commands extends Redis {
  hit(window: string, kept: number, limit: number, asked: 0 | 1, ...reported: number[]): Promise<HitAnswer>;
  register(processes: string, id: string, secondsKept: number): Promise<number>;
}

/**
 * The Redis that shares rate limits between processes. Tracks whether it answers in time, its clock, and how many
 * processes share it. The connection is only for rate limits, so that a hit never waits behind something slow.
 */
export class RateLimitRedis {
  /** Redis does not answer in time, so each process decides by itself. */
  late = true;
  /** Redis has been late for about a second. This is logged. */
  away = false;
  /** Counts connections. On a new one, Redis may have lost its data. */
  connection = 0;
  private readonly redis: Commands;
  private readonly id = randomUUID();
  private inFlight = 0;
  /** Called when Redis is late. */
  private readonly waiting = new Set<() => void>();
  /** The heartbeat in progress. */
  private beating: Promise<void> | null = null;
  private timer: NodeJS.Timeout | undefined;
  /**
   * Redis's clock minus this process's monotonic clock (s), which nobody can set: a minute stays a minute. Until Redis
   * has answered, the system's clock stands in for Redis's.
   */
  private clockOffset = performance.timeOrigin / 1000;
  private clockKnown = false;
  private processes = 1;
  private connectedAt = 0;

  /** @param onBack called when Redis answers again and every hit in progress is settled */
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
    // Each command reports its own failure. Without a listener, the error would end the process.
    this.redis.on('error', () => undefined);
    this.redis.on('close', () => this.setLate());
    this.redis.on('ready', () => {
      this.connection++;
      this.connectedAt = performance.now();
      this.clockKnown = false;
      void this.beat();
    });
  }

  /** Connects, so that even the first requests count in Redis. If Redis does not answer soon, starts without it. */
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
      // If this process itself was held up, the answer has arrived and is read first.
      else setImmediate(() => this.beating === unanswered && this.setAway());
    }, HEARTBEAT).unref();
  }

  /** Unregisters at once, so that the others need not wait for this process to be silent for long enough. */
  stop(): void {
    clearInterval(this.timer);
    if (this.connected) this.redis.zrem(PROCESSES, this.id).catch(() => undefined);
    this.redis.disconnect();
  }

  get connected(): boolean {
    return this.redis.status === 'ready';
  }

  /** Redis's clock, as this process knows it (s). */
  now(): number {
    return performance.now() / 1000 + this.clockOffset;
  }

  /** How many processes share the hits that Redis has not counted. */
  get sharers(): number {
    return this.late ? this.processes : 1;
  }

  /**
   * Updates a window, and counts a hit in it if requested.
   *
   * @param reported seconds of the window to report to Redis first
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
   * Rejects if the answer fails or is late. All other waits then reject too, because answers come in order. If this
   * process itself was held up, the answer may have arrived unread, so sockets are read once more before blaming Redis.
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

  /** Registers this process, learns how many share the limits, and detects that Redis answers again. */
  private beat(): Promise<void> {
    this.beating ??= this.register()
      .catch(() => this.setAway())
      .finally(() => (this.beating = null));
    return this.beating;
  }

  private async register(): Promise<void> {
    const count = await this.redis.register(PROCESSES, this.id, PROCESS_KEPT);
    // Until all have had time to register again, the number only grows.
    const complete = performance.now() > this.connectedAt + PROCESSES_RETURN;
    this.processes = complete ? count : Math.max(count, this.processes);
    void this.back();
  }

  /** An answer that is read late makes Redis's clock look slow, so the fastest counts, unless the clock was set. */
  private setClock(offset: number): void {
    if (this.clockKnown && offset < this.clockOffset && offset > this.clockOffset - 1) return;
    this.clockOffset = offset;
    this.clockKnown = true;
  }

  /** Redis answers again. Waits for late answers first, because hits that they counted must not be reported as well. */
  private async back(): Promise<void> {
    await nextTurn();
    if (!this.late || !this.connected || this.inFlight > 0) return;
    this.late = false;
    if (this.away) this.log.warn('Redis responds again: rate limits are shared', RateLimitRedis.name);
    this.away = false;
    this.onBack();
  }

  private setAway(): void {
    if (!this.away) this.log.warn('Redis does not respond: rate limits are per process', RateLimitRedis.name);
    this.away = true;
    this.setLate();
  }

  private setLate(): void {
    this.late = true;
    for (const giveUp of this.waiting) giveUp();
  }
}
