import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, INBOX, type Tables } from '@app/database';
import { Refused } from '@app/rules';

/** What was written to the organization itself. */
@Injectable()
export class Inbox {
  constructor(private readonly db: Database) {}

  /**
   * Marks a message as read, or archives it, inside the ambient transaction.
   *
   * @returns whether that changed it
   * @throws Refused for an unknown message, and to read an archived one
   */
  async change(organizationId: string, id: string, action: (typeof INBOX.actions)[number]): Promise<boolean> {
    const [message] = await this.db.query<Pick<Tables['inbox_messages'], 'status'>>(sql`
      SELECT status FROM inbox_messages WHERE organization_id = ${organizationId} AND id = ${id} FOR UPDATE`);
    if (!message) throw Refused.notFound();
    const next = INBOX.next(action, message.status);
    if (next === null) return false;
    await this.db.query(sql`
      UPDATE inbox_messages SET status = ${next} WHERE organization_id = ${organizationId} AND id = ${id}`);
    return true;
  }
}
