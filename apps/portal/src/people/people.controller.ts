import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import type { Actor } from '@app/audit';
import { notMailed } from '@app/people';
import { By, ForManagers, InNavigation, Organization } from '../web/access.decorators.js';
import { type Form, SentForm } from '../web/form.js';
import { PageError } from '../web/page-error.js';
import { type Flash, type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { placeText, readPlace } from '../web/place.js';
import { unlessRefused } from '../web/refusals.js';
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
  approve(
    @Organization() organization: Membership,
    @Param('user_id') id: string,
    @SentForm() form: Form,
    @By() by: Actor,
  ): Promise<SeeOther> {
    const done = this.people.approve(organization, by, pathId(id));
    return answered(organization, form, done, () => 'The tutor was approved.');
  }

  @Post('members/:user_id/decline')
  @ForManagers()
  decline(
    @Organization() organization: Membership,
    @Param('user_id') id: string,
    @SentForm() form: Form,
    @By() by: Actor,
  ): Promise<SeeOther> {
    const done = this.people.decline(organization, by, pathId(id));
    return answered(organization, form, done, () => 'The tutor was declined, and can no longer join with the code.');
  }

  @Post(':kind/:user_id/send-invite')
  @ForManagers()
  sendInvite(
    @Organization() organization: Membership,
    @Param('kind') kind: string,
    @Param('user_id') id: string,
    @SentForm() form: Form,
    @By() by: Actor,
  ): Promise<SeeOther> {
    const invite = this.people.sendAccountInvite(organization, by, kindOf(kind), pathId(id));
    return answered(organization, form, invite, ({ sent, email }) =>
      sent ? `We are sending a link to ${email}.` : { kind: 'notice', text: notMailed(email) },
    );
  }

  @Post(':kind/:user_id/revoke-invites')
  @ForManagers()
  revokeInvites(
    @Organization() organization: Membership,
    @Param('kind') kind: string,
    @Param('user_id') id: string,
    @SentForm() form: Form,
    @By() by: Actor,
  ): Promise<SeeOther> {
    kindOf(kind);
    const done = this.people.revokeAccountInvites(organization, by, pathId(id));
    return answered(organization, form, done, () => 'All links emailed so far have stopped working.');
  }

  /** Shows the new link, which is not stored. */
  @Post('invites/:invite_id/resend')
  @ForManagers()
  resend(
    @Organization() organization: Membership,
    @Param('invite_id') id: string,
    @By() by: Actor,
  ): Promise<Page | SeeOther> {
    const list = `/o/${organization.slug}/people/invites`;
    const resent = this.people
      .resend(organization, by, pathId(id))
      .then(({ invite: { email, secret }, joinUrl, emailed }) =>
        page('people/resent', { email, code: joinUrl ? null : secret, joinUrl, emailed, list }),
      );
    return unlessRefused<Page | SeeOther>(resent, ({ kind, text }) => seeOther(list, kind, text));
  }

  @Post('invites/:invite_id/revoke')
  @ForManagers()
  async revoke(
    @Organization() organization: Membership,
    @Param('invite_id') id: string,
    @By() by: Actor,
  ): Promise<SeeOther> {
    await this.people.revoke(organization, by, pathId(id));
    return seeOther(`/o/${organization.slug}/people/invites`, 'success', 'The invite was revoked.');
  }
}

/** @throws PageError 404 */
function kindOf(text: string): 'member' | 'parent' {
  if (text === 'members') return 'member';
  if (text === 'parents') return 'parent';
  throw PageError.notFound();
}

/** Back to the list with the same filter, where the outcome is shown. */
function answered<T>(
  { slug }: Membership,
  form: Form,
  work: Promise<T>,
  told: (done: T) => string | Flash,
): Promise<SeeOther> {
  const query = Object.fromEntries(new URLSearchParams(form.text('from')));
  const list = `/o/${slug}/people${queryOf(readFilter(query), readPlace(query.after))}`;
  const done = work.then((result) => {
    const text = told(result);
    return typeof text === 'string' ? seeOther(list, 'success', text) : seeOther(list, text.kind, text.text);
  });
  return unlessRefused(done, ({ kind, text }) => seeOther(list, kind, text));
}
