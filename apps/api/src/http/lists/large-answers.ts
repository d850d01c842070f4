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

/** After each part, an organization pauses for as long as reading the part took, up to this (ms), … */
const LONGEST_PAUSE = 250;
/**
 * … and for long enough that all its large responses together do not exceed this (characters per ms, about 20 MB/s). A
 * megabyte costs about 25 ms of CPU, mostly for collecting its buffers and strings. At this rate, 24 responses of the
 * maximum size (240 MB) are sent within the 5 minutes that a client has for a response.
 */
const CHARACTERS_PER_MS = 20_000;

/** How long an organization's list counts as heavy (ms), and how many such lists are remembered. */
const HEAVY_MS = 60_000;
const MOST_HEAVY = 1_000;

interface Share {
  answers: number;
  /** The lists of these responses and of recent ones. */
  lists: Set<string>;
  reads: LimitFunction;
  pause: Promise<void>;
}

/** Reads pages that are too large for memory in parts, each once the client has taken the previous one. */
@Injectable()
export class LargeAnswers {
  private answers = 0;
  private readonly shares = new Map<string, Share>();
  private readonly reads = pLimit(READS);
  /** The turns of an organization's list that had a large page lately. */
  private readonly heavy = new LRUCache<string, LimitFunction>({ max: MOST_HEAVY, ttl: HEAVY_MS });

  /**
   * Runs the first read of a page, one at a time for a heavy list: even to learn the sizes of such records takes
   * PostgreSQL a while, and twenty pages that share its cores would all reach their deadline.
   */
  first<T>(organizationId: string, list: string, read: () => Promise<T>): Promise<T> {
    const turns = this.heavy.get(`${organizationId} ${list}`);
    return turns ? turns(read) : read();
  }

  /** Makes a list heavy for a while: a page was large, or took too long to read. */
  noteHeavy(organizationId: string, list: string): void {
    const name = `${organizationId} ${list}`;
    this.heavy.set(name, this.heavy.get(name) ?? pLimit(1));
  }

  /**
   * Called before a list is read, because only reading shows that a page is large.
   *
   * @throws Overloaded if the organization has the maximum of large responses in progress, one of them from this list
   */
  check(organizationId: string, list: string): void {
    const share = this.shares.get(organizationId);
    if (share && share.answers >= MOST_OF_ORGANIZATION && share.lists.has(list)) throw new Overloaded(5);
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
    read: (part: T) => Promise<Part>,
  ): AsyncGenerator<Part> {
    const share = this.enter(organizationId, list);
    const inTurn = async (part: T) => {
      await share.pause;
      const began = performance.now();
      let size = 0;
      try {
        const result = await this.reads(() => read(part));
        size = result.data?.length ?? 0;
        return result;
      } finally {
        const took = performance.now() - began;
        const pause = Math.max(Math.min(took, LONGEST_PAUSE), size / CHARACTERS_PER_MS - took);
        share.pause = sleep(pause, undefined, { ref: false });
      }
    };
    try {
      for (const part of parts) yield await share.reads(() => inTurn(part));
    } finally {
      this.leave(organizationId, share);
    }
  }

  /** Responses in progress. */
  get underWay(): number {
    return this.answers;
  }

  private enter(organizationId: string, list: string): Share {
    const share = this.shares.get(organizationId) ?? {
      answers: 0,
      lists: new Set(),
      reads: pLimit(READS_OF_ORGANIZATION),
      pause: Promise.resolve(),
    };
    if (this.answers >= MOST_ANSWERS || share.answers >= MOST_OF_ORGANIZATION) throw new Overloaded(5);
    this.answers++;
    share.answers++;
    share.lists.add(list);
    this.shares.set(organizationId, share);
    return share;
  }

  private leave(organizationId: string, share: Share): void {
    this.answers--;
    if (--share.answers === 0) this.shares.delete(organizationId);
  }
}
