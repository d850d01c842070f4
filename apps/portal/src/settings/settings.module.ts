import { Controller, Get, Module, Post } from '@nestjs/common';
import { Retention } from '@app/erasure';
import { FamiliesModule } from '@app/families';
import { ImageEncoder } from '@app/images';
import { CONTACT, PortalSettings, SELLER, sellerFaults, type Settings } from '@app/people';
import { ConfirmIdentity, ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { errorsOf } from '../web/answered.js';
import { FormOperations } from '../web/operations.js';
import { LogoController, Pictures } from './logo.controller.js';
import { MailsController } from './mails.controller.js';
import { RetentionController } from './retention.controller.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';

/** A page of settings, whose fields have the names of the columns. */
interface Form {
  template: string;
  path: string;
  settings: Settings;
  faults?: typeof sellerFaults;
}

const ABOUT: Form = { template: 'settings/settings', path: '/settings', settings: CONTACT };
const INVOICES: Form = {
  template: 'settings/invoices',
  path: '/settings/invoices',
  settings: SELLER,
  faults: sellerFaults,
};

/** What an organization says of itself: to people, and on invoices. */
@Controller('o/:slug/settings')
@ForManagers()
@ConfirmIdentity()
class SettingsController {
  constructor(
    private readonly operations: FormOperations,
    private readonly settings: PortalSettings,
  ) {}

  @Get()
  @InNavigation('Settings', 'Organization')
  show(@Managing() organization: Managed): Promise<Page> {
    return this.shown(organization, ABOUT);
  }

  @Post()
  change(@Managing() organization: Managed): Promise<Page | SeeOther> {
    return this.changed(organization, ABOUT);
  }

  @Get('invoices')
  @InNavigation('Settings', 'Invoices and tax', 5)
  showInvoices(@Managing() organization: Managed): Promise<Page> {
    return this.shown(organization, INVOICES);
  }

  @Post('invoices')
  changeInvoices(@Managing() organization: Managed): Promise<Page | SeeOther> {
    return this.changed(organization, INVOICES);
  }

  private async shown({ organizationId }: Managed, { template, settings }: Form): Promise<Page> {
    return page(template, { values: await this.settings.of(organizationId, settings), errors: {} });
  }

  private async changed(organization: Managed, { template, path, settings, faults }: Form): Promise<Page | SeeOther> {
    const { organizationId, slug, by, form } = organization;
    const values = Object.fromEntries(
      Object.entries(settings).map(([name, { column }]) => [name, form.text(column)] as const),
    );
    try {
      const change = () => this.settings.change(organizationId, by, settings, values, faults);
      await this.operations.perform(organization, 'change settings', {}, change, { repeatable: true });
    } catch (error) {
      return page(template, { values, errors: errorsOf(error) }, 422);
    }
    return seeOther(`/o/${slug}${path}`, 'success', 'The settings were saved.');
  }
}

@Module({
  imports: [FamiliesModule],
  controllers: [LogoController, MailsController, RetentionController, SettingsController],
  providers: [ImageEncoder, Pictures, Retention],
})
export class SettingsModule {}
