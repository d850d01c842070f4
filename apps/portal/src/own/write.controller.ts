import { Controller, Get, Post } from '@nestjs/common';
import { ForFamilies, type Managed, Managing } from '../web/access.decorators.js';
import { answered, type Errors, namesake } from '../web/answered.js';
import { type Page, page, type SeeOther } from '../web/pages.js';
import { OwnMessages } from './own-messages.js';

/** Where a family writes to the organization. */
@Controller('my/:slug/write')
@ForFamilies()
export class WriteController {
  constructor(private readonly messages: OwnMessages) {}

  @Get()
  show(): Page {
    return page('own/write', { typed: '', errors: {} });
  }

  @Post()
  write(@Managing() me: Managed): Promise<Page | SeeOther> {
    const { name, slug, form } = me;
    const again = (errors: Errors) => Promise.resolve(page('own/write', { typed: form.text('message'), errors }, 422));
    const to = { back: `/my/${slug}`, done: `Your message was sent to ${name}.` };
    return answered(this.messages.send(me, null), to, again, namesake);
  }
}
