import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { AuditLog } from '@app/audit';
import { Database, type KeptName } from '@app/database';
import { Log } from '@app/logging';

/** Rows in one transaction, and transactions for one kind in a round; the next one takes the rest. */
const ROWS_AT_ONCE = 500;
const MOST_PORTIONS = 100;

interface Switched {
  organizationId: string;
  kind: KeptName;
}

/** Deletes what organizations have deleted once it is old. */
@Injectable()
export class RetentionService {
  constructor(
    private readonly db: Database,
    private readonly audit: AuditLog,
    private readonly log: Log,
  ) {}

  /** @returns how many rows went */
  async runOnce(): Promise<number> {
    const all = await this.db.lookUp<Switched>(sql`SELECT organization_id AS "organizationId", kind FROM retentions()`);
    let deleted = 0;
    for (const one of all) {
      try {
        deleted += await this.delete(one);
      } catch (error) {
        this.log.failure(error, null, 'retention_failed');
      }
    }
    if (deleted > 0) this.log.pino.info({ deleted }, 'old records deleted');
    return deleted;
  }

  private async delete({ organizationId, kind }: Switched): Promise<number> {
    let deleted = 0;
    for (let portion = 0; portion < MOST_PORTIONS; portion++) {
      const rows = await this.db.transaction({ organizationId }, async () => {
        const [row] = await this.db.query<{ n: number }>(
          sql`SELECT delete_retained(${organizationId}, ${kind}, ${ROWS_AT_ONCE}) AS n`,
        );
        const by = { userId: null, requestId: 'worker' };
        if (row!.n > 0) await this.audit.add(organizationId, by, 'delete old records', { kind, rows: row!.n });
        return row!.n;
      });
      deleted += rows;
      if (rows === 0) break;
    }
    return deleted;
  }
}
