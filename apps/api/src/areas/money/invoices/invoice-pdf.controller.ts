import { Controller, Get, HttpCode, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Papers } from '@app/papers';
import { type Caller, CurrentCaller, Documented, PathId, RequireScopes } from '../../../http/kit.js';

@Controller('v1/invoices/:invoice_id/pdf')
export class InvoicePdfController {
  constructor(private readonly papers: Papers) {}

  @Get()
  @HttpCode(302)
  @RequireScopes('read')
  @Documented({
    id: 'get_invoice_pdf',
    summary: 'Leads to an invoice on paper',
    description:
      'A redirect (302) to an address that serves the PDF for 15 minutes, as long as this key works. It needs no key of its own: do not pass it on. ' +
      'The paper is the invoice as it was issued, without payments; it is made when it is first asked for, and its bytes stay the same from then on. ' +
      'A draft is a 409. Once its student or payer was erased, only owners are shown it, in the portal: 404.',
    answer: null,
    conflicts: ['invalid_state'],
  })
  async lead(
    @CurrentCaller() { organizationId, keyId }: Caller,
    @PathId('invoice_id') id: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    response.location(await this.papers.of(organizationId, 'key', keyId, id));
  }
}
