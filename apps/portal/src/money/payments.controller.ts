import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { Payments } from '@app/billing';
import { parseDate } from '@app/database';
import { ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { Ledger } from './ledger.js';
import { answered, type Errors } from '../web/answered.js';
import { doubtOf, PAYMENT_TYPES, readPayment, readReason, readRefund, fieldOf } from './money-forms.js';
import { moneyWords } from './money-words.js';
import { PaperLinks } from './paper-links.js';

/** The longest statement. */
const MOST_DAYS = 366;
const DAY_MS = 86_400_000;

/** What families owe and have paid, and their payments. */
@Controller('o/:slug/money')
@ForManagers()
export class PaymentsController {
  constructor(
    private readonly ledger: Ledger,
    private readonly operations: FormOperations,
    private readonly payments: Payments,
    private readonly papers: PaperLinks,
  ) {}

  @Get('families/:user_id')
  family(@Managing() organization: Managed, @Param('user_id') id: string): Promise<Page> {
    return this.familyPage(organization, pathId(id));
  }

  /** Money that pays what is due first, or becomes credit. */
  @Post('families/:user_id/pay')
  async pay(@Managing() organization: Managed, @Param('user_id') id: string): Promise<Page | SeeOther> {
    const userId = pathId(id);
    const read = readPayment(organization.form);
    const again = (errors: Errors) => this.familyPage(organization, userId, errors);
    if ('errors' in read) return again(read.errors);
    const { payer, balance, terms } = await this.ledger.family(organization, userId);
    const doubt = doubtOf(organization.form, read.value.amountCents, balance.open, moneyWords(terms.currency).money);
    if (doubt) return again(doubt);
    const received = {
      ...read.value,
      ...{ invoiceId: null, sessionId: null, currency: null },
      payer: payer.as === 'student' ? { studentId: userId } : { parentId: userId },
    };
    const to = { back: `/o/${organization.slug}/money/families/${userId}`, done: 'The payment was recorded.' };
    const work = this.operations.perform(organization, 'POST /v1/payments', {}, async () => {
      return { audit: { payment_id: await this.payments.record(organization.organizationId, received) } };
    });
    return answered(work, to, again, fieldOf);
  }

  @Get('payments/:payment_id')
  payment(@Managing() organization: Managed, @Param('payment_id') id: string): Promise<Page> {
    return this.paymentPage(organization, pathId(id));
  }

  @Get('payments/:payment_id/receipt')
  receipt(@Managing() organization: Managed, @Param('payment_id') id: string): Promise<SeeOther> {
    return this.papers.lead(organization, 'receipt', pathId(id));
  }

  @Get('families/:user_id/statement')
  async statement(
    @Managing() organization: Managed,
    @Param('user_id') id: string,
    @Query() { from, to }: Record<string, unknown>,
  ): Promise<SeeOther> {
    const userId = pathId(id);
    const [first, last] = [from, to].map((day) => (typeof day === 'string' ? parseDate(day)?.at : null));
    const wrong = !first || !last || last < first || +last - +first > MOST_DAYS * DAY_MS;
    if (wrong) {
      await this.ledger.family(organization, userId);
      const words = `Choose two days, at most ${MOST_DAYS} apart.`;
      return seeOther(`/o/${organization.slug}/money/families/${userId}`, 'notice', words);
    }
    return this.papers.lead(organization, 'statement', userId, { from: String(from), to: String(to) });
  }

  @Post('payments/:payment_id/refund')
  async refund(@Managing() organization: Managed, @Param('payment_id') id: string): Promise<Page | SeeOther> {
    const paymentId = pathId(id);
    const read = readRefund(organization.form);
    const again = (errors: Errors) => this.paymentPage(organization, paymentId, errors);
    if ('errors' in read) return again(read.errors);
    const { payment, terms } = await this.ledger.payment(organization, paymentId);
    const left = payment.amount - payment.refunded;
    // In the words of this page: the rule speaks of cents.
    if (payment.status === 'succeeded' && read.value > left)
      return again({ amount: `Only ${moneyWords(terms.currency).money(left)} of it is left.` });
    const to = { back: `/o/${organization.slug}/money/payments/${paymentId}`, done: 'The refund was recorded.' };
    const ids = { payment_id: paymentId };
    const work = this.operations.perform(organization, 'POST /v1/payments/:payment_id/refund', ids, () =>
      this.payments.refund(organization.organizationId, paymentId, read.value),
    );
    return answered(work, to, again, fieldOf);
  }

  /** A payment that was entered by mistake. */
  @Post('payments/:payment_id/void')
  async takeBack(@Managing() organization: Managed, @Param('payment_id') id: string): Promise<Page | SeeOther> {
    const paymentId = pathId(id);
    const read = readReason(organization.form);
    const again = (errors: Errors) => this.paymentPage(organization, paymentId, errors);
    if ('errors' in read) return again(read.errors);
    const to = { back: `/o/${organization.slug}/money/payments/${paymentId}`, done: 'The payment was taken back.' };
    const ids = { payment_id: paymentId };
    const work = this.operations.perform(organization, 'POST /v1/payments/:payment_id/void', ids, () =>
      this.payments.void(organization.organizationId, paymentId, read.value),
    );
    return answered(work, to, again, fieldOf);
  }

  private async familyPage(organization: Managed, id: string, errors: Errors | null = null): Promise<Page> {
    const found = await this.ledger.family(organization, id);
    return page(
      'money/family',
      { ...found, ...formOf(organization, found.terms.currency, errors) },
      errors ? 422 : 200,
    );
  }

  private async paymentPage(organization: Managed, id: string, errors: Errors | null = null): Promise<Page> {
    const found = await this.ledger.payment(organization, id);
    return page(
      'money/payment',
      { ...found, ...formOf(organization, found.terms.currency, errors) },
      errors ? 422 : 200,
    );
  }
}

/** What the page's form shows: what was typed, if it is wrong, or else what it begins with. */
function formOf({ form }: Managed, currency: string, errors: Errors | null) {
  return {
    ...moneyWords(currency),
    types: PAYMENT_TYPES,
    errors: errors ?? {},
    valueOf: (name: string, initial = '') => (errors ? form.text(name) : initial),
  };
}
