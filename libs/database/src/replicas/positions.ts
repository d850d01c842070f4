import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { inTime } from '@app/concurrency';

/** How far behind the primary a replica may be that is read from (ms). */
export const MOST_BEHIND = 2_000;

/** How long a process that has found Redis again reads from the primary alone (ms): what Redis was not told is everywhere by then. */
const CAUTION = 2 * MOST_BEHIND;
/** How long Redis keeps a position (ms). */
const KEPT = 5 * MOST_BEHIND;
/** A Redis in the same network answers within 1 ms (ms). */
const PATIENCE = 50;
/** The pause before a new connection (ms). */
const RECONNECT_AFTER = 125;
/** How often a position is told before Redis counts as gone: meanwhile it is connected to anew, several times. */
const TRIES = 10;

/** Keeps the furthest position. Two commits may be told in the other order. */
const TELL = `
  for _, key in ipairs(KEYS) do
    if tonumber(redis.call('GET', key) or '0') <= tonumber(ARGV[1]) then redis.call('SET', key, ARGV[1], 'PX', ARGV[2]) end
  end
  return 1`;

type Telling = Redis & { tellPosition: (count: number, ...keysAndValues: (string | number)[]) => Promise<number> };

const keyOf = (organizationId: string) => `position:${organizationId}`;

/**
 * How far the write-ahead log must have been replayed to show what an organization has written, told to every process through Redis.
 * Positions are bytes since the beginning of the log.
 */
export class Positions {
  /** Infinity without a connection. */
  private heardSince = Infinity;
  private silent = false;

  private constructor(private readonly redis: Telling) {
    // Each command reports its own failure. Without a listener, the error would end the process.
    redis.on('error', () => undefined);
    redis.on('ready', () => (this.heardSince = performance.now()));
    redis.on('close', () => (this.heardSince = Infinity));
  }

  static async at(url: string): Promise<Positions> {
    const { Redis } = await import('ioredis');
    return new Positions(
      new Redis(url, {
        connectTimeout: 1_000,
        // After this silence the connection is dead, although nobody closed it.
        socketTimeout: 5_000,
        maxRetriesPerRequest: 0,
        enableOfflineQueue: false,
        enableAutoPipelining: true,
        retryStrategy: () => RECONNECT_AFTER,
        scripts: { tellPosition: { lua: TELL } },
      }) as Telling,
    );
  }

  close(): void {
    this.redis.disconnect();
  }

  /** Tells how far these organizations have written, before anybody is answered. While Redis is gone for all, nobody waits for it. */
  async tell(organizationIds: string[], position: string): Promise<void> {
    const keys = organizationIds.map(keyOf);
    for (let attempt = 1; keys.length > 0; attempt++) {
      if (await this.ask(() => this.redis.tellPosition(keys.length, ...keys, position, KEPT))) {
        this.silent = false;
        return;
      }
      if (this.silent || attempt === TRIES) {
        this.silent = true;
        return;
      }
      await sleep(PATIENCE);
    }
  }

  /** @returns how far an organization has written, 0 if not lately; null if nobody knows */
  async of(organizationId: string): Promise<string | null> {
    if (performance.now() - this.heardSince < CAUTION) return null;
    const answer = await this.ask(async () => ({ position: await this.redis.get(keyOf(organizationId)) }));
    return answer && (answer.position ?? '0');
  }

  private async ask<T>(command: () => Promise<T>): Promise<T | null> {
    return this.redis.status === 'ready' ? inTime(command(), PATIENCE) : null;
  }
}
