import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';
import { Overloaded } from '../errors/api-error.js';
import type { Part } from './page.js';

/**
 * Concurrent responses sent in parts, per process and per organization. Each holds about one part (1 MB) until the
 * client has taken it. Further ones are refused before their first byte.
 */
const MOST_ANSWERS = 48;
const MOST_OF_ORGANIZATION = 24;

/** Parts read concurrently. The other connections of the pool, and most of the CPU, stay available. */
const READS = 2;
const READS_OF_ORGANIZATION = 1;

/** After each part, an organization pauses for as long as reading it took, up to this (ms), … */
const LONGEST_PAUSE = 250;
/**
 * … and for long enough that all its large responses together do not exceed this (bytes per ms), which is less while
 * others read pages. A megabyte costs about 25 ms of CPU, mostly for collecting its buffers and strings, and meanwhile
 * other requests wait.
 */
const BYTES_PER_MS = { alone: 20_000, beside: 2_000 };
/**
 * An organization begins no response when it already has this much in progress, so that it gets them, and one more of up
 * to 240 MB, within a client's 5 minutes.
 */
const MOST_BYTES = 2 * 60_000 * BYTES_PER_MS.beside;

/** How long the read of a page may keep the organization's others waiting (ms): it may itself wait for a lock. */
const LONGEST_TURN = 500;

/** How long a list of an organization counts as heavy (ms), and how many such lists are remembered. */
const HEAVY_MS = 60_000;
const MOST_HEAVY = 1_000;

/** How long after its latest page an organization still counts as reading (ms). */
const RECENT_MS = 10_000;
const MOST_READERS = 1_000;

/** Created once: capturing a stack takes longer than the rest of a refusal. */
export const FULL = new Overloaded(5);

interface Share {
  answers: number;
  /** Of all these responses. */
  bytes: number;
  /** The lists of these responses and of recent ones. */
  lists: Set<string>;
  reads: LimitFunction;
  pause: Promise<void>;
}

/**
 * Reads pages that are too large for memory in parts, each once the client has taken the previous one. A list is named
 * by the path of its route.
 */
@Injectable()
export class LargeAnswers {
  private answers = 0;
  private readonly shares = new Map<string, Share>();
  private readonly reads = pLimit(READS);
  /** Organizations' lists that had a large page lately. */
  private readonly heavy = new LRUCache<string, true>({ max: MOST_HEAVY, ttl: HEAVY_MS });
  /** The turns of organizations that read pages. */
  private readonly turns = new LRUCache<string, { heavy: LimitFunction; others: LimitFunction }>({ max: MOST_READERS });
  /** Who began the latest page, and when somebody else did so last. */
  private readonly latest = { organizationId: '', at: -Infinity, byOthersAt: -Infinity };

  /**
   * Runs the first read of a page. While others read pages too, an organization reads one at a time, because only reading
   * shows what a page costs. Those of heavy lists wait for each other in any case: even to learn the sizes of such records
   * takes PostgreSQL a while, and twenty pages that share its cores would all reach their deadline.
   *
   * @param sizeOf how much of a page was read (bytes)
   */
  async first<T>(
    organizationId: string,
    list: string,
    read: () => Promise<T>,
    sizeOf: (page: T) => number,
  ): Promise<T> {
    const name = `${organizationId} ${list}`;
    const isShared = this.isShared(organizationId);
    this.noteReader(organizationId);
    if (!isShared && !this.heavy.has(name)) return read();
    const turns = this.turns.get(organizationId) ?? { heavy: pLimit(1), others: pLimit(1) };
    this.turns.set(organizationId, turns);
    if (!this.heavy.has(name)) {
      const page = await inTurn(turns.others, async () => (this.heavy.has(name) ? null : read()), sizeOf);
      if (page) return page.read;
      // One before it was large.
    }
    return turns.heavy(() => {
      // Meanwhile, those before it may have become the maximum.
      this.check(organizationId, list);
      return read();
    });
  }

  /** Whether another organization began a page lately. */
  private isShared(organizationId: string): boolean {
    const { latest } = this;
    const byOthersAt = latest.organizationId === organizationId ? latest.byOthersAt : latest.at;
    return performance.now() - byOthersAt < RECENT_MS;
  }

