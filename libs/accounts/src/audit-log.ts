import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database } from '@app/database';

/** Audit rows of what people do themselves; those of the API's writes are written by its pipeline. */
@Injectable()
export class AuditLog {
  constructor(private readonly db: Database) {}

  /**
   * Adds a row inside the ambient transaction.
   *
   * @param details ids and codes; never names, addresses or texts
   */
  async add(
    organizationId: string,
    operation: string,
    requestId: string,
    details: Record<string, string | boolean | null>,
  ): Promise<void> {
    await this.db.query(sql`
      INSERT INTO audit_log (id, organization_id, operation, request_id, status, result, details)
      VALUES (${uuidv7()}, ${organizationId}, ${operation}, ${requestId}, 200, 'done', ${JSON.stringify(details)})`);
  }
}
