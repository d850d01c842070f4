import { Controller, Get, Post } from '@nestjs/common';
import { Env } from '@app/config';
import { FIELDS } from '@app/fields';
import { Inbox } from '@app/messaging';
import { ForFamilies, type Managed, Managing } from '../web/access.decorators.js';
import { answered, type Errors, namesake } from '../web/answered.js';
import { type AttemptLimit, AttemptLimits } from '../web/attempt-limits.js';
import { FormOperations } from '../web/operations.js';
import { type Page, page, type SeeOther } from '../web/pages.js';
import { readField } from '../web/read-field.js';

/** Messages of a person: more is nobody who has a question. */
export const WRITTEN: AttemptLimit = { purpose: 'message of', most: 20, minutes: 60 };

/** Where a family writes to the organization: a message in its inbox. */
@Controller('my/:slug/write')
@ForFamilies()
export class WriteController {
  constructor(
    private readonly operations: FormOperations,
    private readonly inbox: Inbox,
    private readonly limits: AttemptLimits,
    private readonly env: Env,
  ) {}

  @Get()
  show(): Page {
    return page('own/write', { typed: '', errors: {} });
  }

  @Post()
  async write(@Managing() me: Managed): Promise<Page | SeeOther> {
    const { organizationId, name, slug, by, form } = me;
    await this.limits.take(WRITTEN, by.userId);
    const send = async () => {
      const message = readField(form, this.env, 'message', FIELDS.inbox_messages.message);
      const write = async () => ({ id: await this.inbox.write(organizationId, by.userId, message, null) });
      return this.operations.perform(me, 'write to organization', {}, write, { own: true });
    };
    const again = (errors: Errors) => Promise.resolve(page('own/write', { typed: form.text('message'), errors }, 422));
    return answered(send(), { back: `/my/${slug}`, done: `Your message was sent to ${name}.` }, again, namesake);
  }
}
