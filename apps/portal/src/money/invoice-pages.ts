import { Injectable } from '@nestjs/common';
import { operationInWords } from '@app/audit';
import { inWords } from '@app/jobs';
import type { Managed } from '../web/access.decorators.js';
import { type Page, page } from '../web/pages.js';
import { Ledger } from './ledger.js';
import type { Errors } from '../web/answered.js';
import { PAYMENT_TYPES } from './money-forms.js';
import { moneyWords } from './money-words.js';

/** The forms of an invoice's page. */
export type InvoiceForm = 'edit' | 'finalize' | 'line' | 'pay' | 'send' | 'void' | 'write-off';

/** The page of an invoice, with its forms. */
@Injectable()
export class InvoicePages {
  constructor(private readonly ledger: Ledger) {}

  /** @param form the one that was sent, and is wrong @param edited a line of a draft that is being changed */
  async of(
    organization: Managed,
    id: string,
    form: InvoiceForm | null = null,
    errors: Errors = {},
    edited: string | null = null,
  ): Promise<Page> {
    const { history, mail, ...found } = await this.ledger.invoice(organization, id);
    const credited = history.find((row) => row.credited !== null) ?? null;
    const typed = (name: string) => organization.form.text(name);
    const data = {
      ...found,
      ...moneyWords(found.terms.currency),
      ...{ edited, credited },
      mail: mail && { ...mail, reason: mail.problem && inWords(mail.problem) },
      history: history.map(({ operation, ...row }) => ({ ...row, what: operationInWords(operation) ?? operation })),
      types: PAYMENT_TYPES,
      errorsOf: (one: InvoiceForm) => (one === form ? errors : {}),
      // What somebody typed into the form that is wrong, or else what it begins with.
      valueOf: (one: InvoiceForm, name: string, initial = '') => (one === form ? typed(name) : initial),
    };
    return page('money/invoice', data, form ? 422 : 200);
  }
}
