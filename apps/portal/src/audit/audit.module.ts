import { Controller, Get, Module, Query, type StreamableFile } from '@nestjs/common';
import { ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { type Page, page } from '../web/pages.js';
import { Spreadsheets } from '../web/spreadsheets.js';
import { readFilters } from './audit.filters.js';
import type { AuditRow } from './audit.queries.js';
import { plain, refusalOf, whatOf, whoOf } from './audit-words.js';
import { AuditService, MOST_DOWNLOADED } from './audit.service.js';

type Query = Record<string, unknown>;

/** Who changed what in an organization, when, and from where. */
@Controller('o/:slug/audit')
@ForManagers()
class AuditController {
  constructor(
    private readonly audit: AuditService,
    private readonly spreadsheets: Spreadsheets,
  ) {}

  @Get()
  @InNavigation('Developers', 'Audit log', 5)
  async show(@Managing() organization: Managed, @Query() query: Query): Promise<Page> {
    const filters = readFilters(query);
    const { rows, older, ...choices } = await this.audit.page(organization, filters);
    const shown = rows.map((row) => ({ ...row, who: whoOf(row), what: whatOf(row), refusal: refusalOf(row) }));
    return page('audit/audit', { ...choices, filters, rows: shown, older, mostDownloaded: MOST_DOWNLOADED });
  }

  @Get('download')
  download(@Managing() organization: Managed, @Query() query: Query): Promise<StreamableFile> {
    const { slug, timeZone } = organization;
    const filters = readFilters(query);
    // `2026-12-06 19:07:31`, which spreadsheets read as a time.
    const time = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone });
    return this.spreadsheets.send(organization, {
      name: `audit-${slug}${filters.day ? `-${filters.day}` : ''}`,
      columns: COLUMNS,
      parts: cellsOf(this.audit.download(organization, filters), (at) => time.format(at)),
    });
  }
}

const COLUMNS = [
  'time', 'who', 'what', 'not_done_because', 'network', 'operation', 'request_id', 'person_id', 'api_key_id', 'times_in_that_hour',
]; // prettier-ignore

async function* cellsOf(parts: AsyncIterable<AuditRow[]>, timeOf: (at: Date) => string) {
  for await (const rows of parts) {
    yield rows.map((row) => ({
      time: timeOf(row.at),
      who: whoOf(row).text,
      what: plain(whatOf(row)),
      not_done_because: refusalOf(row),
      network: row.network,
      operation: row.operation,
      request_id: row.requestId,
      person_id: row.personId,
      api_key_id: row.keyId,
      times_in_that_hour: row.times,
    }));
  }
}

@Module({ controllers: [AuditController], providers: [AuditService] })
export class AuditModule {}
