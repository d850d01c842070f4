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
}