  private noteReader(organizationId: string): void {
    const { latest } = this;
    if (latest.organizationId !== organizationId) {
      latest.byOthersAt = latest.at;
      latest.organizationId = organizationId;
    }
    latest.at = performance.now();
  }

  /** Makes a list heavy for a while: a page was large, or took too long to read. */
  noteHeavy(organizationId: string, list: string): void {
    this.heavy.set(`${organizationId} ${list}`, true);
  }

  /**
   * Called before a list is read, because only reading shows that a page is large.
   *
   * @throws Overloaded if the organization has the maximum of large responses in progress, one of them from this list
   */
  check(organizationId: string, list: string): void {
    if (this.isFull(organizationId, () => list)) throw FULL;
  }

  /**
   * Whether {@link check} would refuse a page.
   *
   * @param listOf called only if the organization has the maximum in progress
   */
  isFull(organizationId: string, listOf: () => string | undefined): boolean {
    const share = this.shares.get(organizationId);
    return share !== undefined && isFull(share) && share.lists.has(listOf() ?? '');
  }

  /**
   * Holds no connection between two parts. Organizations take turns: each has at most one read in the queue, and pauses
   * after it.
   *
   * @throws Overloaded before the first part if too many large responses are in progress
   */
  async *inParts<T>(
    organizationId: string,
    list: string,
    parts: T[],
    bytes: number,
    read: (part: T) => Promise<Part>,
  ): AsyncGenerator<Part> {
    const share = this.enter(organizationId, list, bytes);
    const inTurn = async (part: T) => {
      await share.pause;
      const began = performance.now();
      let size = 0;
      try {
        const result = await this.reads(() => read(part));
        size = Buffer.byteLength(result.data ?? '');
        return result;
      } finally {
        const took = performance.now() - began;
        const rate = this.isShared(organizationId) ? BYTES_PER_MS.beside : BYTES_PER_MS.alone;
        const pause = Math.max(Math.min(took, LONGEST_PAUSE), size / rate - took);
        share.pause = sleep(pause, undefined, { ref: false });
      }
    };
    try {
      for (const part of parts) yield await share.reads(() => inTurn(part));
    } finally {
      this.leave(organizationId, share, bytes);
    }
  }

  /** Responses in progress. */
  get underWay(): number {
    return this.answers;
  }

  private enter(organizationId: string, list: string, bytes: number): Share {
    const share = this.shares.get(organizationId) ?? {
      answers: 0,
      bytes: 0,
      lists: new Set(),
      reads: pLimit(READS_OF_ORGANIZATION),
      pause: Promise.resolve(),
    };
    if (this.answers >= MOST_ANSWERS || isFull(share)) throw FULL;
    this.answers++;
    share.answers++;
    share.bytes += bytes;
    share.lists.add(list);
    this.shares.set(organizationId, share);
    return share;
  }

  private leave(organizationId: string, share: Share, bytes: number): void {
    this.answers--;
    share.bytes -= bytes;
    if (--share.answers === 0) this.shares.delete(organizationId);
  }
}

function isFull({ answers, bytes }: Share): boolean {
  return answers >= MOST_OF_ORGANIZATION || bytes >= MOST_BYTES;
}

/**
 * Reads a page in a turn that ends when the page's share of the time is over, for which the page does not wait.
 *
 * @param read resolves to null if the page is not to be read in this turn
 */
function inTurn<T>(
  turns: LimitFunction,
  read: () => Promise<T | null>,
  sizeOf: (page: T) => number,
): Promise<{ read: T } | null> {
  const { promise, resolve, reject } = Promise.withResolvers<{ read: T } | null>();
  void turns(async () => {
    const began = performance.now();
    const reading = read();
    reading.then((page) => resolve(page && { read: page }), reject);
    const sizeRead = reading.then((page) => (page ? sizeOf(page) : 0)).catch(() => 0);
    const size = await Promise.race([sizeRead, sleep(LONGEST_TURN, 0, { ref: false })]);
    const pause = size / BYTES_PER_MS.beside - (performance.now() - began);
    if (pause >= 1) await sleep(pause, undefined, { ref: false });
  });
  return promise;
}
