import { Controller, Get, Param, Post } from '@nestjs/common';
import { type Invited, Inviting } from '@app/access';
import { Outbox } from '@app/jobs';
import { ConfirmIdentity, ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { errorsOf } from '../web/answered.js';
import { FormOperations } from '../web/operations.js';
import { type Page, page } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { FIELDS, personOf } from './invite.controller.js';
import { provisionerOf } from './people.service.js';
import { PersonService } from './person.service.js';

/** Where managers add a parent of a student who is here already. */
@Controller('o/:slug/people/:user_id/parents')
@ForManagers()
@ConfirmIdentity()
export class ParentController {
  constructor(
    private readonly operations: FormOperations,
    private readonly inviting: Inviting,
    private readonly outbox: Outbox,
    private readonly people: PersonService,
  ) {}

  @Get()
  form(@Managing() organization: Managed, @Param('user_id') id: string): Promise<Page> {
    return this.shown(organization, pathId(id), {}, {});
  }

  /** The answer shows a link at most once, so it is not a redirect. */
  @Post()
  async invite(@Managing() organization: Managed, @Param('user_id') id: string): Promise<Page> {
    const { form } = organization;
    const studentId = pathId(id);
    const person = personOf(form, '');
    let invited: Invited;
    try {
      const invite = () => this.inviting.inviteParent(provisionerOf(organization), studentId, person);
      const way = { repeatable: true, people: true };
      invited = (await this.operations.perform(organization, 'invite person', {}, invite, way))!.answer;
    } catch (error) {
      const errors = errorsOf(error);
      const values = Object.fromEntries(FIELDS.map((field) => [field, form.text(field)]));
      return this.shown(organization, studentId, values, errors);
    }
    const name = `${person.firstName} ${person.lastName}`;
    const shown = { ...invited, role: 'parent', name, email: person.email, mails: this.outbox.sendsMail };
    return page('people/invited', { ...shown, studentId });
  }

  /** @throws PageError 404 for somebody unknown */
  private async shown(
    organization: Managed,
    studentId: string,
    values: object,
    errors: Record<string, string>,
  ): Promise<Page> {
    const student = await this.people.person(organization, organization.by, studentId);
    const status = Object.keys(errors).length > 0 ? 422 : 200;
    return page('people/invite-parent', { student, values, errors }, status);
  }
}
