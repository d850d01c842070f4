import { Controller, Get } from '@nestjs/common';
import { ForManagers, ForSignedIn, Session } from '../web/access.decorators.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { manages } from '../web/session.guard.js';
import type { SignedIn } from '../web/sessions.js';

/** Where people arrive: the organizations that they belong to, and the overview of each that they manage. */
@Controller()
export class HomeController {
  /** The organization stands in the path of its pages, so that two tabs can show two organizations. */
  @Get()
  @ForSignedIn()
  home(@Session() session: SignedIn): Page | SeeOther {
    const managed = session.memberships.filter(manages);
    const [only] = managed;
    return only && session.memberships.length === 1 ? seeOther(`/o/${only.slug}`) : this.organizations(session);
  }

  @Get('organizations')
  @ForSignedIn()
  organizations(@Session() session: SignedIn): Page {
    const managed = session.memberships.filter(manages);
    return page('home/organizations', { managed, others: session.memberships.filter((one) => !manages(one)) });
  }

  @Get('o/:slug')
  @ForManagers()
  overview(): Page {
    return page('home/overview');
  }
}
