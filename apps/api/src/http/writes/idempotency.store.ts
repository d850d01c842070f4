import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Env, Vault } from '@app/config';
import { Database, type Deadline, lockNumber } from '@app/database';
import { ApiError } from '../errors/api-error.js';
import type { Sight } from './masks.js';

/** The stored response of the first request. */
export interface StoredAnswer {
  status: number;
  headers: Record<string, string>;
  /** The exact bytes; empty without a body. */
  body: string;
  /** The key that got it first. */
  maker: string;
  /** What keys that see less get instead, where that differs. */
  others: Partial<Record<Sight, string>>;
}

/** One use of an idempotency key: its scope is the organization, the method and the path. */
export interface KeyUse {
  organizationId: string;
  /** Method and actual path. */
  operation: string;
  key: string;
  /** SHA-256 of the request's content. */
  requestHash: Buffer;
  /** The request's deadline. */
  deadline?: Deadline;
}

/** Idempotency keys, claimed and answered in the transaction of the effect. */
@Injectable()
export class IdempotencyStore {
  constructor(
    private readonly db: Database,
    private readonly vault: Vault,
    private readonly env: Env,
  ) {}

  /** The earlier use of a key: its response, or `mismatch` if it was for another request. Expired uses count as gone, purged or not. */
  async find(use: KeyUse): Promise<StoredAnswer | 'mismatch' | null> {
    const { organizationId, operation, key, requestHash, deadline } = use;
    const [[row]] = await this.db.read<[{ same: boolean; answer: Buffer }]>(
      { organizationId, deadline },
      sql`SELECT request_hash = ${requestHash} AS same, answer FROM idempotency_keys
        WHERE organization_id = ${organizationId} AND operation = ${operation} AND key = ${key} AND expires_at > now()`,
    );
    if (!row) return null;
    return row.same ? this.open(row.answer) : 'mismatch';
  }

  /** Claims the key inside the ambient transaction; false if it is held or used. Never waits: a few retries would exhaust the pool. */
  async claim(use: KeyUse): Promise<boolean> {
    const { organizationId, operation, key, requestHash } = use;
    const hours = this.env.get('IDEMPOTENCY_TTL_HOURS');
    const claimed = await this.db.query(sql`
      WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${lockNumber(nameOf(use))}) AS mine)
      INSERT INTO idempotency_keys (organization_id, operation, key, request_hash, expires_at)
      SELECT ${organizationId}, ${operation}, ${key}, ${requestHash}, now() + ${hours} * interval '1 hour'
      FROM turn WHERE mine
      ON CONFLICT (organization_id, operation, key) DO UPDATE SET request_hash = excluded.request_hash, status = NULL,
        answer = NULL, created_at = now(), expires_at = excluded.expires_at
        WHERE idempotency_keys.expires_at <= now()
      RETURNING 1`);
    return claimed.length > 0;
  }

  /** Stores the response of a claimed key, in the same transaction. */
  async answer({ organizationId, operation, key }: KeyUse, answer: StoredAnswer): Promise<void> {
    await this.db.query(sql`
      UPDATE idempotency_keys SET status = ${answer.status},
        answer = ${this.vault.seal('idempotent answers', JSON.stringify(answer))}
      WHERE organization_id = ${organizationId} AND operation = ${operation} AND key = ${key}`);
  }

  private open(sealed: Buffer): StoredAnswer {
    try {
      return JSON.parse(this.vault.open('idempotent answers', sealed)) as StoredAnswer;
    } catch {
      // ENCRYPTION_KEY has changed. The request must not run again.
      const message = 'The first request with this Idempotency-Key succeeded, but its response can no longer be read.';
      throw new ApiError('invalid_state', message);
    }
  }
}

/** Identifies a use: two requests with the same name exclude each other. */
export function nameOf({ organizationId, operation, key }: KeyUse): string {
  return JSON.stringify([organizationId, operation, key]);
}
