import { Controller, Param, Post } from '@nestjs/common';
import { Env } from '@app/config';
import { FIELDS } from '@app/fields';
import { StaffNotes } from '@app/people';
import { ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { answered, type Errors, namesake } from '../web/answered.js';
import { FormOperations } from '../web/operations.js';
import { type Page, page, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { readFields } from '../web/read-field.js';
import { PersonService } from './person.service.js';

/** Where managers note what only they read about a student. */
@Controller('o/:slug/people/:user_id/notes')
@ForManagers()
export class NotesController {
  constructor(
    private readonly people: PersonService,
    private readonly operations: FormOperations,
    private readonly notes: StaffNotes,
    private readonly env: Env,
  ) {}

  @Post()
  save(@Managing() organization: Managed, @Param('user_id') id: string): Promise<Page | SeeOther> {
    const { organizationId, slug, form } = organization;
    const userId = pathId(id);
    const write = async () => {
      const { staff_notes: text } = readFields(form, this.env, {}, { staff_notes: FIELDS.members.staff_notes });
      return { changed: await this.notes.write(organizationId, userId, text, form.text('version')) };
    };
    return answered(
      this.operations.perform(organization, 'change staff notes', { user_id: userId }, write),
      { back: `/o/${slug}/people/${userId}#notes`, done: 'The notes were saved.' },
      (errors) => this.again(organization, userId, errors),
      namesake,
    );
  }

  private async again(organization: Managed, userId: string, errors: Errors): Promise<Page> {
    const person = await this.people.shown(organization, organization.by, userId);
    const noted = { typed: organization.form.text('staff_notes'), error: errors.staff_notes ?? errors.form };
    return page('people/person', { person, noted }, 422);
  }
}
