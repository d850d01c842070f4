import { Controller, Get, Post, Query } from '@nestjs/common';
import { type Invited, Inviting, type WantedPerson } from '@app/access';
import { Leads } from '@app/enquiries';
import { Outbox } from '@app/jobs';
import type { Person } from '@app/people';
import { ConfirmIdentity, ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import type { Form } from '../web/form.js';
import { errorsOf } from '../web/answered.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { PeopleService, provisionerOf } from './people.service.js';

const ROLES: readonly string[] = ['student', 'tutor', 'admin'] satisfies WantedPerson['role'][];
const PERSON = ['first_name', 'last_name', 'email', 'phone'] as const;
export const FIELDS = [...PERSON, ...PERSON.map((name) => `parent.${name}`)];

/** One form for every kind of person, so that it works without JavaScript. */
@Controller('o/:slug/people/invite')
@ForManagers()
@ConfirmIdentity()
export class InviteController {
  constructor(
    private readonly operations: FormOperations,
    private readonly inviting: Inviting,
    private readonly outbox: Outbox,
    private readonly people: PeopleService,
    private readonly leads: Leads,
  ) {}

  /** @param lead somebody who asked about lessons, whose data fill in the form @param role whom to invite, unless it is a student */
  @Get()
  async form(
    @Managing() organization: Managed,
    @Query('lead') lead: unknown,
    @Query('role') role: unknown,
  ): Promise<Page> {
    const known =
      lead === undefined ? {} : await this.knownOf(organization, pathId(typeof lead === 'string' ? lead : ''));
    return formPage(organization.role, ROLES.find((one) => one === role) ?? 'student', known, {});
  }

  /** The answer shows a link at most once, so it is not a redirect. */
  @Post()
  async invite(@Managing() organization: Managed): Promise<Page> {
    const { role: ownRole, by, form } = organization;
    const role = form.text('role') || 'student';
    if (!ROLES.includes(role)) throw PageError.badForm();
    const values = Object.fromEntries([...FIELDS, 'lead'].map((field) => [field, form.text(field)]));
    const lead = values.lead ? pathId(values.lead) : null;
    const wanted = wantedBy(role as WantedPerson['role'], form);
    let invited: Invited;
    try {
      const invite = async () => {
        const done = await this.inviting.invite(by, provisionerOf(organization), wanted);
        if (lead && role === 'student') await this.leads.convert(organization.organizationId, lead);
        return done;
      };
      const way = { repeatable: true, people: true };
      invited = (await this.operations.perform(organization, 'invite person', {}, invite, way))!.answer;
    } catch (error) {
      const errors = errorsOf(error);
      return formPage(ownRole, role, values, errors);
    }
    const { email, firstName, lastName } = wanted.person;
    const shown = wanted.role === 'admin' ? email : `${firstName} ${lastName}`;
    return page('people/invited', { ...invited, role, name: shown, email, mails: this.outbox.sendsMail });
  }

  /** Leads have one name; nobody knows for sure where it splits, so the form shows it. */
  private async knownOf(organization: Managed, leadId: string): Promise<Record<string, string>> {
    const { name, email, phone } = await this.people.lead(organization, leadId);
    const [first = '', ...last] = name.trim().split(/\s+/);
    return { first_name: first, last_name: last.join(' '), email: email ?? '', phone: phone ?? '', lead: leadId };
  }
}

function formPage(ownRole: string, role: string, values: object, errors: Record<string, string>): Page {
  const roles = ROLES.filter((one) => one !== 'admin' || ownRole === 'owner' || role === 'admin');
  return page('people/invite', { roles, role, values, errors }, Object.keys(errors).length > 0 ? 422 : 200);
}

function wantedBy(role: WantedPerson['role'], form: Form): WantedPerson {
  const person = personOf(form, '');
  if (role !== 'student') return { role, person };
  const parent = PERSON.some((name) => form.text(`parent.${name}`) !== '') ? personOf(form, 'parent.') : null;
  return { role, person, parent };
}

export function personOf(form: Form, prefix: string): Person {
  const text = (name: (typeof PERSON)[number]) => form.text(`${prefix}${name}`);
  return {
    firstName: text('first_name'),
    lastName: text('last_name'),
    email: text('email') || null,
    phone: text('phone') || null,
  };
}
