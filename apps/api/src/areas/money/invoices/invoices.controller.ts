import { Controller } from '@nestjs/common';
import {
  type Caller, CurrentCaller, Delete, Documented, one, PathId, Post, RequireScopes, ValidBody,
} from '../../../http/kit.js'; // prettier-ignore
import { AddLine, CreateInvoice, FinalizeInvoice, VoidInvoice } from './invoices.dto.js';
import { INVOICE } from './invoices.queries.js';
import { InvoicesService } from './invoices.service.js';

@Controller('v1/invoices')
export class InvoicesController {
  constructor(private readonly invoices: InvoicesService) {}

  @Post()
  @RequireScopes('payments:write')
  @Documented({
    id: 'create_invoice',
    summary: 'Drafts an invoice',
    description: 'Beside the draft that collects what lessons cost. A draft has no number, and nobody owes it yet.',
    answer: one(INVOICE.view),
    example: {
      student_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
      lines: [{ description: 'Printed past papers', quantity: 2, unit_amount_cents: 1200 }],
    },
  })
  create(@CurrentCaller() caller: Caller, @ValidBody(CreateInvoice) body: CreateInvoice) {
    return this.invoices.create(caller, body);
  }

  @Post(':invoice_id/lines')
  @RequireScopes('payments:write')
  @Documented({
    id: 'add_invoice_line',
    summary: 'Adds a line to a draft',
    description: 'A negative amount is a discount. An invoice that has been issued is a 409.',
    answer: one(INVOICE.view),
    example: { description: 'Sibling discount', unit_amount_cents: -1500 },
    conflicts: ['invalid_state'],
  })
  addLine(@CurrentCaller() caller: Caller, @PathId('invoice_id') id: string, @ValidBody(AddLine) body: AddLine) {
    return this.invoices.addLine(caller, id, body);
  }

  @Delete(':invoice_id/lines/:line_id', 204)
  @RequireScopes('payments:write')
  @Documented({
    id: 'remove_invoice_line',
    summary: 'Removes a line from a draft',
    description: 'An invoice that has been issued is a 409.',
    answer: null,
    conflicts: ['invalid_state'],
  })
  removeLine(@CurrentCaller() caller: Caller, @PathId('invoice_id') id: string, @PathId('line_id') lineId: string) {
    return this.invoices.removeLine(caller, id, lineId);
  }

  @Post(':invoice_id/finalize', 200)
  @RequireScopes('payments:write')
  @Documented({
    id: 'finalize_invoice',
    summary: 'Issues an invoice',
    description:
      'It gets the organization’s next number and a due date, and credit pays it at once; one of zero is paid. An invoice ' +
      'without lines, or with a sum below zero, is a 409. Again: unchanged; with another due date, a 409.',
    answer: one(INVOICE.view),
    example: { due_date: '2027-03-15' },
    conflicts: ['invalid_state'],
  })
  finalize(
    @CurrentCaller() caller: Caller,
    @PathId('invoice_id') id: string,
    @ValidBody(FinalizeInvoice) body: FinalizeInvoice,
  ) {
    return this.invoices.finalize(caller, id, body);
  }

  @Post(':invoice_id/void', 200)
  @RequireScopes('payments:write')
  @Documented({
    id: 'void_invoice',
    summary: 'Takes an open invoice back',
    description:
      'What has been paid of it becomes credit, which pays what else is open. With `rebill`, its lines go to the student’s ' +
      'collecting draft. Drafts and paid invoices are a 409. Again: unchanged.',
    answer: one(INVOICE.view),
    example: { rebill: true },
    conflicts: ['invalid_state'],
  })
  void(@CurrentCaller() caller: Caller, @PathId('invoice_id') id: string, @ValidBody(VoidInvoice) body: VoidInvoice) {
    return this.invoices.void(caller, id, body);
  }
}
