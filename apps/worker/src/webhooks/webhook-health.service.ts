import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { AuditLog } from '@app/audit';
import { Database } from '@app/database';
import type { WebhookInMail } from '@app/jobs';
import { Log } from '@app/logging';
import { ManagerNotices } from '@app/people';

/** Endpoints per query; the next round takes the rest. */
const MOST_ENDPOINTS = 200;

interface Troubled {
  id: string;
  organizationId: string;
}

interface Marked {
  url: string;
  /** Why it is disabled; null for a warning. */
  reason: WebhookInMail['reason'];
  /** Whether it was disabled just now. */
  disabled: boolean;
}

/** Warns owners of webhook endpoints that have failed for a day, and disables those that have for five days or whose key has expired. */
@Injectable()
export class WebhookHealthService {
  constructor(
    private readonly db: Database,
    private readonly notices: ManagerNotices,
    private readonly audit: AuditLog,
    private readonly log: Log,
  ) {}

  /** Each endpoint has its own transaction, so that a failing one doesn't affect the others. */
  async runOnce(): Promise<void> {
    const troubled = await this.db.lookUp<Troubled>(sql`
      SELECT id, organization_id AS "organizationId" FROM troubled_webhooks(${MOST_ENDPOINTS})`);
    for (const endpoint of troubled) {
      try {
        await this.tell(endpoint);
      } catch (error) {
        this.log.failure(error, null, 'webhook_trouble_not_told');
      }
    }
  }

  /** The mark and the mails commit together. Of several workers, only the first one marks an endpoint. */
  private tell({ id, organizationId }: Troubled): Promise<void> {
    return this.db.transaction({ organizationId }, async () => {
      const [marked] = await this.db.query<Marked>(sql`SELECT url, reason, disabled FROM mark_webhook(${id})`);
      if (!marked) return;
      const { url, reason, disabled } = marked;
      const kind = reason === null ? 'webhook_failing' : 'webhook_disabled';
      const webhook = { host: new URL(url).host, reason };
      await this.notices.tell(organizationId, { kind, page: '/webhooks', owners: true, about: () => ({ webhook }) });
      if (!disabled) return;
      const by = { userId: null, requestId: `worker-${id}` };
      await this.audit.add(organizationId, by, 'disable webhook endpoint', { endpoint_id: id, reason });
    });
  }
}
