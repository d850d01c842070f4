import { Controller, Get, Post } from '@nestjs/common';
import {
  CONTACT,
  IDENTITY,
  OrganizationSettings,
  SELLER,
  sellerFaults,
  type Settings,
  SHARING,
  type ZoneMove,
} from '@app/people';
import { ConfirmIdentity, ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { answered, type Errors, namesake } from '../web/answered.js';
import { formats } from '../web/formats.js';
import { FormOperations } from '../web/operations.js';
import { type Page, page, type SeeOther } from '../web/pages.js';
import { currencies, timeZones } from './choices.js';

/** A page of settings, whose fields have the names of the columns. */
interface Form {
  template: string;
  path: string;
  settings: Settings;
  faults?: typeof sellerFaults;
}

const ABOUT: Form = {
  template: 'settings/settings',
  path: '/settings',
  settings: { ...IDENTITY, ...CONTACT, ...SHARING },
};
const INVOICES: Form = {
  template: 'settings/invoices',
  path: '/settings/invoices',
  settings: SELLER,
  faults: sellerFaults,
};

/** Rolls the change back until somebody has confirmed what another time zone moves. */
class OtherClocks extends Error {
  constructor(readonly move: ZoneMove) {
    super('another time zone moves what is ahead');
  }
}

/** What an organization says of itself: to people, and on invoices. */
@Controller('o/:slug/settings')
@ForManagers()
@ConfirmIdentity()
export class SettingsController {
  constructor(
    private readonly operations: FormOperations,
    private readonly settings: OrganizationSettings,
  ) {}

  @Get()
  @InNavigation('Settings', 'Organization')
  show(@Managing() organization: Managed): Promise<Page> {
    return this.shown(organization, ABOUT);
  }

  @Post()
  async change(@Managing() organization: Managed): Promise<Page | SeeOther> {
    try {
      return await this.changed(organization, ABOUT);
    } catch (error) {
      if (!(error instanceof OtherClocks)) throw error;
      const { move } = error;
      const [was, is] = [formats(move.before), formats(move.after)];
      return page('settings/time-zone', { move, was, is, fields: organization.form.all() });
    }
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

  private async shown(organization: Managed, one: Form, errors: Errors | null = null): Promise<Page> {
    const { organizationId, form } = organization;
    const [stored, hasMoney] = await Promise.all([
      this.settings.of(organizationId, one.settings),
      one === ABOUT && this.settings.hasMoney(organizationId),
    ]);
    const values = errors ? { ...stored, ...typedIn(form, one.settings) } : stored;
    const data = { values, errors: errors ?? {}, stored, hasMoney };
    const choices = one === ABOUT && { zones: timeZones(stored.timeZone!), currencies: currencies(stored.currency!) };
    return page(one.template, { ...data, ...choices }, errors ? 422 : 200);
  }

  private changed(organization: Managed, one: Form): Promise<Page | SeeOther> {
    const { organizationId, slug, by, form } = organization;
    const { path, settings, faults } = one;
    const run = async () => {
      const { changed, move } = await this.settings.change(
        organizationId,
        by,
        settings,
        typedIn(form, settings),
        faults,
      );
      if (move && moves(move) && form.text('yes') !== `${move.before} ${move.after}`) throw new OtherClocks(move);
      return changed.length > 0 ? { audit: { fields: changed } } : { changed: false };
    };
    return answered(
      this.operations.perform(organization, 'change settings', {}, run, { repeatable: true }),
      { back: `/o/${slug}${path}`, done: 'The settings were saved.' },
      (errors) => this.shown(organization, one, errors),
      namesake,
    );
  }
}

const moves = ({ lessons, hours, timeOff }: ZoneMove) => lessons + hours + timeOff > 0;

/** What was typed. The page leaves the currency out once it stays. */
function typedIn(form: Managed['form'], settings: Settings): Record<string, string> {
  const sent = form.all();
  const there = Object.entries(settings).filter(([name, { column }]) => !(name in IDENTITY) || column in sent);
  return Object.fromEntries(there.map(([name, { column }]) => [name, sent[column] ?? '']));
}
