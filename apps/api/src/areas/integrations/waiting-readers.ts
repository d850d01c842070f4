import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, Deadline } from '@app/database';
import { numberEvents } from '@app/events';
import { Log } from '@app/logging';
import { Shutdown } from '@app/serving';
import { tooMany } from '../../http/kit.js';

/** How often events are looked for while somebody waits (ms): half of it is what a change takes on average to be heard. */
const EVERY = 200;

/** How long a look may take (ms). */
const PATIENCE = 5_000;

/** The most readers of an organization that wait in one process: each keeps a connection and some memory. */
export const MOST_WAITING = 25;

/** The most woken readers that read at once, of all organizations: far fewer than the requests that may wait for a turn. */
const MOST_AWAKE = 50;

/** When to try again if too many wait (s). */
const RETRY_AFTER = 5;

interface Reader {
  organizationId: string;
  /** The number of the last event that it has seen. */
  seen: bigint;
  wake: () => void;
}

/**
 * Readers that wait for events. They hold nothing of the database: one loop of the process looks for all of them, and only while there are any.
 * It also numbers new events, so that the feed moves on without a worker.
 */
@Injectable()
export class WaitingReaders {
  /** Oldest first. */
  private readonly readers = new Set<Reader>();
  private looking = false;
  private awake = 0;

  constructor(
    private readonly db: Database,
    private readonly log: Log,
    private readonly shutdown: Shutdown,
  ) {}

  get count(): number {
    return this.readers.size;
  }

  /**
   * Waits until there is an event after this number, then reads.
   *
   * @returns null if the time is over, the reader has left or the process is about to end
   * @throws ApiError 429 if too many of the organization's readers wait
   */
  async wait<T>(
    organizationId: string,
    seen: bigint,
    milliseconds: number,
    left: AbortSignal,
    read: () => Promise<T>,
  ): Promise<T | null> {
    if (!(await this.woken(organizationId, seen, milliseconds, left))) return null;
    try {
      return await read();
    } finally {
      this.awake--;
    }
  }

  private async woken(organizationId: string, seen: bigint, milliseconds: number, left: AbortSignal): Promise<boolean> {
    const waiting = [...this.readers].filter((reader) => reader.organizationId === organizationId).length;
    if (waiting >= MOST_WAITING) {
      throw tooMany(
        `At most ${MOST_WAITING} requests of an organization can wait for events.`,
        MOST_WAITING,
        RETRY_AFTER,
      );
    }
    const over = AbortSignal.any([left, this.shutdown.signal]);
    if (over.aborted) return false;
    return new Promise((resolve) => {
      const end = (woken: boolean) => {
        clearTimeout(timer);
        over.removeEventListener('abort', giveUp);
        this.readers.delete(reader);
        resolve(woken);
      };
      const giveUp = () => {
        end(false);
      };
      const timer = setTimeout(giveUp, milliseconds).unref();
      over.addEventListener('abort', giveUp);
      const reader: Reader = {
        organizationId,
        seen,
        wake: () => {
          this.awake++;
          end(true);
        },
      };
      this.readers.add(reader);
      if (!this.looking) void this.lookForEvents();
    });
  }

  private async lookForEvents(): Promise<void> {
    this.looking = true;
    let failing = false;
    while (this.readers.size > 0) {
      await sleep(EVERY, undefined, { ref: false });
      try {
        await this.look();
        failing = false;
      } catch (error) {
        if (!failing) this.log.failure(error, null, 'events_not_looked_for');
        failing = true;
      }
    }
    this.looking = false;
  }

  private async look(): Promise<void> {
    const organizations = [...new Set([...this.readers].map(({ organizationId }) => organizationId))];
    await numberEvents(this.db, new Deadline(PATIENCE));
    const rows = await this.db.lookUp<{ organization_id: string; number: string }>(
      sql`SELECT organization_id, number FROM newest_events(${organizations}::uuid[])`,
      new Deadline(PATIENCE),
    );
    const newest = new Map(rows.map(({ organization_id: id, number }) => [id, BigInt(number)]));
    const behind = [...this.readers].filter(({ organizationId, seen }) => (newest.get(organizationId) ?? 0n) > seen);
    for (const { wake } of behind.slice(0, Math.max(0, MOST_AWAKE - this.awake))) wake();
  }
}
