import { Controller, Get, Param, Post } from '@nestjs/common';
import type { Result } from '@app/audit';
import { Invoices, Payments } from '@app/billing';
import { ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import type { Page, SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { type InvoiceForm, InvoicePages } from './invoice-pages.js';
import { Ledger } from './ledger.js';
import { moneyIn } from './amounts.js';
import { answered, type Errors } from '../web/answered.js';
import { doubtOf, readDueDate, readLine, readPayment, fieldOf } from './money-forms.js';
import { PaperLinks } from './paper-links.js';

/** Invoices, and what is done about them. */
@Controller('o/:slug/money')
@ForManagers()
export class InvoicesController {
  constructor(
    private readonly ledger: Ledger,
    private readonly operations: FormOperations,
    private readonly invoices: Invoices,
    private readonly payments: Payments,
    private readonly papers: PaperLinks,
    private readonly pages: InvoicePages,
  ) {}

  @Get('invoices/:invoice_id')
  show(@Managing() organization: Managed, @Param('invoice_id') id: string): Promise<Page> {
    return this.pages.of(organization, pathId(id));
  }

  /** Leads to the paper, which the API serves for 15 minutes to this person. */
  @Get('invoices/:invoice_id/pdf')
  pdf(@Managing() organization: Managed, @Param('invoice_id') id: string): Promise<SeeOther> {
    return this.papers.lead(organization, 'invoice', pathId(id));
  }

  @Get('invoices/:invoice_id/adjustment-note')
  note(@Managing() organization: Managed, @Param('invoice_id') id: string): Promise<SeeOther> {
    return this.papers.lead(organization, 'adjustmentNote', pathId(id));
  }

  @Post('invoices/:invoice_id/finalize')
  finalize(@Managing() organization: Managed, @Param('invoice_id') id: string): Promise<Page | SeeOther> {
    const due = readDueDate(organization.form);
    const send = organization.form.text('send') === 'yes';
    const done = send ? 'The invoice was issued, and goes out by email.' : 'The invoice was issued.';
    return this.done(organization, pathId(id), 'finalize', done, due, (ids, dueDate) =>
      this.operations.perform(organization, 'POST /v1/invoices/:invoice_id/finalize', ids, () =>
        this.invoices.finalize(organization.organizationId, ids.invoice_id, dueDate, send),
      ),
    );
  }

  @Post('invoices/:invoice_id/send')
  send(@Managing() organization: Managed, @Param('invoice_id') id: string): Promise<Page | SeeOther> {
    return this.done(organization, pathId(id), 'send', 'The invoice goes out by email.', { value: null }, (ids) =>
      this.operations.perform(organization, 'POST /v1/invoices/:invoice_id/send', ids, () =>
        this.invoices.send(organization.organizationId, ids.invoice_id),
      ),
    );
  }

  @Post('invoices/:invoice_id/add-line')
  addLine(@Managing() organization: Managed, @Param('invoice_id') id: string): Promise<Page | SeeOther> {
    const line = readLine(organization.form);
    return this.done(organization, pathId(id), 'line', 'The line was added.', line, (ids, value) =>
      this.operations.perform(organization, 'POST /v1/invoices/:invoice_id/lines', ids, () =>
        this.invoices.addLine(organization.organizationId, ids.invoice_id, value),
      ),
    );
  }

  @Post('invoices/:invoice_id/remove-line')
  removeLine(@Managing() organization: Managed, @Param('invoice_id') id: string): Promise<Page | SeeOther> {
    const line = { value: pathId(organization.form.text('line_id')) };
    return this.done(organization, pathId(id), 'line', 'The line was removed.', line, ({ invoice_id }, line_id) =>
      this.operations.perform(
        organization,
        'DELETE /v1/invoices/:invoice_id/lines/:line_id',
        { invoice_id, line_id },
        () => this.invoices.removeLine(organization.organizationId, invoice_id, line_id),
      ),
    );
  }

  @Post('invoices/:invoice_id/void')
  void(@Managing() organization: Managed, @Param('invoice_id') id: string): Promise<Page | SeeOther> {
    // An old page of a void invoice asks for nothing else by a box that was not ticked.
    const box = { value: organization.form.text('rebill') === 'yes' || null };
    return this.done(organization, pathId(id), 'void', 'The invoice was voided.', box, (ids, rebill) =>
      this.operations.perform(organization, 'POST /v1/invoices/:invoice_id/void', ids, () =>
        this.invoices.void(organization.organizationId, ids.invoice_id, rebill),
      ),
    );
  }

  @Post('invoices/:invoice_id/write-off')
  writeOff(@Managing() organization: Managed, @Param('invoice_id') id: string): Promise<Page | SeeOther> {
    return this.done(organization, pathId(id), 'write-off', 'The invoice was written off.', { value: null }, (ids) =>
      this.operations.perform(organization, 'POST /v1/invoices/:invoice_id/write-off', ids, () =>
        this.invoices.writeOff(organization.organizationId, ids.invoice_id),
      ),
    );
  }

  @Post('invoices/:invoice_id/pay')
  async pay(@Managing() organization: Managed, @Param('invoice_id') id: string): Promise<Page | SeeOther> {
    const invoiceId = pathId(id);
    const { invoice, parents, terms } = await this.ledger.invoice(organization, invoiceId);
    const payerId = organization.form.text('payer') || invoice.student_id;
    if (![invoice.student_id, ...parents.map((one) => one.id)].includes(payerId)) throw PageError.notFound();
    const payer = payerId === invoice.student_id ? { studentId: payerId } : { parentId: payerId };
    const payment = readPayment(organization.form);
    const due = invoice.due - invoice.paid;
    const doubt =
      'value' in payment && doubtOf(organization.form, payment.value.amountCents, due, moneyIn(terms.currency));
    return this.done(
      organization,
      invoiceId,
      'pay',
      'The payment was recorded.',
      doubt ? { errors: doubt } : payment,
      (ids, value) =>
        this.operations.perform(organization, 'POST /v1/payments', {}, async () => {
          const received = { ...value, payer, invoiceId, currency: null, sessionId: null };
          return { audit: { payment_id: await this.payments.record(organization.organizationId, received), ...ids } };
        }),
    );
  }

  private done<T>(
    organization: Managed,
    id: string,
    form: InvoiceForm,
    done: string,
    read: { value: T } | { errors: Errors },
    work: (ids: { invoice_id: string }, value: T) => Promise<Result | null>,
  ): Promise<Page | SeeOther> {
    const again = (errors: Errors) => this.pages.of(organization, id, form, errors);
    if ('errors' in read) return again(read.errors);
    const back = `/o/${organization.slug}/money/invoices/${id}`;
    return answered(work({ invoice_id: id }, read.value), { back, done }, again, fieldOf);
  }
}
