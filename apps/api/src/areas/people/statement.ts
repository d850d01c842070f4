import { Controller, Get, HttpCode, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Papers } from '@app/papers';
import {
  type Caller, CurrentCaller, dayIn, days, Documented, PathId, queryOf, RequireScopes, ValidQuery,
} from '../../http/kit.js'; // prettier-ignore

const MOST_DAYS = 366;

const StatementQuery = queryOf(
  days(MOST_DAYS, { from: 'The first day.', to: `The last day, at most ${MOST_DAYS} days later.` }),
);

@Controller('v1/parents/:parent_id/statement.pdf')
export class StatementController {
  constructor(private readonly papers: Papers) {}

  @Get()
  @HttpCode(302)
  @RequireScopes('read')
  @Documented({
    id: 'get_parent_statement',
    summary: 'Leads to a parent’s statement of a period',
    description:
      'A redirect (302) to an address that serves the PDF for 15 minutes, as long as this key works. It needs no key of its own: do not pass it on. ' +
      'It lists what was billed to this parent and what they have paid, with the balance before, after each and at the end: less than nothing is credit. ' +
      'It is drawn anew each time, as things are then: void invoices are not on it, and a payment says what of it went back. Nobody else who pays is named.',
    answer: null,
  })
  async lead(
    @CurrentCaller() caller: Caller,
    @PathId('parent_id') id: string,
    @ValidQuery(StatementQuery) { from, to }: InstanceType<typeof StatementQuery>,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    const { organizationId, keyId, organization } = caller;
    const asked = { organizationId, id, reader: 'key', readerId: keyId } as const;
    const period = { from: dayIn(from, organization.timeZone), to: dayIn(to, organization.timeZone) };
    response.location(await this.papers.of('statement', asked, period));
  }
}
