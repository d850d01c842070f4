import type { Tables } from '@app/database';
import type { Problem } from '@app/jobs';
import type { Claimed } from './outbox.store.js';

/** How an attempt ended. */
export type Outcome = {
  /** Called once the outcome is committed or abandoned. */
  after?: () => void;
  /** Of a delivery to a webhook. */
  answer?: Answer;
} & (
  | { status: 'sent'; note?: Problem }
  /** `dead`: another try would end the same way. */
  | { status: 'suppressed' | 'dead'; problem: Problem }
  /** `unreachable`: nothing can be sent at the moment; the message is not at fault. `notBeforeMs`: the least pause that the receiver asked for. */
  | { status: 'failed'; problem: Problem; unreachable?: boolean; notBeforeMs?: number }
  /** The message was or will be claimed again: this attempt must not record an outcome. */
  | { status: 'lost' }
);

/** What the receiver of a webhook answered. */
export interface Answer {
  /** null if it did not. */
  status: number | null;
  durationMs: number;
  /** The beginning of its body. */
  text: string | null;
}

/** Delivers the messages of one topic. */
export interface Courier {
  readonly topic: Tables['outbox']['topic'];
  /** The minutes after each failed try; those of mails if it has none. */
  readonly pauses?: readonly number[];
  /** Called when nothing is due, and now and then while something is. @returns whether it has made something due */
  refill?(idle: boolean): Promise<boolean>;
  /** @param signal aborts an attempt that takes too long, which has failed then */
  deliver(message: Claimed, signal: AbortSignal): Promise<Outcome>;
}
