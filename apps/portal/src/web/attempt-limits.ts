import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Vault } from '@app/config';
import { Database } from '@app/database';
import { PageError } from './page-error.js';

/** How many attempts are allowed. */
export interface AttemptLimit {
  /** The action that is counted: `sign-in from`, `join code from`. */
  purpose: string;
  most: number;
  minutes: number;
}

/** Sliding windows in PostgreSQL, which all processes share and which survive restarts. Subjects are hashed. */
@Injectable()
export class AttemptLimits {
  constructor(
    private readonly db: Database,
    private readonly vault: Vault,
  ) {}

  /**
   * Counts an attempt.
   *
   * @param whose the subject that it is counted for: a network or an address
   * @throws PageError 429 after too many attempts
   */
  async take(limit: AttemptLimit, whose: string): Promise<void> {
    const wait = await this.count(limit, whose);
    if (wait > 0) throw PageError.tooMany(wait);
  }

  /** The same, but returns the seconds to wait; 0 if the attempt is allowed. */
  async count(limit: AttemptLimit, whose: string): Promise<number> {
    const span = `${limit.minutes} minutes`;
    const [row] = await this.db.lookUp<{ wait: number }>(
      sql`SELECT take_attempt(${this.subject(limit, whose)}, ${span}::interval, ${limit.most}) AS wait`,
    );
    return row!.wait;
  }

  /** Forgets the attempts of somebody who succeeded. */
  async forgive(limit: AttemptLimit, whose: string): Promise<void> {
    await this.db.lookUp(sql`SELECT forgive_attempts(${this.subject(limit, whose)})`);
  }

  /** Takes back a single attempt. Earlier ones stay, unlike with {@link forgive}. */
  async giveBack(limit: AttemptLimit, whose: string): Promise<void> {
    await this.db.lookUp(sql`SELECT give_back_attempt(${this.subject(limit, whose)})`);
  }

  private subject({ purpose }: AttemptLimit, whose: string): Buffer {
    return createHmac('sha256', this.vault.derive('attempt limits')).update(`${purpose} ${whose}`).digest();
  }
}
