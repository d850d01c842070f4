import { Controller, Get, Module, Param, Post, Query } from '@nestjs/common';
import { notMailed } from '@app/people';
import { ConfirmIdentity, ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { PageError } from '../web/page-error.js';
import type { Flash } from '../web/flash.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { placeText, readPlace } from '../web/place.js';
import { unlessRefused } from '../web/refusals.js';
import { CodesController } from './codes.controller.js';
import { CodesService } from './codes.service.js';
import { InviteController } from './invite.controller.js';
import { queryOf, readFilter } from './people.filter.js';
import { PeopleService } from './people.service.js';
import { PersonController } from './person.controller.js';
import { PersonService } from './person.service.js';

type Query = Record<string, unknown>;

/** An organization's people and invites, and the actions of owners and admins on them. */
@Controller('o/:slug/people')
@ForManagers()
class PeopleController {
  constructor(private readonly people: PeopleService) {}

  @Get()
  @InNavigation({ label: 'People', summary: 'Members, invited people, and tutors waiting for approval.', order: 20 })
  async list(@Managing() organization: Managed, @Query() query: Query): Promise<Page> {
    const filter = readFilter(query);
    const after = readPlace(query.after);
    const { rows, next, counts } = await this.people.people(organization, filter, after);
    return page('people/people', {
      people: rows,
      counts,
      filter,
      isFirst: after === null,
      current: queryOf(filter, after),
      queryOf,
      next: next && queryOf(filter, next),
    });
  }

  @Get('invites')
  async invites(@Managing() organization: Managed, @Query() { after, ending }: Query): Promise<Page> {
    const place = readPlace(after);
    const soon = ending === 'soon';
    const { rows, next } = await this.people.invites(organization, soon, place);
    return page('people/invites', {
      invites: rows,
      ending: soon,
      isFirst: place === null,
      next: next && `?${soon ? 'ending=soon&' : ''}after=${placeText(next)}`,
    });
  }

  @Post(':kind/:user_id/approve')
  @ConfirmIdentity()
  approve(
    @Managing() organization: Managed,
    @Param('kind') kind: string,
    @Param('user_id') id: string,
  ): Promise<SeeOther> {
    const done = this.people.approve(organization, organization.by, pathId(id), kindOf(kind));
    return answered(organization, done, () => 'They were approved.', pathId(id));
  }

  @Post(':kind/:user_id/decline')
  @ConfirmIdentity()
  decline(
    @Managing() organization: Managed,
    @Param('kind') kind: string,
    @Param('user_id') id: string,
  ): Promise<SeeOther> {
    const done = this.people.decline(organization, organization.by, pathId(id), kindOf(kind));
    return answered(organization, done, () => 'They were declined, and can no longer join with a code.', pathId(id));
  }

  @Post(':kind/:user_id/send-invite')
  sendInvite(
    @Managing() organization: Managed,
    @Param('kind') kind: string,
    @Param('user_id') id: string,
  ): Promise<SeeOther> {
    const invite = this.people.sendAccountInvite(organization, organization.by, kindOf(kind), pathId(id));
    return answered(organization, invite, ({ sent, email }) =>
      sent ? `We are sending a link to ${email}.` : { kind: 'notice', text: notMailed(email) },
    );
  }

  @Post(':kind/:user_id/revoke-invites')
  revokeInvites(
    @Managing() organization: Managed,
    @Param('kind') kind: string,
    @Param('user_id') id: string,
  ): Promise<SeeOther> {
    kindOf(kind);
    const done = this.people.revokeAccountInvites(organization, organization.by, pathId(id));
    return answered(organization, done, () => 'All links emailed so far have stopped working.');
  }

  /** Shows the new link, which is not stored. */
  @Post('invites/:invite_id/resend')
  @ConfirmIdentity()
  resend(@Managing() organization: Managed, @Param('invite_id') id: string): Promise<Page | SeeOther> {
    const list = `/o/${organization.slug}/people/invites`;
    const resent = this.people
      .resend(organization, organization.by, pathId(id))
      .then(({ invite: { email, secret }, joinUrl, emailed }) =>
        page('people/resent', { email, code: joinUrl ? null : secret, joinUrl, emailed, list }),
      );
    return unlessRefused<Page | SeeOther>(resent, ({ kind, text }) => seeOther(list, kind, text));
  }

  @Post('invites/:invite_id/release')
  @ConfirmIdentity()
  async confirm(@Managing() organization: Managed, @Param('invite_id') id: string): Promise<SeeOther> {
    await this.people.confirm(organization, organization.by, pathId(id));
    return seeOther(`/o/${organization.slug}/people/invites`, 'success', 'The invite works again.');
  }

  @Post('invites/:invite_id/revoke')
  async revoke(@Managing() organization: Managed, @Param('invite_id') id: string): Promise<SeeOther> {
    await this.people.revoke(organization, organization.by, pathId(id));
    return seeOther(`/o/${organization.slug}/people/invites`, 'success', 'The invite was revoked.');
  }
}

/** @throws PageError 404 */
function kindOf(text: string): 'member' | 'parent' {
  if (text === 'members') return 'member';
  if (text === 'parents') return 'parent';
  throw PageError.notFound();
}

/** Back to the list with the same filter, or to the page of the person, where the outcome is shown. */
function answered<T>(
  { slug, form }: Managed,
  work: Promise<T>,
  told: (done: T) => string | Flash,
  userId: string | null = null,
): Promise<SeeOther> {
  const from = form.text('from');
  const query = Object.fromEntries(new URLSearchParams(from));
  const filtered = `/o/${slug}/people${queryOf(readFilter(query), readPlace(query.after))}`;
  const list = userId !== null && from === `/${userId}` ? `/o/${slug}/people/${userId}` : filtered;
  const done = work.then((result) => {
    const text = told(result);
    return typeof text === 'string' ? seeOther(list, 'success', text) : seeOther(list, text.kind, text.text);
  });
  return unlessRefused(done, ({ kind, text }) => seeOther(list, kind, text));
}

/** The order of the controllers: `people/codes`, `people/invites` and `people/invite` are pages, not people. */
@Module({
  controllers: [PeopleController, CodesController, InviteController, PersonController],
  providers: [CodesService, PeopleService, PersonService],
})
export class PeopleModule {}
