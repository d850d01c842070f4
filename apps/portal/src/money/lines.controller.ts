import { Controller, Get, Param, Post } from '@nestjs/common';
import { Invoices } from '@app/billing';
import { ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import type { Page, SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { InvoicePages } from './invoice-pages.js';
import { Ledger } from './ledger.js';
import { answered, type Errors } from '../web/answered.js';
import { readLine, fieldOf } from './money-forms.js';

/** Changes a line of a draft, on the draft's page. */
@Controller('o/:slug/money/lines/:line_id')
@ForManagers()
export class LinesController {
  constructor(
    private readonly ledger: Ledger,
    private readonly operations: FormOperations,
    private readonly invoices: Invoices,
    private readonly pages: InvoicePages,
  ) {}

  @Get()
  async show(@Managing() organization: Managed, @Param('line_id') id: string): Promise<Page> {
    const lineId = pathId(id);
    return this.pages.of(organization, await this.ledger.draftOf(organization, lineId), null, {}, lineId);
  }

  @Post()
  async change(@Managing() organization: Managed, @Param('line_id') id: string): Promise<Page | SeeOther> {
    const lineId = pathId(id);
    const invoiceId = await this.ledger.draftOf(organization, lineId);
    const line = readLine(organization.form);
    const again = (errors: Errors) => this.pages.of(organization, invoiceId, 'edit', errors, lineId);
    if ('errors' in line) return again(line.errors);
    const work = this.operations.perform(organization, 'change line', {}, async () => {
      await this.invoices.changeLine(organization.organizationId, invoiceId, lineId, line.value);
      return { audit: { invoice_id: invoiceId, line_id: lineId } };
    });
    const back = `/o/${organization.slug}/money/invoices/${invoiceId}`;
    return answered(work, { back, done: 'The line was changed.' }, again, fieldOf);
  }
}
