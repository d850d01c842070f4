import { Controller, Get, Module, Param, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import type { ActingPerson } from '@app/audit';
import { type MembershipOffer, MembershipOffers, Offboarding, type WaitingMembership, Withdrawing } from '@app/access';
import { Operations } from '@app/people';
import {
  By,
  ConfirmIdentity,
  ForManagers,
  InNavigation,
  ForSignedIn,
  type Managed,
  Managing,
  Session,
} from '../web/access.decorators.js';
import { type Form, SentForm } from '../web/form.js';
import { formats } from '../web/formats.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { unlessRefused } from '../web/refusals.js';
import { manages } from '../web/access.decorators.js';
import { Sessions, type SignedIn } from '../web/sessions.js';
import { Overviews } from './overviews.js';

/** The home page: the organizations that people belong to or are invited to, and an overview of each they manage. */
@Controller()
class HomeController {
  constructor(
    private readonly sessions: Sessions,
    private readonly offers: MembershipOffers,
    private readonly withdrawing: Withdrawing,
    private readonly operations: Operations,
    private readonly offboarding: Offboarding,
    private readonly overviews: Overviews,
  ) {}

  /** The path contains the organization, so that two tabs can show two organizations. */
  @Get()
  @ForSignedIn()
  async home(@Session() session: SignedIn, @Req() request: Request): Promise<Page | SeeOther> {
    const ties = await this.tiesOf(request);
    const [only, ...more] = session.memberships;
    return only && more.length + ties.offers.length + ties.waiting.length === 0
      ? seeOther(`/${manages(only) ? 'o' : 'my'}/${only.slug}`)
      : organizationsPage(session, ties);
  }

  @Get('organizations')
  @ForSignedIn()
  async organizations(@Session() session: SignedIn, @Req() request: Request): Promise<Page> {
    return organizationsPage(session, await this.tiesOf(request));
  }

  @Post('organizations/:organization_id/accept')
  @ForSignedIn()
  accept(@Param('organization_id') id: string, @SentForm() form: Form, @By() by: ActingPerson): Promise<SeeOther> {
    const done = this.offers.accept(pathId(id), by, asOf(form));
    return answered(done, 'You accepted the invitation. You now belong to the organization.');
  }

  @Post('organizations/:organization_id/decline')
  @ForSignedIn()
  decline(@Param('organization_id') id: string, @SentForm() form: Form, @By() by: ActingPerson): Promise<SeeOther> {
    const done = this.offers.decline(pathId(id), by, asOf(form), form.text('reason') === 'not_my_child');
    return answered(done, 'You declined the invitation. The organization sees nothing of your account.');
  }

  @Post('organizations/:organization_id/withdraw')
  @ForSignedIn()
  withdraw(@Param('organization_id') id: string, @SentForm() form: Form, @By() by: ActingPerson): Promise<SeeOther> {
    const done = this.withdrawing.withdraw(pathId(id), by, asOf(form));
    return answered(done, 'You withdrew your request. Nobody will decide about it.');
  }

  @Post('organizations/:organization_id/leave')
  @ForSignedIn()
  @ConfirmIdentity()
  leave(@Param('organization_id') id: string, @By() by: ActingPerson): Promise<SeeOther> {
    const [organizationId, { userId }] = [pathId(id), by];
    const end = () => this.offboarding.ended(organizationId, by, { userId });
    const done = this.operations.perform(organizationId, by, 'end membership', { user_id: userId }, end, { own: true });
    return answered(done, 'You have left the organization.');
  }

  private async tiesOf(request: Request): Promise<Ties> {
    const secret = this.sessions.secretOf(request);
    const [offers, waiting, former] = await Promise.all([
      this.offers.list(secret),
      this.offers.waiting(secret),
      this.offers.former(secret),
    ]);
    return { offers, waiting, former };
  }

  @Get('o/:slug')
  @InNavigation('Home')
  @ForManagers()
  overview(@Managing() organization: Managed): Promise<Page> {
    return this.overviews.of(organization).then((overview) => page('home/overview', overview));
  }
}

/** The maximum number of offers to show. Others appear once these are answered. */
const MOST_OFFERS = 20;

/** What somebody has to do with organizations where they do not belong. */
interface Ties {
  offers: MembershipOffer[];
  waiting: WaitingMembership[];
  former: string[];
}

function organizationsPage({ memberships }: SignedIn, { offers, waiting, former }: Ties): Page {
  const others = memberships.filter((one) => !manages(one));
  return page('home/organizations', {
    managed: memberships.filter(manages),
    others,
    offers: offers.slice(0, MOST_OFFERS),
    waiting: waiting.map((one) => ({ ...one, on: formats(one.timeZone).dateTime(one.since) })),
    former,
  });
}

function asOf(form: Form): MembershipOffer['as'] {
  return form.text('as') === 'parent' ? 'parent' : 'member';
}

function answered(done: Promise<unknown>, text: string): Promise<SeeOther> {
  const list = '/organizations';
  return unlessRefused(
    done.then(() => seeOther(list, 'success', text)),
    ({ kind, text: told }) => seeOther(list, kind, told),
  );
}

@Module({ controllers: [HomeController], providers: [Overviews] })
export class HomeModule {}
