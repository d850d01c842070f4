import { Injectable } from '@nestjs/common';
import { Database, INBOX, transition } from '@app/database';

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
  change(organizationId: string, id: string, action: (typeof INBOX.actions)[number]): Promise<boolean> {
    return transition(this.db, 'inbox_messages', INBOX, { organizationId, id, action });
  }
}
