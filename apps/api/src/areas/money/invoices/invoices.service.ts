import { Injectable } from '@nestjs/common';
import { Invoices } from '@app/billing';
import { Audit, type Caller, type JsonText, Records } from '../../../http/kit.js';
import { type AddLine, type CreateInvoice, type FinalizeInvoice, lineOf, type VoidInvoice } from './invoices.dto.js';
import { INVOICE } from './invoices.queries.js';

@Injectable()
export class InvoicesService {
  constructor(
    private readonly records: Records,
    private readonly invoices: Invoices,
    private readonly audit: Audit,
  ) {}

  async create(caller: Caller, { student_id: studentId, lines }: CreateInvoice): Promise<JsonText> {
    return this.written(caller, await this.invoices.create(caller.organizationId, studentId, lines.map(lineOf)));
  }

  async addLine(caller: Caller, id: string, body: AddLine): Promise<JsonText> {
    await this.invoices.addLine(caller.organizationId, id, lineOf(body));
    return this.written(caller, id);
  }

  async removeLine(caller: Caller, id: string, lineId: string): Promise<void> {
    await this.invoices.removeLine(caller.organizationId, id, lineId);
    this.audit.note({ invoice_id: id, line_id: lineId });
  }

  async finalize(caller: Caller, id: string, { due_date: dueDate = null }: FinalizeInvoice): Promise<JsonText> {
    return this.written(caller, id, await this.invoices.finalize(caller.organizationId, id, dueDate));
  }

  async void(caller: Caller, id: string, { rebill = null }: VoidInvoice): Promise<JsonText> {
    const voided = await this.invoices.void(caller.organizationId, id, rebill);
    if (voided) this.audit.note({ rebill: rebill ?? false });
    return this.written(caller, id, voided);
  }

  private written(caller: Caller, id: string, changed = true): Promise<JsonText> {
    this.audit.note({ invoice_id: id }, changed);
    return this.records.written(caller, INVOICE, id);
  }
}
