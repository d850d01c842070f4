import { Process, Processor } from '@nestjs/bull';
import sql from 'sql-template-tag';
import { NIL } from 'uuid';
import { Invites } from '@app/people';
import { Env } from '@app/config';
import { Database, RETENTION_SETTINGS, type RetentionSetting } from '@app/database';
import { Log } from '@app/logging';
import { PrivateStorage } from '@app/storage';
import { WebhookHealthService } from '../webhooks/webhook-health.service.js';
import { ErasureService } from './erasure.service.js';
import { KeyExpiryService } from './key-expiry.service.js';
import { RetentionService } from './retention.service.js';

/** The minimum interval between purges (ms). Expired data is refused at once, purged or not. */
const PURGE_EVERY_MS = 10 * 60_000;

/** Documents in one transaction. */
const UPLOADS_AT_ONCE = 50;

/** Organizations per round. */
const CODES_AT_ONCE = 200;

/** Recurring maintenance. */
@Processor('housekeeping')
export class HousekeepingService {
  private purgedAt = -PURGE_EVERY_MS;
  private readonly days: Record<RetentionSetting, number>;

  constructor(
    private readonly db: Database,
    private readonly invites: Invites,
    private readonly keyExpiry: KeyExpiryService,
    private readonly erasures: ErasureService,
    private readonly retention: RetentionService,
    private readonly webhookHealth: WebhookHealthService,
    private readonly storage: PrivateStorage,
    private readonly log: Log,
    private readonly env: Env,
  ) {
    const days = RETENTION_SETTINGS.map((name) => [name, env.get(name)]);
    this.days = Object.fromEntries(days) as Record<RetentionSetting, number>;
  }

  @Process('round')
  async runOnce(): Promise<void> {
    await this.makeCodes();
    await this.keyExpiry.runOnce();
    await this.webhookHealth.runOnce();
    await this.erasures.runOnce();
    await this.db.lookUp(sql`SELECT purge_api_key_handovers()`);
    if (performance.now() - this.purgedAt < PURGE_EVERY_MS) return;
    await this.mendTurns();
    await this.purge();
    await this.retention.runOnce();
    await this.expireRequests();
    await this.purgeEvents();
    await this.trimRequestLog();
    await this.deleteUploads();
    await this.db.lookUp(sql`SELECT forget_previous_secrets()`);
    await this.sampleBytes();
    this.purgedAt = performance.now();
  }

  /** Gives owners of messages that wait the turns that they lack, which only a restore or a repair by hand can have lost. @returns how many */
  async mendTurns(): Promise<number> {
    const [row] = await this.db.lookUp<{ n: string }>(sql`SELECT mend_turns() AS n`);
    const mended = Number(row!.n);
    if (mended > 0) this.log.pino.warn({ mended }, 'turns of the outbox mended');
    return mended;
  }

  /** Deletes expired data, a bounded number of rows at a time. @returns rows of each kind */
  async purge(): Promise<Record<string, number>> {
    const purged: Record<string, number> = {};
    for (;;) {
      const rows = await this.db.lookUp<{ what: string; rows: string }>(
        sql`SELECT what, rows FROM purge_expired(${JSON.stringify(this.days)}::jsonb)`,
      );
      for (const { what, rows: count } of rows) purged[what] = (purged[what] ?? 0) + Number(count);
      if (rows.every(({ rows: count }) => Number(count) === 0)) break;
    }
    if (Object.values(purged).some((count) => count > 0)) this.log.pino.info({ purged }, 'purged');
    return purged;
  }

  /** Lets booking requests that nobody has answered expire. @returns how many */
  async expireRequests(): Promise<number> {
    for (let expired = 0; ;) {
      const [round] = await this.db.lookUp<{ n: string }>(
        sql`SELECT expire_booking_requests(${this.env.get('BOOKING_REQUEST_DAYS')}) AS n`,
      );
      expired += Number(round!.n);
      if (Number(round!.n) === 0) return expired;
    }
  }

  /** Deletes documents that no file has named for a day: first the bytes, then what is known of them. @returns how many */
  async deleteUploads(): Promise<number> {
    for (let deleted = 0; ;) {
      const found = await this.db.transaction({ organizationId: NIL }, async () => {
        const rows = await this.db.query<{ path: string }>(
          sql`SELECT path FROM delete_unnamed_uploads(${UPLOADS_AT_ONCE}) path`,
        );
        // One at a time, and again in the next round if it fails.
        for (const { path } of rows) await this.storage.remove(path);
        return rows.length;
      });
      deleted += found;
      if (found === UPLOADS_AT_ONCE) continue;
      if (deleted > 0) this.log.pino.info({ deleted }, 'documents deleted');
      return deleted;
    }
  }

  /** Deletes events that the feed does not keep any longer. @returns how many */
  async purgeEvents(): Promise<number> {
    for (let purged = 0; ;) {
      const [round] = await this.db.lookUp<{ n: string }>(sql`SELECT purge_events(${this.days.EVENT_DAYS}) AS n`);
      purged += Number(round!.n);
      if (Number(round!.n) === 0) return purged;
    }
  }

  /** Trims request logs to their maximum age and size, a bounded number at a time. @returns the rows deleted */
  async trimRequestLog(): Promise<number> {
    let trimmed = 0;
    for (let from: string | null = NIL; from !== null;) {
      const batch: { next: string | null; rows: string }[] = await this.db.lookUp(
        sql`SELECT next, rows FROM trim_request_log(${from}, ${this.days.REQUEST_LOG_DAYS})`,
      );
      trimmed += Number(batch[0]!.rows);
      from = batch[0]!.next;
    }
    if (trimmed > 0) this.log.pino.info({ trimmed }, 'request log trimmed');
    return trimmed;
  }

  /** Once an hour, whichever worker comes first, estimates which organizations fill the database, for /metrics. */
  async sampleBytes(): Promise<void> {
    await this.db.lookUp(sql`
      UPDATE worker_heartbeats SET bytes = sample_organization_bytes(), sampled_at = now()
      WHERE worker_id = (SELECT worker_id FROM worker_heartbeats ORDER BY seen_at DESC LIMIT 1)
        AND NOT EXISTS (SELECT FROM worker_heartbeats WHERE sampled_at > now() - interval '1 hour')`);
  }

  /** Creates the standing join codes of organizations that were created without access to the encryption key. */
  private async makeCodes(): Promise<void> {
    const waiting = await this.db.lookUp<{ id: string }>(
      sql`SELECT organizations_without_codes AS id FROM organizations_without_codes(${CODES_AT_ONCE})`,
    );
    for (const { id } of waiting) await this.invites.ensurePermanentCodes(id);
  }
}
