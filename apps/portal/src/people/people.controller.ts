import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import type { Actor } from '@app/audit';
import type { Decided } from '@app/accounts';
import { By, ForManagers, InNavigation, Organization } from '../web/access.decorators.js';
import { type Form, SentForm } from '../web/form.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { placeText, readPlace } from '../web/place.js';
import type { Membership } from '../web/sessions.js';
import { queryOf, readFilter } from './people.filter.js';
import { PeopleService } from './people.service.js';

type Query = Record<string, unknown>;

/** An organization's people and invites, and the actions of owners and admins on them. */
@Controller('o/:slug/people')
export class PeopleController {
  constructor(private readonly people: PeopleService) {}

  @Get()
  @ForManagers()
  @InNavigation({
    label: 'People',
    summary: 'Members, invited people, and tutors waiting for approval.',
    order: 20,
  })
  async list(@Organization() organization: Membership, @Query() query: Query): Promise<Page> {
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
  @ForManagers()
  async invites(@Organization() organization: Membership, @Query('after') after: unknown): Promise<Page> {
    const place = readPlace(after);
    const { rows, next } = await this.people.invites(organization, place);
    return page('people/invites', {
      invites: rows,
      isFirst: place === null,
      next: next && `?after=${placeText(next)}`,
    });
  }

  @Post('members/:user_id/approve')
  @ForManagers()
  async approve(
    @Organization() organization: Membership,
    @Param('user_id') id: string,
    @SentForm() form: Form,
    @By() by: Actor,
  ): Promise<SeeOther> {
    const decided = await this.people.approve(organization, by, pathId(id));
    return afterDecision(organization, form, decided, 'The tutor was approved.');
  }

  @Post('members/:user_id/decline')
  @ForManagers()
  async decline(
    @Organization() organization: Membership,
    @Param('user_id') id: string,
    @SentForm() form: Form,
    @By() by: Actor,
  ): Promise<SeeOther> {
    const decided = await this.people.decline(organization, by, pathId(id));
    return afterDecision(organization, form, decided, 'The tutor was declined, and can no longer join with the code.');
  }

  @Post(':kind/:user_id/send-invite')
  @ForManagers()
  async sendInvite(
    @Organization() organization: Membership,
    @Param('kind') kind: string,
    @Param('user_id') id: string,
    @SentForm() form: Form,
    @By() by: Actor,
  ): Promise<SeeOther> {
    const invite = await this.people.sendAccountInvite(organization, by, kindOf(kind), pathId(id));
    if (invite.status === 'absent') throw PageError.notFound();
    if (invite.status === 'refused') return back(organization, form, 'problem', invite.refusal.reason);
    return invite.sent
      ? back(organization, form, 'success', `We are sending a link to ${invite.email}.`)
      : back(organization, form, 'notice', notNow(invite.email));
  }

  @Post(':kind/:user_id/revoke-invites')
  @ForManagers()
  async revokeInvites(
    @Organization() organization: Membership,
    @Param('kind') kind: string,
    @Param('user_id') id: string,
    @SentForm() form: Form,
    @By() by: Actor,
  ): Promise<SeeOther> {
    kindOf(kind);
    const revoked = await this.people.revokeAccountInvites(organization, by, pathId(id));
    if (revoked === 0) throw PageError.notFound();
    return back(organization, form, 'success', 'All links emailed so far have stopped working.');
  }

  /** Shows the new link, which is not stored. */
  @Post('invites/:invite_id/resend')
  @ForManagers()
  async resend(
    @Organization() organization: Membership,
    @Param('invite_id') id: string,
    @By() by: Actor,
  ): Promise<Page | SeeOther> {
    const resent = await this.people.resend(organization, by, pathId(id));
    if (resent.status === 'absent') throw PageError.notFound();
    const list = `/o/${organization.slug}/people/invites`;
    if (resent.status === 'not_now') return seeOther(list, { kind: 'notice', text: notNow(resent.email) });
    const { invite, joinUrl, emailed } = resent;
    return page('people/resent', { email: invite.email, code: joinUrl ? null : invite.secret, joinUrl, emailed, list });
  }

  @Post('invites/:invite_id/revoke')
  @ForManagers()
  async revoke(
    @Organization() organization: Membership,
    @Param('invite_id') id: string,
    @By() by: Actor,
  ): Promise<SeeOther> {
    if (!(await this.people.revoke(organization, by, pathId(id)))) throw PageError.notFound();
    return seeOther(`/o/${organization.slug}/people/invites`, { kind: 'success', text: 'The invite was revoked.' });
  }
}

/** @throws PageError 404 */
function kindOf(text: string): 'member' | 'parent' {
  if (text === 'members') return 'member';
  if (text === 'parents') return 'parent';
  throw PageError.notFound();
}

function notNow(email: string): string {
  return `No email was sent to ${email}: the address received one in the last ten minutes or rejects email, or the daily limit has been reached.`;
}

/** @throws PageError 404 */
function afterDecision(organization: Membership, form: Form, decided: Decided, text: string): SeeOther {
  if (decided === 'absent') throw PageError.notFound();
  if (decided === 'done') return back(organization, form, 'success', text);
  return back(organization, form, 'notice', 'This has already been decided.');
}

/** Back to the list with the same filter. */
function back({ slug }: Membership, form: Form, kind: 'success' | 'notice' | 'problem', text: string): SeeOther {
  const query = Object.fromEntries(new URLSearchParams(form.text('from')));
  const to = queryOf(readFilter(query), readPlace(query.after));
  return seeOther(`/o/${slug}/people${to}`, { kind, text });
}
