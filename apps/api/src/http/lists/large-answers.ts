import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Fairness } from '../request/fairness.js';
import type { Part } from './page.js';

/** Reads pages that are too large for memory in parts, each once the client has taken the one before. */
@Injectable()
export class LargeAnswers {
  constructor(private readonly fairness: Fairness) {}

  /** Reads one part at a time. While others are present, as long a rest follows: a part keeps the event loop for some ms. @throws QueueFull */
  async *inParts<T>(organizationId: string, parts: T[], read: (part: T) => Promise<Part>): AsyncGenerator<Part> {
    const { turns, parts: partTurns, budget } = this.fairness;
    for (const part of parts) {
      const holding = budget.open(organizationId);
      try {
        const result = await partTurns.run(organizationId, async () => {
          const began = performance.now();
          const page = await read(part);
          budget.add(holding, Buffer.byteLength(page.data ?? ''));
          if (turns.isShared(organizationId)) await sleep(performance.now() - began, undefined, { ref: false });
          return page;
        });
        holding.signal.throwIfAborted();
        yield result;
        holding.signal.throwIfAborted();
      } finally {
        budget.release(holding);
      }
    }
  }
}
