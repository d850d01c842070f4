import { Controller, Get } from '@nestjs/common';
import { type Caller, CurrentCaller, Documented, one, RequireScopes } from '../../../http/kit.js';
import { ReportsService } from './reports.service.js';
import { summaryView } from './reports.view.js';

@Controller('v1/reports')
export class ReportsController {
  constructor(private readonly reports: ReportsService) {}

  @Get('summary')
  @RequireScopes('read')
  @Documented({
    id: 'get_reports_summary',
    summary: 'Sums up the organization’s day and week',
    description: 'Days and weeks (from Monday) are those of the organization’s time zone; money is integer cents.',
    answer: one(summaryView),
  })
  getSummary(@CurrentCaller() caller: Caller) {
    return this.reports.getSummary(caller);
  }
}
