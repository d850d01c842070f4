import { setTimeout as sleep } from 'node:timers/promises';
import type { BulkInviteAnswer, RowWish } from '../data/provisioning.js';
import type { Random } from '../data/random.js';
import { post, type Reply } from '../http/post.js';
import { mixedRows, type Wanted, wantedOf } from './wanted-people.js';

/** A write and its key, repeated until it is done. */
export interface Write {
  apiKey: string;
  /** The idempotency key, which is also the request's id. */
  key: string;
  /** Several rows are sent as a bulk invite, a single row to /v1/students. */
  rows: RowWish[];
  failures: number;
  /** All successful responses. */
  answers: Reply[];
}

/** What the clients write, and how. */
export interface Habits {
  /** Rows of a write: one of these numbers. */
  rows: number[];
  /** How many requests with the same key are under way at once. */
  atOnce?: number;
  /** The planted bug: each retry uses a new idempotency key. */
  forgetful?: boolean;
  /** Whether connections may break, because the server dies. */
  mortal?: boolean;
}

/** Pause before a retry (ms). */
const PAUSE_MS = 20;

/** Clients that keep provisioning people and repeat every write until it succeeds, whatever happens meanwhile. */
export class PersistentWriters {
  readonly writes: Write[] = [];
  /** When each successful request was sent, and when its response came. */
  readonly successes: { askedAt: number; at: number }[] = [];
  /** Responses other than success, 409 and 503, and broken connections. */
  readonly unexpected: string[] = [];
  /** Writes that were committed although their client did not get a success at first. */
  doneUntold = 0;
  private readonly underway = new Set<Write>();
  private readonly clients: Promise<void>[];
  private running = true;

  /** @param keys API keys, one per client */
  constructor(
    private readonly server: { readonly port: number },
    private readonly random: Random,
    keys: string[],
    private readonly habits: Habits,
  ) {
    this.clients = keys.map((apiKey) => this.work(apiKey));
    // stop() reports failures.
    for (const client of this.clients) client.catch(() => undefined);
  }

  /** Remembers the writes in flight. @returns a function that counts how many of them have failed since */
  watch(): () => number {
    const before = [...this.underway].map((write) => ({ write, failures: write.failures }));
    return () => before.filter(({ write, failures }) => write.failures > failures).length;
  }

  /** Resolves when the writes in flight are done. */
  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.clients);
  }

  /** Sends every write once more. @returns the keys of those that did not always get the same response */
  async repeat(): Promise<string[]> {
    const different: string[] = [];
    for (const write of this.writes) {
      const told = [await this.send(write), ...write.answers].map((one) => `${one?.status} ${String(one?.headers['content-type'])} ${one?.body}`);
      if (new Set(told).size > 1) different.push(write.key);
    }
    return different;
  }

  /** Everybody whom the clients provisioned, with the ids from the responses. */
  get wanted(): Wanted[] {
    return this.writes.flatMap((write) => wantedOf(write.rows, resultsOf(write)));
  }

  private async work(apiKey: string): Promise<void> {
    const { rows, atOnce = 1 } = this.habits;
    while (this.running) {
      const key = `write-${this.writes.length}`;
      const write: Write = { apiKey, key, rows: mixedRows(key, this.random.pick(rows)), failures: 0, answers: [] };
      this.writes.push(write);
      this.underway.add(write);
      await Promise.all(Array.from({ length: atOnce }, () => this.untilDone(write)));
      this.underway.delete(write);
    }
  }

  private async untilDone(write: Write): Promise<void> {
    for (;;) {
      const askedAt = performance.now();
      const reply = await this.send(write);
      if (reply?.status === 200 || reply?.status === 201) {
        this.successes.push({ askedAt, at: performance.now() });
        if (reply.headers['idempotency-replayed'] && write.failures > 0 && write.answers.length === 0) this.doneUntold++;
        write.answers.push(reply);
        return;
      }
      if (reply ? reply.status !== 503 && reply.status !== 409 : !this.habits.mortal) {
        this.unexpected.push(reply ? `${reply.status} ${reply.body}` : 'a connection broke');
      }
      if (reply?.status !== 409) write.failures++;
      await sleep(PAUSE_MS);
    }
  }

  private send({ apiKey, key, rows, failures }: Write): Promise<Reply | null> {
    const headers = {
      Authorization: `Token token=${apiKey}`,
      'Idempotency-Key': this.habits.forgetful ? `${key}-${failures}` : key,
      'X-Request-Id': key,
    };
    const { type: _, ...student } = rows[0]!;
    const [path, body] = rows.length > 1 ? ['/v1/users/bulk-invite', { users: rows }] : ['/v1/students', student];
    return post(this.server.port, path, headers, JSON.stringify(body)).reply;
  }
}

/** The results of a write's rows, in their order. */
export function resultsOf({ answers }: Write): { id: string | null }[] {
  const said = JSON.parse(answers[0]!.body) as BulkInviteAnswer | { id: string };
  return 'results' in said ? said.results : [said];
}
