/** Recurring work and its interval in milliseconds. */
export interface Recurring {
  job: string;
  everyMs: number;
}

/** Every queue, with its recurring job. The worker refuses to start unless each has exactly one processor. */
export const QUEUES = {
  /** The worker is notified of new mails; this finds those that become due otherwise, such as a crashed worker's. */
  email: { job: 'drain', everyMs: 5_000 },
  /** The worker is notified of link requests; this finds requests whose notification was lost. */
  passwordLinks: { job: 'resolve', everyMs: 5_000 },
  /** Short, because a rebuild waits a few seconds for others to join it, without a notification when it is due. */
  rebuilds: { job: 'drain', everyMs: 2_000 },
  /** Events have nothing that notifies the worker; whoever waits for one shall have it within two seconds. */
  webhooks: { job: 'drain', everyMs: 500 },
  /** Posts are published within five seconds of their time. */
  publishing: { job: 'publish-due', everyMs: 2_000 },
  /** An event can be read within a second of its commit. */
  events: { job: 'number', everyMs: 500 },
  /** An export takes minutes; whoever confirmed it is mailed. */
  exports: { job: 'prepare', everyMs: 5_000 },
  /** What is gathered waits for ten minutes anyway; what cannot wait is mailed within ten seconds. */
  families: { job: 'round', everyMs: 10_000 },
  housekeeping: { job: 'round', everyMs: 15_000 },
} as const satisfies Record<string, Recurring>;

export type QueueName = keyof typeof QUEUES;

export const queueNames = Object.keys(QUEUES) as QueueName[];

/** A worker without a heartbeat for this long counts as dead (ms). It has one every ten seconds, while it can claim messages. */
export const WORKER_SILENCE_MS = 45_000;
