import { Controller, Get, Post, Query } from '@nestjs/common';
import { Retention } from '@app/erasure';
import { ConfirmIdentity, ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, type SeeOther } from '../web/pages.js';

/** Where owners decide which old records are deleted, and first see what would go. */
@Controller('o/:slug/settings/retention')
@ForManagers()
@ConfirmIdentity()
export class RetentionController {
  constructor(
    private readonly retention: Retention,
    private readonly operations: FormOperations,
  ) {}

  @Get()
  async show(@Managing() organization: Managed, @Query() query: Record<string, unknown>): Promise<Page> {
    const { organizationId } = asOwner(organization);
    const asked = { kind: String(query.kind), months: String(query.months) };
    return page('settings/retention', { kinds: await this.retention.list(organizationId, asked) });
  }

  @Post('on')
  switchOn(@Managing() organization: Managed): Promise<SeeOther> {
    const { organizationId, slug, form } = asOwner(organization);
    const [kind, months] = [form.text('kind'), form.text('months')];
    const change = () => this.retention.switchOn(organizationId, kind, months);
    const told = 'Saved. What is older is deleted within the hour.';
    return this.operations.answer(organization, 'switch on retention', {}, change, pageOf(slug), told);
  }

  @Post('off')
  switchOff(@Managing() organization: Managed): Promise<SeeOther> {
    const { organizationId, slug, form } = asOwner(organization);
    const change = () => this.retention.switchOff(organizationId, form.text('kind'));
    const told = 'Saved. Nothing more of it is deleted.';
    return this.operations.answer(organization, 'switch off retention', {}, change, pageOf(slug), told);
  }
}

const pageOf = (slug: string) => `/o/${slug}/settings/retention`;

function asOwner(organization: Managed): Managed {
  if (organization.role !== 'owner') throw PageError.notFound();
  return organization;
}
