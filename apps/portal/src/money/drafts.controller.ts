import { randomUUID } from 'node:crypto';
import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { readFilter } from '../people/people.filter.js';
import { ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { placeText, queryOf, readPlace } from '../web/place.js';
import { Bookkeeping } from './bookkeeping.js';
import { Ledger } from './ledger.js';
import { answered, type Errors, readLines, ROWS, tokenOf } from './money-forms.js';

/** Makes drafts of invoices, beside those that lessons are added to. */
@Controller('o/:slug/money')
@ForManagers()
export class DraftsController {
  constructor(
    private readonly ledger: Ledger,
    private readonly books: Bookkeeping,
  ) {}

  /** Whom the invoice is for. */
  @Get('draft')
  async choose(@Managing() organization: Managed, @Query() asked: Record<string, unknown>): Promise<Page> {
    const [{ search }, after] = [readFilter({ search: asked.name }), readPlace(asked.after)];
    const { rows, next } = await this.ledger.students(organization, search, after);
    const more = next && queryOf({ name: search, after: placeText(next) });
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
      this.books.draft(organization, tokenOf(organization.form), studentId, lines.value),
      {
        back: `${base}/families/${studentId}`,
        done: 'The draft was made. Nobody owes it until you issue it.',
        made: ({ invoice_id: invoiceId }) => `${base}/invoices/${invoiceId}`,
      },
      again,
    );
  }

  private async shown(organization: Managed, id: string, errors: Errors | null = null): Promise<Page> {
    const { payer, terms } = await this.ledger.payer(organization, id);
    if (payer.as !== 'student') throw PageError.notFound();
    const { form } = organization;
    const data = {
      ...{ student: payer, currency: terms.currency, rows: ROWS, errors: errors ?? {} },
      token: errors ? tokenOf(form) : randomUUID(),
      valueOf: (name: string, initial = '') => (errors ? form.text(name) : initial),
    };
    return page('money/draft', data, errors ? 422 : 200);
  }
}
