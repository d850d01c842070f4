import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Vault } from '@app/config';
import { Database } from '@app/database';
import { PageError } from './page-error.js';

/** How many attempts are allowed. No limit is shared by all people or all networks: a stranger could use it up. */
export interface AttemptLimit {
  /** The action that is counted: `password from`, `wrong code from`. */
  purpose: string;
  most: number;
  minutes: number;
}

/** A limit, and the subject that attempts are counted for: a network, an address or a browser. */
export type Counted = [limit: AttemptLimit, whose: string];

/** Sliding windows in PostgreSQL, which all processes share and which survive restarts. Subjects are hashed. */
@Injectable()
export class AttemptLimits {
  constructor(
    private readonly db: Database,
    private readonly vault: Vault,
  ) {}

  /** Counts an attempt. @throws PageError 429 after too many attempts */
  async take(...counted: Counted): Promise<void> {
    const wait = await this.count(...counted);
    if (wait > 0) throw PageError.tooMany(wait);
  }

  /** The same, but returns the seconds to wait; 0 if the attempt is allowed. */
  async count(...counted: Counted): Promise<number> {
    const [{ minutes, most }] = counted;
    const span = `${minutes} minutes`;
    const [row] = await this.db.lookUp<{ wait: number }>(
      sql`SELECT take_attempt(${this.subject(counted)}, ${span}::interval, ${most}) AS wait`,
    );
    return row!.wait;
  }

  /** Counts work by its result, as `counts` says; what throws does not count. Taken back after, so that many at once stay within. */
  async attempt<T>(
    limits: Counted[],
    work: () => Promise<T>,
    counts: (result: T) => boolean,
    refusal: (wait: number) => Error = (wait) => PageError.tooMany(wait),
  ): Promise<T> {
    const taken: Counted[] = [];
    let keep = false;
    try {
      for (const counted of limits) {
        const wait = await this.count(...counted);
        if (wait > 0) throw refusal(wait);
        taken.push(counted);
      }
      const result = await work();
      keep = counts(result);
      return result;
    } finally {
      if (!keep) await Promise.all(taken.map((counted) => this.giveBack(counted)));
    }
  }

  /** Takes back a single attempt. Earlier ones stay: one right answer must not allow more guesses at others. */
  private async giveBack(counted: Counted): Promise<void> {
    await this.db.lookUp(sql`SELECT give_back_attempt(${this.subject(counted)})`);
  }

  private subject([{ purpose }, whose]: Counted): Buffer {
    return createHmac('sha256', this.vault.derive('attempt limits')).update(`${purpose} ${whose}`).digest();
  }
}
