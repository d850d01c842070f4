import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database } from '@app/database';
import type { Actor } from './actor.js';
import type { Operation } from './operations.js';

/** Ids and codes of the affected records. Never names, addresses or texts. */
export type AuditDetails = Record<string, string | number | boolean | null | string[]>;

/** How the operation ended, unless it simply succeeded. */
export interface AuditOutcome {
  status?: number;
  result?: string;
}

/** Writes the audit log: append-only, one row for each change. Only functions of the database that serve people, not organizations, add rows themselves. */
@Injectable()
export class AuditLog {
  constructor(private readonly db: Database) {}

  /** Adds a row inside the ambient transaction. @param operation method and route template, or else what was done */
  async add(
    organizationId: string,
    { userId, apiKeyId = null, requestId, network = null }: Actor,
    operation: Operation,
    details: AuditDetails,
    { status = 200, result = 'done' }: AuditOutcome = {},
  ): Promise<void> {
    await this.db.query(sql`
      INSERT INTO audit_log (id, organization_id, api_key_id, user_id, operation, request_id, status, result, details, network)
      VALUES (${uuidv7()}, ${organizationId}, ${apiKeyId}, ${userId}, ${operation}, ${requestId}, ${status}, ${result},
        ${JSON.stringify(details)}, ${network})`);
  }

  /** Counts a refused write of a key. The first of each operation and status in an hour has a row, too. */
  async refuse(
    organizationId: string,
    { apiKeyId, requestId, network = null }: Actor & { apiKeyId: string },
    operation: Operation,
    { status, result }: Required<AuditOutcome>,
  ): Promise<void> {
    const same = sql`organization_id = ${organizationId} AND api_key_id = ${apiKeyId} AND operation = ${operation}
      AND status = ${status}`;
    await this.db.query(sql`
      WITH counted AS (
        INSERT INTO refusals AS r (organization_id, api_key_id, operation, status, minute)
        VALUES (${organizationId}, ${apiKeyId}, ${operation}, ${status}, date_trunc('minute', now()))
        ON CONFLICT (organization_id, api_key_id, operation, status, minute) DO UPDATE SET count = r.count + 1
        RETURNING r.count)
      INSERT INTO audit_log (id, organization_id, api_key_id, operation, request_id, status, result, network)
      SELECT ${uuidv7()}, ${organizationId}, ${apiKeyId}, ${operation}, ${requestId}, ${status}, ${result}, ${network}
      FROM counted WHERE count = 1 AND NOT EXISTS (SELECT FROM refusals WHERE ${same}
        AND minute >= date_trunc('hour', now(), 'UTC') AND minute < date_trunc('minute', now()))`);
  }
}
