import { Controller, Get, Module, Param, Post, Query } from '@nestjs/common';
import { Approvals } from '@app/access';
import { AccountInvites, Invitations, notMailed } from '@app/people';
import { ConfirmIdentity, ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { Operations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import type { Flash } from '../web/flash.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { positionText, readPosition } from '../web/paging.js';
import { unlessRefused } from '../web/refusals.js';
import { CodesController } from './codes.controller.js';
import { CodesService } from './codes.service.js';
import { InviteController } from './invite.controller.js';
import { queryOf, readFilter } from './people.filter.js';
import { PeopleService, provisionerOf } from './people.service.js';
import { PersonController } from './person.controller.js';
import { PersonService } from './person.service.js';

type Query = Record<string, unknown>;

/** An organization's people and invites, and the actions of owners and admins on them. */
@Controller('o/:slug/people')
@ForManagers()
class PeopleController {
  constructor(
    private readonly people: PeopleService,
    private readonly operations: Operations,
    private readonly approvals: Approvals,
    private readonly invitations: Invitations,
    private readonly accountInvites: AccountInvites,
  ) {}

  @Get()
  @InNavigation({ label: 'People', summary: 'Members, invited people, and tutors waiting for approval.', order: 20 })
  async list(@Managing() organization: Managed, @Query() query: Query): Promise<Page> {
    const filter = readFilter(query);
    const after = readPosition(query.after);
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
    const place = readPosition(after);
    const soon = ending === 'soon';
    const { rows, next } = await this.people.invites(organization, soon, place);
    return page('people/invites', {
      invites: rows,
      ending: soon,
      isFirst: place === null,
      next: next && `?${soon ? 'ending=soon&' : ''}after=${positionText(next)}`,
    });
  }

  @Post(':kind/:user_id/approve')
  @ConfirmIdentity()
  approve(
    @Managing() organization: Managed,
    @Param('kind') kind: string,
    @Param('user_id') id: string,
  ): Promise<SeeOther> {
    const done = this.approvals.approve(provisionerOf(organization), organization.by, pathId(id), kindOf(kind));
    return answered(organization, done, () => 'They were approved.', pathId(id));
  }

  @Post(':kind/:user_id/decline')
  @ConfirmIdentity()
  decline(
    @Managing() organization: Managed,
    @Param('kind') kind: string,
    @Param('user_id') id: string,
  ): Promise<SeeOther> {
    const done = this.approvals.decline(provisionerOf(organization), organization.by, pathId(id), kindOf(kind));
    return answered(organization, done, () => 'They were declined, and can no longer join with a code.', pathId(id));
  }

  @Post(':kind/:user_id/send-invite')
  sendInvite(
    @Managing() organization: Managed,
    @Param('kind') kind: string,
    @Param('user_id') id: string,
  ): Promise<SeeOther> {
    const [as, ids, provisioner] = [kindOf(kind), { user_id: pathId(id) }, provisionerOf(organization)];
    const way = { repeatable: true, people: true };
    const send = async () => {
      const invite =
        as === 'parent'
          ? await this.accountInvites.sendToParent(provisioner, ids.user_id)
          : await this.accountInvites.sendToMember(provisioner, ids.user_id, ['student', 'tutor', 'admin']);
      return { audit: { sent: invite.sent }, answer: invite };
    };
    return answered(organization, this.operations.perform(organization, 'send_invite', ids, send, way), (done) => {
      const { sent, email } = done!.answer;
      return sent ? `We are sending a link to ${email}.` : { kind: 'notice', text: notMailed(email) };
    });
  }

  @Post(':kind/:user_id/revoke-invites')
  revokeInvites(
    @Managing() organization: Managed,
    @Param('kind') kind: string,
    @Param('user_id') id: string,
  ): Promise<SeeOther> {
    kindOf(kind);
    const ids = { user_id: pathId(id) };
    const revoke = () => this.invitations.revokeAccountLinks(organization.organizationId, ids.user_id);
    const done = this.operations.perform(organization, 'revoke_account_invites', ids, revoke, { repeatable: true });
    return answered(organization, done, () => 'All links emailed so far have stopped working.');
  }

  /** Shows the new link, which is not stored. */
  @Post('invites/:invite_id/resend')
  @ConfirmIdentity()
  resend(@Managing() organization: Managed, @Param('invite_id') id: string): Promise<Page | SeeOther> {
    const [list, replaces] = [`/o/${organization.slug}/people/invites`, pathId(id)];
    const resend = async () => {
      const sent = await this.invitations.resend(provisionerOf(organization), organization.by.userId, replaces);
      return { audit: { invite_id: sent.invite.id, replaces, emailed: sent.emailed }, answer: sent };
    };
    const resent = this.operations.perform(organization, 'resend_invite', {}, resend, { repeatable: true });
    const shown = resent.then((done) => {
      const { invite, joinUrl, emailed } = done!.answer;
      return page('people/resent', {
        email: invite.email,
        code: joinUrl ? null : invite.secret,
        joinUrl,
        emailed,
        list,
      });
    });
    return unlessRefused<Page | SeeOther>(shown, ({ kind, text }) => seeOther(list, kind, text));
  }

  @Post('invites/:invite_id/release')
  @ConfirmIdentity()
  async confirm(@Managing() organization: Managed, @Param('invite_id') id: string): Promise<SeeOther> {
    const [{ organizationId, by }, ids] = [organization, { invite_id: pathId(id) }];
    const confirm = () => this.invitations.confirm(organizationId, by.userId, ids.invite_id);
    await this.operations.perform(organization, 'confirm_invite', ids, confirm, { repeatable: true });
    return seeOther(`/o/${organization.slug}/people/invites`, 'success', 'The invite works again.');
  }

  @Post('invites/:invite_id/revoke')
  async revoke(@Managing() organization: Managed, @Param('invite_id') id: string): Promise<SeeOther> {
    const ids = { invite_id: pathId(id) };
    const revoke = () => this.invitations.end(organization.organizationId, ids.invite_id);
    await this.operations.perform(organization, 'DELETE /v1/invites/:invite_id', ids, revoke, { repeatable: true });
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
  const filtered = `/o/${slug}/people${queryOf(readFilter(query), readPosition(query.after))}`;
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
