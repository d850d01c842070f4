import { Controller, Get, Module, Post } from '@nestjs/common';
import { type Contact, type ContactInput, OrganizationContacts } from '@app/people';
import { Refused } from '@app/rules';
import { ConfirmIdentity, ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';

/** The names of the form's fields. */
const FIELDS: Record<keyof Contact, string> = {
  appUrl: 'app_url',
  postalAddress: 'postal_address',
  phone: 'phone',
  privacyUrl: 'privacy_url',
};

/** What an organization tells people about itself. */
@Controller('o/:slug/settings')
@ForManagers()
@ConfirmIdentity()
class SettingsController {
  constructor(
    private readonly operations: FormOperations,
    private readonly contacts: OrganizationContacts,
  ) {}

  @Get()
  @InNavigation({ label: 'Settings', summary: 'Your app, address, phone and privacy page.', order: 70 })
  async show(@Managing() { organizationId }: Managed): Promise<Page> {
    return page('settings/settings', { values: await this.contacts.of(organizationId), errors: {} });
  }

  @Post()
  async change(@Managing() organization: Managed): Promise<Page | SeeOther> {
    const { organizationId, slug, by, form } = organization;
    const values = Object.fromEntries(
      Object.entries(FIELDS).map(([name, field]) => [name, form.text(field)]),
    ) as ContactInput;
    try {
      const change = () => this.contacts.change(organizationId, by, values);
      await this.operations.perform(organization, 'change settings', {}, change, { repeatable: true });
    } catch (error) {
      if (!(error instanceof Refused) || error.why.kind !== 'invalid') throw error;
      const errors = Object.fromEntries(error.why.refusals.map(({ at, reason }) => [at.join('.'), reason]));
      return page('settings/settings', { values, errors }, 422);
    }
    return seeOther(`/o/${slug}/settings`, 'success', 'The settings were saved.');
  }
}

@Module({ controllers: [SettingsController] })
export class SettingsModule {}
