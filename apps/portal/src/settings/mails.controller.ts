import { Controller, Get, Post } from '@nestjs/common';
import { FamilySwitches } from '@app/families';
import { ConfirmIdentity, ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import { type Page, page, type SeeOther } from '../web/pages.js';

/** Which mails tutors and families get by themselves. */
@Controller('o/:slug/settings/mails')
@ForManagers()
@ConfirmIdentity()
export class MailsController {
  constructor(
    private readonly switches: FamilySwitches,
    private readonly operations: FormOperations,
  ) {}

  @Get()
  async show(@Managing() { organizationId }: Managed): Promise<Page> {
    return page('settings/mails', { switches: await this.switches.list(organizationId) });
  }

  @Post('on')
  turnOn(@Managing() organization: Managed): Promise<SeeOther> {
    const { organizationId, slug, form } = organization;
    const change = () => this.switches.turn(organizationId, form.text('kind'), true);
    return this.operations.answer(
      organization,
      'switch on mails',
      {},
      change,
      pageOf(slug),
      'Saved. These emails are sent from now on.',
    );
  }

  @Post('off')
  turnOff(@Managing() organization: Managed): Promise<SeeOther> {
    const { organizationId, slug, form } = organization;
    const change = () => this.switches.turn(organizationId, form.text('kind'), false);
    return this.operations.answer(
      organization,
      'switch off mails',
      {},
      change,
      pageOf(slug),
      'Saved. These emails are no longer sent.',
    );
  }
}

const pageOf = (slug: string) => `/o/${slug}/settings/mails`;
