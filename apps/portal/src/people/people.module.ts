import { Controller, Get, Module, Param, Post, Query } from '@nestjs/common';
import { Approvals, type Asking } from '@app/access';
import { EnquiriesModule } from '@app/enquiries';
import { AccountInvites, Invitations, notMailed } from '@app/people';
import { SchedulingModule } from '@app/scheduling';
import { ConfirmIdentity, ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { positionText, readPosition } from '../web/paging.js';
import { BillingController } from './billing.controller.js';
import { CodesController } from './codes.controller.js';
import { CodesService } from './codes.service.js';
import { EraseController } from './erase.controller.js';
import { HoursController } from './hours.controller.js';
import { HoursForm } from './hours.form.js';
import { InviteController } from './invite.controller.js';
import { type List, LISTS, pathOf, readFilter } from './people.filter.js';
import { PeopleService, provisionerOf } from './people.service.js';
import { NotesController } from './notes.controller.js';
import { ParentController } from './parent.controller.js';
import { PersonController } from './person.controller.js';
import { PersonService } from './person.service.js';
import { PersonWork } from './person-work.js';
import { ProfileController } from './profile.controller.js';

type Query = Record<string, unknown>;

/** An organization's people and invites, and the actions of owners and admins on them. */
@Controller('o/:slug/people')
@ForManagers()
class PeopleController {
  constructor(
    private readonly people: PeopleService,
    private readonly persons: PersonService,
    private readonly operations: FormOperations,
    private readonly approvals: Approvals,
    private readonly invitations: Invitations,
    private readonly accountInvites: AccountInvites,
  ) {}

  @Get()
  @InNavigation('People', 'Everyone')
  everyone(@Managing() organization: Managed, @Query() query: Query): Promise<Page> {
    return this.list(organization, query, null);
  }

  @Get('students')
  @InNavigation('People', 'Students', 1)
  students(@Managing() organization: Managed, @Query() query: Query): Promise<Page> {
    return this.list(organization, query, 'students');
  }

  @Get('families')
  @InNavigation('People', 'Families', 2)
  families(@Managing() organization: Managed, @Query() query: Query): Promise<Page> {
    return this.list(organization, query, 'families');
  }

  @Get('tutors')
  @InNavigation('People', 'Tutors', 3)
  tutors(@Managing() organization: Managed, @Query() query: Query): Promise<Page> {
    return this.list(organization, query, 'tutors');
  }

  @Get('team')
  @InNavigation('People', 'Team', 4)
  team(@Managing() organization: Managed, @Query() query: Query): Promise<Page> {
    return this.list(organization, query, 'team');
  }

  @Get('invites')
  @InNavigation('People', 'Open invites', 8)
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
    return this.decide(organization, 'approve', kindOf(kind), pathId(id), (name) => `${name} was approved.`);
  }

  @Post(':kind/:user_id/decline')
  @ConfirmIdentity()
  decline(
    @Managing() organization: Managed,
    @Param('kind') kind: string,
    @Param('user_id') id: string,
  ): Promise<SeeOther> {
    return this.decide(organization, 'decline', kindOf(kind), pathId(id), (name) => `${name} was declined.`);
  }

  @Post(':kind/:user_id/send-invite')
  sendInvite(
    @Managing() organization: Managed,
    @Param('kind') kind: string,
    @Param('user_id') id: string,
  ): Promise<SeeOther> {
    const [as, ids, provisioner] = [kindOf(kind), { user_id: pathId(id) }, provisionerOf(organization)];
    const send = async () => {
      const invite =
        as === 'parent'
          ? await this.accountInvites.sendToParent(provisioner, ids.user_id)
          : await this.accountInvites.sendToMember(provisioner, ids.user_id, ['student', 'tutor', 'admin']);
      return { audit: { sent: invite.sent }, answer: invite };
    };
    const list = listOf(organization);
    const told = ({ answer: { sent, email } }: Awaited<ReturnType<typeof send>>) =>
      sent ? `We are sending a link to ${email}.` : seeOther(list, 'notice', notMailed(email));
    return this.operations.answer(organization, 'send_invite', ids, send, list, told, { people: true });
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
    const told = 'All links emailed so far have stopped working.';
    return this.operations.answer(organization, 'revoke_account_invites', ids, revoke, listOf(organization), told);
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
    return this.operations.answer(organization, 'resend_invite', {}, resend, list, ({ answer }) => {
      const { invite, joinUrl, emailed } = answer;
      const code = joinUrl ? null : invite.secret;
      return page('people/resent', { email: invite.email, code, joinUrl, emailed, list });
    });
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

  private async list(organization: Managed, query: Query, list: List | null): Promise<Page> {
    const filter = readFilter(query, list);
    const after = readPosition(query.after);
    const { people, next, counts } = await this.people.people(organization, filter, after);
    return page('people/people', {
      ...{ people, counts, filter, list, isFirst: after === null },
      current: pathOf(list, filter, after),
      first: pathOf(list, filter),
      next: next && pathOf(list, filter, next),
    });
  }

  private decide(
    organization: Managed,
    decision: 'approve' | 'decline',
    as: Asking,
    userId: string,
    told: (name: string) => string,
  ): Promise<SeeOther> {
    const [operation, ids] = [`${decision}_${as}` as const, { user_id: userId }];
    const run = () => this.approvals[decision](provisionerOf(organization), organization.by, userId, as);
    const list = listOf(organization, userId);
    const named = async (): Promise<string | SeeOther> => told(await this.persons.nameOf(organization, userId));
    return this.operations.answer(organization, operation, ids, run, list, named, { people: true });
  }
}

/** @throws PageError 404 */
function kindOf(text: string): 'member' | 'parent' {
  if (text === 'members') return 'member';
  if (text === 'parents') return 'parent';
  throw PageError.notFound();
}

/** The list with the same filter, or the page of the person that the form was on. */
function listOf({ slug, form }: Managed, userId: string | null = null): string {
  const from = form.text('from');
  if (userId !== null && from === `/${userId}`) return `/o/${slug}/people/${userId}`;
  const [, path, text] = /^(?:\/(\w+))?(\?.*)?$/.exec(from) ?? [];
  const query = Object.fromEntries(new URLSearchParams(text));
  const list = path !== undefined && path in LISTS ? (path as List) : null;
  return `/o/${slug}/people${pathOf(list, readFilter(query, list), readPosition(query.after))}`;
}

/** The order of the controllers: `people/codes`, `people/invites` and `people/invite` are pages, not people. */
@Module({
  imports: [EnquiriesModule, SchedulingModule],
  controllers: [
    BillingController,
    PeopleController,
    CodesController,
    InviteController,
    EraseController,
    HoursController,
    NotesController,
    ParentController,
    ProfileController,
    PersonController,
  ],
  providers: [CodesService, HoursForm, PeopleService, PersonService, PersonWork],
})
export class PeopleModule {}
