import { Controller, Get } from '@nestjs/common';
import { ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { type Page, page } from '../web/pages.js';
import { monthsUntil } from './months.js';

/** What came in and was taught, month by month. */
@Controller('o/:slug/money/reports')
@ForManagers()
export class ReportsController {
  @Get()
  @InNavigation('Money', 'Reports', 7)
  show(@Managing() { timeZone }: Managed): Page {
    return page('money/reports', { months: monthsUntil(new Date(), timeZone) });
  }
}
