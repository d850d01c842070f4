import { Controller, Get, Param, Post } from '@nestjs/common';
import { type Ended, Offboarding, Roles } from '@app/access';
import { canonicalUuid } from '@app/database';
import { STAFF, type StaffRole } from '@app/people';
import type { SessionsAhead } from '@app/scheduling';
import { ConfirmIdentity, ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import type { Form } from '../web/form.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { PersonService } from './person.service.js';

const ROLES: readonly string[] = STAFF;

/** The page of one person, where owners and admins decide whether and as what they belong. */
@Controller('o/:slug/people')
@ForManagers()
export class PersonController {
  constructor(
    private readonly people: PersonService,
    private readonly operations: FormOperations,
    private readonly offboarding: Offboarding,
    private readonly roles: Roles,
  ) {}

  @Get(':user_id')
  async show(@Managing() organization: Managed, @Param('user_id') id: string): Promise<Page> {
    return page('people/person', { person: await this.people.shown(organization, organization.by, pathId(id)) });
  }

  @Get(':user_id/remove')
  @ConfirmIdentity()
  async askRemove(@Managing() organization: Managed, @Param('user_id') id: string): Promise<Page> {
    const person = await this.people.person(organization, organization.by, pathId(id));
    return page('people/remove', { person, successors: await this.people.successors(organization, person.id) });
  }

  @Post(':user_id/remove')
  @ConfirmIdentity()
  remove(@Managing() organization: Managed, @Param('user_id') id: string): Promise<SeeOther> {
    const ids = { user_id: pathId(id) };
    const { organizationId, by, form } = organization;
    const departure = { userId: ids.user_id, sessions: aheadOf(form), keepCodes: form.ids('keep') };
    const end = () => this.offboarding.ended(organizationId, by, departure);
    const person = `/o/${organization.slug}/people/${ids.user_id}`;
    const told = ({ answer }: { answer: Ended }) =>
      ids.user_id === by.userId
        ? seeOther('/organizations', 'success', `You have left ${organization.name}.`)
        : this.people.nameOf(organization, ids.user_id).then((name) => wordsOf(name, answer));
    return this.operations.answer(organization, 'end membership', ids, end, person, told, { people: true });
  }

  @Post(':user_id/unlink')
  @ConfirmIdentity()
  async unlink(@Managing() organization: Managed, @Param('user_id') id: string): Promise<SeeOther> {
    const { organizationId, form } = organization;
    const ids = { parent_id: pathId(id), student_id: pathId(form.text('student_id')) };
    const unlink = () => this.offboarding.unlinkChild(organizationId, ids.parent_id, ids.student_id);
    const way = { repeatable: true, people: true };
    await this.operations.perform(organization, 'DELETE /v1/parents/:parent_id/students/:student_id', ids, unlink, way);
    return seeOther(`/o/${organization.slug}/people`, 'success', 'The parent no longer sees anything of this child.');
  }

  @Post(':user_id/role')
  @ConfirmIdentity()
  changeRole(@Managing() organization: Managed, @Param('user_id') id: string): Promise<SeeOther> {
    const [ids, role] = [{ user_id: pathId(id) }, organization.form.text('role')];
    if (!ROLES.includes(role)) throw PageError.badForm();
    const { organizationId, by, form } = organization;
    const change = () => this.roles.change(organizationId, by, ids.user_id, role as StaffRole, form.ids('keep'));
    const person = `/o/${organization.slug}/people/${ids.user_id}`;
    const back = ids.user_id === by.userId ? '/organizations' : person;
    const told = ({ changed }: { changed: boolean }) =>
      seeOther(back, 'success', changed ? 'The role was changed.' : 'That was the role already.');
    return this.operations.answer(organization, 'change role', ids, change, person, told, { people: true });
  }
}

/** @throws PageError for a choice that the page does not offer */
function aheadOf(form: Form): SessionsAhead {
  const choice = form.text('sessions') || 'unassign';
  if (choice === 'unassign' || choice === 'cancel') return { do: choice };
  const to = canonicalUuid(form.text('hand_over_to'));
  if (choice !== 'hand_over' || to === null) throw PageError.badForm();
  return { do: 'hand_over', to };
}

function wordsOf(name: string, { changed, keys, codes, held, handedOver, unassigned, cancelled }: Ended): string {
  if (!changed) return `${name} had been removed before.`;
  const counts = [
    [keys, 'API key revoked', 'API keys revoked'],
    [codes, 'code replaced or switched off', 'codes replaced or switched off'],
    [held, 'invite waits for an owner', 'invites wait for an owner'],
    [handedOver, 'lesson handed over', 'lessons handed over'],
    [unassigned, 'lesson needs a tutor', 'lessons need a tutor'],
    [cancelled, 'lesson canceled', 'lessons canceled'],
  ] as const;
  const told = counts
    .filter(([count]) => count > 0)
    .map(([count, one, more]) => `${count} ${count === 1 ? one : more}`);
  return [`${name} was removed.`, ...(told.length > 0 ? [`${told.join(', ')}.`] : [])].join(' ');
}
