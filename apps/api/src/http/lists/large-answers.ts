import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Fairness } from '../request/fairness.js';
import type { Part } from './page.js';

/** The longest wait for the turn of a part (ms): the answer has begun, so it is worth more patience than a request. */
const LONGEST_WAIT = 30_000;

/** Reads pages that are too large for memory in parts, each once the client has taken the one before. */
@Injectable()
export class LargeAnswers {
  constructor(private readonly fairness: Fairness) {}

  /**
   * Each part takes a turn of its organization, the first one that of the request. While others are present, a rest of
   * the same length follows: a part keeps the event loop for some ms, and with it everybody else.
   *
   * @throws QueueFull when too much waits for clients, and this organization has the most of it
   */
  async *inParts<T>(organizationId: string, parts: T[], read: (part: T) => Promise<Part>): AsyncGenerator<Part> {
    const { turns, budget } = this.fairness;
    for (const [index, part] of parts.entries()) {
      const turn = index === 0 ? null : turns.enter(organizationId, LONGEST_WAIT);
      const holding = budget.open(organizationId);
      try {
        await turn?.ready;
        const began = performance.now();
        const result = await read(part);
        budget.add(holding, Buffer.byteLength(result.data ?? ''));
        holding.signal.throwIfAborted();
        turn?.end();
        const took = performance.now() - began;
        yield result;
        holding.signal.throwIfAborted();
        if (turns.isShared(organizationId)) await sleep(took, undefined, { ref: false });
      } finally {
        turn?.end();
        budget.release(holding);
      }
    }
  }
}
