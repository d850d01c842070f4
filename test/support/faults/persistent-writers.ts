import { setTimeout as sleep } from 'node:timers/promises';
import { post, type Reply } from '../http/post.js';
import type { BulkInviteAnswer, RowWish } from '../data/provisioning.js';
import type { Random } from '../data/random.js';
import { mixedRows, type Wanted, wantedOf } from './wanted-people.js';

/** A write and its key, retried until it is done. */
interface Write {
  apiKey: string;
  /** The idempotency key. */
  key: string;
  /** Several rows are sent as a bulk invite, a single row to /v1/students. */
  rows: RowWish[];
  failures: number;
  /** The successful response; null until then. */
  answer: Reply | null;
}

/** Pause before a retry (ms). */
const PAUSE_MS = 20;
const ROWS_OF_A_BATCH = 5;

/** Clients that keep provisioning people and retry every write until it succeeds, whatever happens to the database. */
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

  constructor(
    private readonly port: number,
    private readonly random: Random,
    /** API keys, one per client. */
    keys: string[],
    /** The planted bug: each retry uses a new idempotency key. */
    private readonly forgetful = false,
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

  /** Repeats the writes that failed at first. @returns the keys of those that now get a different response */
  async repeatFailed(): Promise<string[]> {
    const different: string[] = [];
    for (const write of this.writes.filter(({ failures }) => failures > 0)) {
      const again = await this.send(write);
      if (again?.status !== write.answer!.status || again.body !== write.answer!.body) different.push(write.key);
    }
    return different;
  }

  /** Everybody whom the clients provisioned, with the ids from the responses. */
  get wanted(): Wanted[] {
    return this.writes.flatMap(({ rows, answer }) => {
      const said = JSON.parse(answer!.body) as BulkInviteAnswer | { id: string };
      return wantedOf(rows, 'results' in said ? said.results : [said]);
    });
  }

  private async work(apiKey: string): Promise<void> {
    while (this.running) {
      const key = `write-${this.writes.length}`;
      const rows = mixedRows(key, this.random.chance(0.5) ? ROWS_OF_A_BATCH : 1);
      const write: Write = { apiKey, key, rows, failures: 0, answer: null };
      this.writes.push(write);
      this.underway.add(write);
      await this.untilDone(write);
      this.underway.delete(write);
    }
  }

  private async untilDone(write: Write): Promise<void> {
    for (;;) {
      const askedAt = performance.now();
      const reply = await this.send(write);
      if (reply?.status === 200 || reply?.status === 201) {
        this.successes.push({ askedAt, at: performance.now() });
        if (reply.headers['idempotency-replayed']) this.doneUntold++;
        write.answer = reply;
        return;
      }
      if (reply?.status !== 503 && reply?.status !== 409) {
        this.unexpected.push(reply ? `${reply.status} ${reply.body}` : 'a connection broke');
      }
      write.failures++;
      await sleep(PAUSE_MS);
    }
  }

  private send({ apiKey, key, rows, failures }: Write): Promise<Reply | null> {
    const headers = {
      Authorization: `Token token=${apiKey}`,
      'Idempotency-Key': this.forgetful ? `${key}-${failures}` : key,
    };
    const { type: _, ...student } = rows[0]!;
    const [path, body] = rows.length > 1 ? ['/v1/users/bulk-invite', { users: rows }] : ['/v1/students', student];
    return post(this.port, path, headers, JSON.stringify(body)).reply;
  }
}
