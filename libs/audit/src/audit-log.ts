import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database } from '@app/database';
import type { Actor } from './actor.js';

/** Ids and codes of the affected records. Never names, addresses or texts. */
export type AuditDetails = Record<string, string | number | boolean | null | string[]>;

/** How the operation ended, unless it simply succeeded. */
export interface AuditOutcome {
  status?: number;
  result?: string;
}

/** Writes the audit log: append-only, one row for each change. Only change_name adds rows itself, for several organizations. */
@Injectable()
export class AuditLog {
  constructor(private readonly db: Database) {}

  /** Adds a row inside the ambient transaction. @param operation method and route template, or else what was done */
  async add(
    organizationId: string,
    { userId, apiKeyId = null, requestId }: Actor,
    operation: string,
    details: AuditDetails,
    { status = 200, result = 'done' }: AuditOutcome = {},
  ): Promise<void> {
    await this.db.query(sql`
      INSERT INTO audit_log (id, organization_id, api_key_id, user_id, operation, request_id, status, result, details)
      VALUES (${uuidv7()}, ${organizationId}, ${apiKeyId}, ${userId}, ${operation}, ${requestId}, ${status}, ${result},
        ${JSON.stringify(details)})`);
  }
}
