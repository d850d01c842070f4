import { Controller, Get, Module, Param, Post } from '@nestjs/common';
import { Env } from '@app/config';
import { ExportLinks, Exports, ExportsModule as Rules } from '@app/exports';
import { ConfirmIdentity, ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, type SeeOther, seeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';

const BEING_PREPARED = 'The export is being prepared. All owners will be mailed when it can be downloaded.';
const CALLED_OFF = 'The export was called off. If there was a file, it is deleted.';

/** Only owners take all data along. */
function asOwner(organization: Managed): Managed {
  if (organization.role !== 'owner') throw PageError.notFound();
  return organization;
}

/** Exports of all data of an organization. */
@Controller('o/:slug/exports')
@ForManagers()
class ExportsController {
  constructor(
    private readonly operations: FormOperations,
    private readonly exports: Exports,
    private readonly links: ExportLinks,
    private readonly env: Env,
  ) {}

  @Get()
  @InNavigation('Settings', 'Export', 9)
  async show(@Managing() { organizationId, role }: Managed): Promise<Page> {
    return page('exports/exports', { owner: role === 'owner', exports: await this.exports.list(organizationId) });
  }

  @Post()
  @ConfirmIdentity()
  order(@Managing() organization: Managed): Promise<SeeOther> {
    const { organizationId, slug, by } = asOwner(organization);
    return this.operations.answer(
      organization,
      'order_export',
      {},
      async () => ({ audit: { export_id: await this.exports.order(organizationId, by.userId) } }),
      `/o/${slug}/exports`,
      BEING_PREPARED,
    );
  }

  @Post(':export_id/prepare')
  @ConfirmIdentity()
  confirm(@Managing() organization: Managed, @Param('export_id') id: string): Promise<SeeOther> {
    return this.decide(organization, 'confirm_export', id, BEING_PREPARED, (exportId) =>
      this.exports.confirm(organization.organizationId, organization.by.userId, exportId),
    );
  }

  @Post(':export_id/call-off')
  @ConfirmIdentity()
  callOff(@Managing() organization: Managed, @Param('export_id') id: string): Promise<SeeOther> {
    return this.decide(organization, 'call_off_export', id, CALLED_OFF, (exportId) =>
      this.exports.callOff(organization.organizationId, exportId),
    );
  }

  /** Leads to the file, which the API serves for 15 minutes, to this person. */
  @Get(':export_id/file')
  @ConfirmIdentity('/o/:slug/exports')
  async download(@Managing() organization: Managed, @Param('export_id') id: string): Promise<SeeOther> {
    const { organizationId, by } = asOwner(organization);
    return seeOther(this.env.apiUrl + (await this.links.of(organizationId, by.userId, pathId(id))));
  }

  private decide(
    organization: Managed,
    operation: 'confirm_export' | 'call_off_export',
    id: string,
    told: string,
    run: (exportId: string) => Promise<boolean>,
  ): Promise<SeeOther> {
    const { slug } = asOwner(organization);
    const exportId = pathId(id);
    const change = async () => ({ changed: await run(exportId), audit: { export_id: exportId } });
    return this.operations.answer(organization, operation, {}, change, `/o/${slug}/exports`, told);
  }
}

@Module({ imports: [Rules], controllers: [ExportsController] })
export class ExportsModule {}
