import { Controller, Get, Header, HttpCode, Module, Param, Post } from '@nestjs/common';
import { CHOICES, type Choice, FamiliesModule, type MailChoice, MailChoices } from '@app/families';
import { maskAddress } from '../join/mask-address.js';
import { Public } from '../web/access.decorators.js';
import { type Form, SentForm } from '../web/form.js';
import { PageError } from '../web/page-error.js';
import { type Page, page } from '../web/pages.js';
import { pathId } from '../web/path-id.js';

/** What the link at the end of a mail leads to. Opening it changes nothing: programs open links, too. */
@Controller('mails/:token')
@Public()
class MailChoiceController {
  constructor(private readonly choices: MailChoices) {}

  @Get()
  async show(@Param('token') token: string): Promise<Page> {
    return page('mails/choice', { ...(await this.find(token)), saved: false });
  }

  /** Also the one click of a mail program (RFC 8058), which sends no other field. */
  @Post()
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  async choose(@Param('token') token: string, @SentForm() form: Form): Promise<Page> {
    const choice = await this.find(token);
    const wanted = form.list('wanted');
    const off: Choice[] = form.text('List-Unsubscribe')
      ? [...CHOICES]
      : CHOICES.filter((kind) => !wanted.includes(kind));
    if (!(await this.choices.change(pathId(token), off))) throw PageError.notFound();
    return page('mails/choice', { ...choice, off, saved: true });
  }

  private async find(token: string): Promise<MailChoice> {
    const found = await this.choices.of(pathId(token));
    if (!found) throw PageError.notFound();
    return { ...found, address: maskAddress(found.address) };
  }
}

@Module({ imports: [FamiliesModule], controllers: [MailChoiceController] })
export class MailsModule {}
