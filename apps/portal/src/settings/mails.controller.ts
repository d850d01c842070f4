import { Controller, Get, Post } from '@nestjs/common';
import { FamilySwitches } from '@app/families';
import { ConfirmIdentity, ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
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
  @InNavigation('Settings', 'Emails', 6)
  async show(@Managing() { organizationId }: Managed): Promise<Page> {
    return page('settings/mails', { switches: await this.switches.list(organizationId) });
  }

  @Post('on')
  turnOn(@Managing() organization: Managed): Promise<SeeOther> {
    return this.turn(organization, 'switch on mails', true, 'Saved. These emails are sent from now on.');
  }

  @Post('off')
  turnOff(@Managing() organization: Managed): Promise<SeeOther> {
    return this.turn(organization, 'switch off mails', false, 'Saved. These emails are no longer sent.');
  }

  private turn(organization: Managed, operation: 'switch on mails' | 'switch off mails', on: boolean, told: string) {
    const { organizationId, slug, form } = organization;
    const change = () => this.switches.turn(organizationId, form.text('kind'), on);
    return this.operations.answer(organization, operation, {}, change, `/o/${slug}/settings/mails`, told);
  }
}
