import { Injectable } from '@nestjs/common';
import { Env } from '@app/config';
import { FIELDS } from '@app/fields';
import { Inbox } from '@app/messaging';
import type { Managed } from '../web/access.decorators.js';
import { type AttemptLimit, AttemptLimits } from '../web/attempt-limits.js';
import { FormOperations } from '../web/operations.js';
import { readField } from '../web/read-field.js';

/** More than anybody with a question writes. */
const WRITTEN: AttemptLimit = { purpose: 'message of', most: 20, minutes: 60 };

/** Puts what somebody writes on their own pages into the organization's inbox. */
@Injectable()
export class OwnMessages {
  constructor(
    private readonly operations: FormOperations,
    private readonly inbox: Inbox,
    private readonly limits: AttemptLimits,
    private readonly env: Env,
  ) {}

  /**
   * @param lessonId the lesson that it is about
   * @returns null if the form had been sent before
   * @throws Refused for the message, and for a lesson that they may not see; PageError for too many messages
   */
  async send(me: Managed, lessonId: string | null): Promise<{ id: string } | null> {
    const { organizationId, by, form } = me;
    await this.limits.take(WRITTEN, by.userId);
    const message = readField(form, this.env, 'message', FIELDS.inbox_messages.message);
    const write = async () => ({ id: await this.inbox.write(organizationId, by.userId, message, lessonId) });
    const ids = lessonId ? { session_id: lessonId } : {};
    return this.operations.perform(me, 'write to organization', ids, write, { own: true });
  }
}
