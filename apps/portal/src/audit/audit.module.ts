import { Controller, Get, Module, Query, StreamableFile } from '@nestjs/common';
import { ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { type Page, page } from '../web/pages.js';
import { auditCsv } from './audit-csv.js';
import { readFilters } from './audit.filters.js';
import { refusalOf, whatOf, whoOf } from './audit-words.js';
import { AuditService, MOST_DOWNLOADED } from './audit.service.js';

type Query = Record<string, unknown>;

/** Who changed what in an organization, when, and from where. */
@Controller('o/:slug/audit')
@ForManagers()
class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Get()
  @InNavigation({ label: 'Audit', summary: 'Who changed what, when, and from where.', order: 60 })
  async show(@Managing() organization: Managed, @Query() query: Query): Promise<Page> {
    const filters = readFilters(query);
    const { rows, older, ...choices } = await this.audit.page(organization, filters);
    const shown = rows.map((row) => ({ ...row, who: whoOf(row), what: whatOf(row), refusal: refusalOf(row) }));
    return page('audit/audit', { ...choices, filters, rows: shown, older, mostDownloaded: MOST_DOWNLOADED });
  }

  @Get('download')
  download(@Managing() organization: Managed, @Query() query: Query): StreamableFile {
    const { slug, timeZone, request } = organization;
    const filters = readFilters(query);
    const csv = auditCsv(this.audit.download(organization, filters), timeZone);
    // Reads no further once the client has left.
    request.res!.once('close', () => csv.destroy());
    const file = new StreamableFile(csv, {
      type: 'text/csv; charset=utf-8',
      disposition: `attachment; filename="audit-${slug}${filters.day ? `-${filters.day}` : ''}.csv"`,
    });
    // A file that ended early would look complete.
    return file.setErrorHandler((_error, response) => response.destroy?.());
  }
}

@Module({ controllers: [AuditController], providers: [AuditService] })
export class AuditModule {}
