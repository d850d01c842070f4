import { setTimeout as sleep } from 'node:timers/promises';
import pg, { type Pool, type QueryResultRow } from 'pg';
import { runTogether } from '../batch.js';
import { type ConnectionOptions, dataSourceOptions } from '../data-source.js';
import { Deadline } from '../deadline.js';
import { Lease } from '../lease.js';
import { sqlStateOf } from '../sql-state.js';
import { isUnavailable } from '../unavailable.js';
import { MOST_BEHIND, type Positions } from './positions.js';

/** How often the positions of all servers are compared (ms). */
const EVERY = 500;
/** How long a replica that failed is left alone (ms). */
const REST = 1_000;

const IN_BYTES = (position: string) => `(${position} - '0/0')::bigint`;

/** The position after a commit. It is at or behind the end of the commit's record, however that is written. */
export const WRITTEN = `SELECT ${IN_BYTES('pg_current_wal_insert_lsn()')}::text AS position`;

/** Fails with {@link NOT_THERE} unless the replica has replayed the log up to the parameter. */
export const REPLAYED = (parameter: string) =>
  `1 / coalesce(pg_is_in_recovery() AND ${IN_BYTES('pg_last_wal_replay_lsn()')} >= ${parameter}::bigint, false)::integer`;

const NOT_THERE = '22012';

interface Replica {
  pool: Pool;
  /** How far it had replayed when it last answered. */
  replayed: bigint;
  /** Until when it is left alone. */
  restsUntil: number;
  /** Ends the wait of each read. */
  waiting: Set<(error: Error) => void>;
}

/** What became of reads: by a replica, or by the primary, because no replica was near enough or one failed. */
export interface ReadsSoFar {
  replica: number;
  behind: number;
  failed: number;
}

/** Copies of the database that follow it by streaming replication. What they cannot answer is the primary's. */
export class Replicas {
  readonly reads: ReadsSoFar = { replica: 0, behind: 0, failed: 0 };
  private readonly replicas: Replica[];
  /** Of the primary, the newest last. */
  private positions: { at: number; position: bigint }[] = [];
  private turn = 0;
  private closed = false;

  constructor(
    urls: string[],
    options: Omit<ConnectionOptions, 'url'>,
    private readonly written: Positions,
    private readonly primary: Pool,
  ) {
    const { extra, connectTimeoutMS } = dataSourceOptions({ url: '', ...options });
    this.replicas = urls.map((connectionString) => {
      const pool = new pg.Pool({
        ...extra,
        connectionString,
        max: options.poolSize,
        application_name: options.applicationName,
        connectionTimeoutMillis: connectTimeoutMS,
      });
      // An idle connection that breaks is dropped; without a listener its error would end the process.
      pool.on('error', () => undefined);
      return { pool, replayed: -1n, restsUntil: 0, waiting: new Set() };
    });
    void this.watch();
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.all(this.replicas.map(({ pool }) => pool.end()));
  }

  /**
   * Reads from a replica that shows everything that the organization has written.
   * @param read the whole transaction, up to a deadline that leaves the primary as much time
   * @returns null if the primary has to
   */
  async read(
    organizationId: string,
    deadline: Deadline,
    read: (pool: Pool, lease: Lease, position: string) => Promise<QueryResultRow[][]>,
  ): Promise<QueryResultRow[][] | null> {
    const replica = deadline.left > 0 ? this.next() : null;
    const position = replica && (await this.written.of(organizationId));
    if (!replica || position === null) {
      this.reads.behind++;
      return null;
    }
    try {
      const rows = await unlessLost(replica, () =>
        read(replica.pool, new Lease(new Deadline(deadline.left / 2)), position),
      );
      this.reads.replica++;
      return rows;
    } catch (error) {
      const behind = sqlStateOf(error) === NOT_THERE;
      this.reads[behind ? 'behind' : 'failed']++;
      if (!behind && isUnavailable(error)) replica.restsUntil = performance.now() + REST;
      return null;
    }
  }

  /** The next one that shows what the primary showed two seconds ago. */
  private next(): Replica | null {
    const now = performance.now();
    const oldest = this.positions.find(({ at }) => at >= now - MOST_BEHIND);
    const usable = this.replicas.filter(
      ({ replayed, restsUntil }) => oldest && replayed >= oldest.position && restsUntil <= now,
    );
    return usable[this.turn++ % usable.length] ?? null;
  }

  private async watch(): Promise<void> {
    while (!this.closed) {
      await this.compare().catch(() => undefined);
      await sleep(EVERY, undefined, { ref: false });
    }
  }

  private async compare(): Promise<void> {
    const asked = this.replicas.map(async (replica) => {
      const position = `coalesce(CASE WHEN pg_is_in_recovery() THEN ${IN_BYTES('pg_last_wal_replay_lsn()')} END, -1)`;
      replica.replayed = await positionOf(replica.pool, position).catch((error: Error) => {
        for (const giveUp of replica.waiting) giveUp(error);
        return -1n;
      });
    });
    const at = performance.now();
    const position = await positionOf(this.primary, IN_BYTES('pg_current_wal_lsn()'));
    this.positions = [...this.positions.filter((one) => one.at >= at - MOST_BEHIND), { at, position }];
    await Promise.all(asked);
  }
}

/** Waits for a read no longer than until the replica counts as lost. */
function unlessLost<T>({ waiting }: Replica, read: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    waiting.add(reject);
    read()
      .finally(() => waiting.delete(reject))
      .then(resolve, reject);
  });
}

async function positionOf(pool: Pool, position: string): Promise<bigint> {
  const statement = { name: 'position', text: `SELECT ${position}::text AS position`, values: [] };
  const [rows] = await runTogether(pool, [statement], new Lease(new Deadline(REST)));
  return BigInt((rows as [{ position: string }])[0].position);
}
