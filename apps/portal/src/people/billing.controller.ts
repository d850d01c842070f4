import { Controller, Param, Post } from '@nestjs/common';
import { canonicalUuid, isBlank } from '@app/database';
import { Payers } from '@app/people';
import { ConfirmIdentity, ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import type { Form } from '../web/form.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { PersonService } from './person.service.js';

const LONGEST = { billing_name: 200, billing_address: 300 };

/** Where managers say who is billed, under which name and address, and who is not reminded. */
@Controller('o/:slug/people/:user_id')
@ForManagers()
export class BillingController {
  constructor(
    private readonly people: PersonService,
    private readonly operations: FormOperations,
    private readonly payers: Payers,
  ) {}

  @Post('billing')
  @ConfirmIdentity()
  async change(@Managing() organization: Managed, @Param('user_id') id: string): Promise<Page | SeeOther> {
    const { organizationId, slug, by, form } = organization;
    const userId = pathId(id);
    const errors = faultsOf(form);
    if (Object.keys(errors).length > 0) {
      const person = await this.people.shown(organization, by, userId);
      return page('people/person', { person, errors, typed: (field: string) => form.text(field) }, 422);
    }
    const named = { name: form.text('billing_name') || null, address: form.text('billing_address') || null };
    const back = `/o/${slug}/people/${userId}`;
    if (form.text('as') === 'parent') {
      const change = async () => ({ changed: await this.payers.changeParent(organizationId, userId, named) });
      return this.operations.answer(
        organization,
        'PATCH /v1/parents/:parent_id',
        { parent_id: userId },
        change,
        back,
        'It was saved.',
      );
    }
    const billing = { ...named, ...billedIn(form) };
    const change = async () => ({ changed: await this.payers.changeStudent(organizationId, userId, billing) });
    return this.operations.answer(
      organization,
      'PATCH /v1/students/:student_id',
      { student_id: userId },
      change,
      back,
      'It was saved.',
    );
  }

  /** Whether they are reminded of invoices. */
  @Post('reminders')
  @ConfirmIdentity()
  spare(@Managing() organization: Managed, @Param('user_id') id: string): Promise<SeeOther> {
    const { organizationId, slug, form } = organization;
    const userId = pathId(id);
    const spared = form.text('reminded') === 'no';
    const change = async () => ({ changed: await this.payers.spare(organizationId, userId, spared) });
    const told = async (): Promise<string | SeeOther> => {
      const name = await this.people.nameOf(organization, userId);
      return spared
        ? `${name} is no longer reminded of invoices.`
        : `${name} is reminded of what comes due from now on.`;
    };
    const operation = spared ? 'stop reminders' : 'resume reminders';
    const back = `/o/${slug}/people/${userId}`;
    return this.operations.answer(organization, operation, { user_id: userId }, change, back, told);
  }
}

/** A student without parents is not asked. @throws PageError for a choice that the page does not offer */
function billedIn(form: Form): { self?: boolean; parentId?: string | null } {
  const billed = form.text('billed');
  if (billed === '') return {};
  if (billed === 'self') return { self: true };
  const parentId = billed === 'auto' ? null : canonicalUuid(billed);
  if (billed !== 'auto' && parentId === null) throw PageError.badForm();
  return { self: false, parentId };
}

function faultsOf(form: Form): Record<string, string> {
  return Object.fromEntries(
    Object.entries(LONGEST).flatMap(([field, longest]) => {
      const text = form.text(field);
      const fits = text === '' || (Array.from(text).length <= longest && !isBlank(text));
      return fits ? [] : [[field, `Enter up to ${longest} characters, or nothing.`]];
    }),
  );
}
