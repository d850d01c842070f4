import type { Tables } from '@app/database';
import type { Problem } from '@app/jobs';
import type { Claimed } from './outbox.store.js';

/** How a try ended. */
export type Outcome = {
  /** Runs once the outcome is committed, or given up on. */
  after?: () => void;
} & (
  | { status: 'sent'; note?: Problem }
  | { status: 'suppressed'; problem: Problem }
  /** `unreachable`: nothing can be sent at the moment, the message itself is not to blame. */
  | { status: 'failed'; problem: Problem; unreachable?: boolean }
  /** It was claimed again, or will be: not for this try to say how it ended. */
  | { status: 'lost' }
);

/** Carries messages of one topic to where they go. */
export interface Courier {
  readonly topic: Tables['outbox']['topic'];
  /** How a message ends that need not be tried at all; null when it must be. */
  screen?(message: Claimed): Promise<Outcome | null>;
  /** @param signal aborts what takes too long; the try has failed then */
  deliver(message: Claimed, signal: AbortSignal): Promise<Outcome>;
}
