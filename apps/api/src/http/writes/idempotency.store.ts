import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Env, Vault } from '@app/config';
import { Database } from '@app/database';

/** What the rest of a write may wait for a lock: what the connection allows anyway. */
const LOCK_TIMEOUT = '10s';

/** What a first request was answered with. */
export interface StoredAnswer {
  status: number;
  headers: Record<string, string>;
  /** Byte for byte; empty for none. */
  body: string;
}

/** One use of an idempotency key: its scope is the organization, the method and the path. */
export interface KeyUse {
  organizationId: string;
  /** Method and actual path. */
  operation: string;
  key: string;
  /** SHA-256 of what was asked. */
  requestHash: Buffer;
}

/** What became of a claim: it is ours, it was answered before, or it was used for something else. */
export type Claim = { outcome: 'ours' } | { outcome: 'answered'; answer: StoredAnswer } | { outcome: 'mismatch' };

/** Idempotency keys in the database, claimed and answered in the transaction of the effect. */
@Injectable()
export class IdempotencyStore {
  constructor(
    private readonly db: Database,
    private readonly vault: Vault,
    private readonly env: Env,
  ) {}

  /**
   * Claims the key inside the ambient transaction. While another transaction holds it this waits, and then finds that one's
   * answer, or the key free again when that one failed.
   *
   * @param patience how long to wait (ms); beyond, PostgreSQL refuses with 55P03
   */
  async claim(use: KeyUse, patience: number): Promise<Claim> {
    const { organizationId, operation, key, requestHash } = use;
    const hours = this.env.get('IDEMPOTENCY_TTL_HOURS');
    await this.db.query(sql`SELECT set_config('lock_timeout', ${`${patience}ms`}, true)`);
    // One that is past its time counts as gone, whether it was purged already or not.
    const claimed = await this.db.query(sql`
      INSERT INTO idempotency_keys (organization_id, operation, key, request_hash, expires_at)
      VALUES (${organizationId}, ${operation}, ${key}, ${requestHash}, now() + ${hours} * interval '1 hour')
      ON CONFLICT (organization_id, operation, key) DO UPDATE SET request_hash = excluded.request_hash, status = NULL,
        answer = NULL, created_at = now(), expires_at = excluded.expires_at
        WHERE idempotency_keys.expires_at <= now()
      RETURNING set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`);
    if (claimed.length > 0) return { outcome: 'ours' };
    const [row] = await this.db.query<{ same: boolean; answer: Buffer }>(sql`
      SELECT request_hash = ${requestHash} AS same, answer FROM idempotency_keys
      WHERE organization_id = ${organizationId} AND operation = ${operation} AND key = ${key}`);
    if (!row?.same) return { outcome: 'mismatch' };
    return {
      outcome: 'answered',
      answer: JSON.parse(this.vault.open('idempotent answers', row.answer)) as StoredAnswer,
    };
  }

  /** Keeps the answer to a claim of ours, for as long as the transaction's commit. */
  async answer({ organizationId, operation, key }: KeyUse, answer: StoredAnswer): Promise<void> {
    await this.db.query(sql`
      UPDATE idempotency_keys SET status = ${answer.status},
        answer = ${this.vault.seal('idempotent answers', JSON.stringify(answer))}
      WHERE organization_id = ${organizationId} AND operation = ${operation} AND key = ${key}`);
  }
}
