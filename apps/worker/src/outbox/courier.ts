import type { Tables } from '@app/database';
import type { Problem } from '@app/jobs';
import type { Claimed } from './outbox.store.js';

/** How an attempt ended. */
export type Outcome = {
  /** Called once the outcome is committed or abandoned. */
  after?: () => void;
} & (
  | { status: 'sent'; note?: Problem }
  /** `dead`: another try would end the same way. */
  | { status: 'suppressed' | 'dead'; problem: Problem }
  /** `unreachable`: nothing can be sent at the moment; the message is not at fault. */
  | { status: 'failed'; problem: Problem; unreachable?: boolean }
  /** The message was or will be claimed again: this attempt must not record an outcome. */
  | { status: 'lost' }
);

/** Delivers the messages of one topic. */
export interface Courier {
  readonly topic: Tables['outbox']['topic'];
  /** @param signal aborts an attempt that takes too long, which has failed then */
  deliver(message: Claimed, signal: AbortSignal): Promise<Outcome>;
}
