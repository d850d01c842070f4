import { hostname } from 'node:os';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Rows of workers that are gone say nothing any more. */
const FORGET_AFTER = '1 day';

/** What has to be done regularly, whatever else happens. */
@Injectable()
export class HousekeepingService {
  private readonly workerId = `${hostname()}:${process.pid}`;

  constructor(private readonly dataSource: DataSource) {}

  /** One round: tells that this worker lives, and forgets those that do not. */
  async runOnce(): Promise<void> {
    await this.dataSource.query(
      `WITH gone AS (DELETE FROM worker_heartbeats WHERE seen_at < now() - $2::interval AND worker_id <> $1)
       INSERT INTO worker_heartbeats (worker_id, seen_at) VALUES ($1, now())
       ON CONFLICT (worker_id) DO UPDATE SET seen_at = excluded.seen_at`,
      [this.workerId, FORGET_AFTER],
    );
  }
}
