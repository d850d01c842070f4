import type { Client } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { type Operation, OPERATOR } from '@app/audit';

/** The audit row of what a command did in its own long transaction, where no rule writes one. */
export async function auditCommand(
  client: Client,
  organizationId: string,
  operation: Operation,
  details: object,
): Promise<void> {
  await client.query(
    `INSERT INTO audit_log (id, organization_id, operation, request_id, status, result, details) VALUES ($1, $2, $3, $4, 200, 'done', $5)`,
    [uuidv7(), organizationId, operation, OPERATOR.requestId, details],
  );
}
