import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { Invoices } from '@app/billing';
import { readFilter } from '../people/people.filter.js';
import { ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { positionText, queryOf, readPosition } from '../web/paging.js';
import { Ledger } from './ledger.js';
import { answered, type Errors } from '../web/answered.js';
import { readLines, ROWS, fieldOf } from './money-forms.js';

/** Makes drafts of invoices, beside those that lessons are added to. */
@Controller('o/:slug/money')
@ForManagers()
export class DraftsController {
  constructor(
    private readonly ledger: Ledger,
    private readonly operations: FormOperations,
    private readonly invoices: Invoices,
  ) {}

  /** Whom the invoice is for. */
  @Get('draft')
  async choose(@Managing() organization: Managed, @Query() asked: Record<string, unknown>): Promise<Page> {
    const [{ search }, after] = [readFilter({ search: asked.name }), readPosition(asked.after)];
    const { rows, next } = await this.ledger.students(organization, search, after);
    const more = next && queryOf({ name: search, after: positionText(next) });
    return page('money/choose-student', { students: rows, search, next: more, isFirst: after === null });
  }

  @Get('families/:user_id/draft')
  form(@Managing() organization: Managed, @Param('user_id') id: string): Promise<Page> {
    return this.shown(organization, pathId(id));
  }

  @Post('families/:user_id/draft')
  draft(@Managing() organization: Managed, @Param('user_id') id: string): Promise<Page | SeeOther> {
    const studentId = pathId(id);
    const lines = readLines(organization.form);
    const again = (errors: Errors) => this.shown(organization, studentId, errors);
    if ('errors' in lines) return again(lines.errors);
    const base = `/o/${organization.slug}/money`;
    return answered(
      this.operations.perform(organization, 'POST /v1/invoices', {}, async () => {
        const id = await this.invoices.create(organization.organizationId, studentId, lines.value);
        return { id, audit: { invoice_id: id } };
      }),
      {
        back: `${base}/families/${studentId}`,
        done: 'The draft was created. Nothing is owed until you issue it.',
        made: ({ id }) => `${base}/invoices/${id}`,
      },
      again,
      fieldOf,
    );
  }

  private async shown(organization: Managed, id: string, errors: Errors | null = null): Promise<Page> {
    const { payer, terms } = await this.ledger.payer(organization, id);
    if (payer.as !== 'student') throw PageError.notFound();
    const { form } = organization;
    const data = {
      ...{ student: payer, currency: terms.currency, rows: ROWS, errors: errors ?? {} },
      valueOf: (name: string, initial = '') => (errors ? form.text(name) : initial),
    };
    return page('money/draft', data, errors ? 422 : 200);
  }
}
