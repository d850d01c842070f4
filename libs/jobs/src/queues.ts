/** Work that comes round by itself: how often, in milliseconds. */
export interface Recurring {
  job: string;
  everyMs: number;
}

/**
 * Every queue, by name, with its recurring job. The worker refuses to start when one of them has no processor, or two.
 * housekeeping: often enough that readiness (which waits for three missed rounds) notices a dead worker within a minute.
 */
export const QUEUES = {
  housekeeping: { job: 'round', everyMs: 15_000 },
} as const satisfies Record<string, Recurring>;

export type QueueName = keyof typeof QUEUES;

export const queueNames = Object.keys(QUEUES) as QueueName[];

/** A worker that was not seen for this long is taken for dead (ms). */
export const WORKER_SILENCE_MS = 3 * QUEUES.housekeeping.everyMs;
