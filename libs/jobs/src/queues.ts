/** Work that comes round by itself: how often, in milliseconds. */
export interface Recurring {
  job: string;
  everyMs: number;
}

/**
 * Every queue, by name, with its recurring job. The worker refuses to start when one of them has no processor, or two.
 */
export const QUEUES = {
  /** A commit that queues a mail nudges the worker; this finds what became due otherwise, such as a killed worker's mails. */
  email: { job: 'drain', everyMs: 5_000 },
  /** Short: a rebuild waits a few seconds for others to join it, and nobody nudges when its time has come. */
  rebuilds: { job: 'drain', everyMs: 2_000 },
  /** A post goes out within five seconds of its time. */
  publishing: { job: 'publish-due', everyMs: 2_000 },
  /** Often enough that readiness (which waits for three missed rounds) notices a dead worker within a minute. */
  housekeeping: { job: 'round', everyMs: 15_000 },
} as const satisfies Record<string, Recurring>;

export type QueueName = keyof typeof QUEUES;

export const queueNames = Object.keys(QUEUES) as QueueName[];

/** A worker that was not seen for this long is taken for dead (ms). */
export const WORKER_SILENCE_MS = 3 * QUEUES.housekeeping.everyMs;
