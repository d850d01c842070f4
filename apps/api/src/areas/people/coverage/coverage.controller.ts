import { Controller, Get } from '@nestjs/common';
import {
  type Caller, CurrentCaller, Documented, one, paged, Post, RequireScopes, ValidQuery,
} from '../../../http/kit.js'; // prettier-ignore
import { GapsQuery, RefreshQuery, SummaryQuery } from './coverage.queries.js';
import { CoverageService } from './coverage.service.js';
import { gapShape, refreshShape, summaryShape } from './coverage.view.js';

@Controller('v1/coverage')
export class CoverageController {
  constructor(private readonly coverage: CoverageService) {}

  @Get('summary')
  @RequireScopes('read')
  @Documented({
    id: 'get_coverage_summary',
    summary: 'Counts tutors by how they teach, and those who cover a postcode',
    description: 'Who teaches both ways counts in `in_person` and in `online`.',
    answer: one(summaryShape),
  })
  summary(@CurrentCaller() caller: Caller, @ValidQuery(SummaryQuery) query: SummaryQuery) {
    return this.coverage.summary(caller, query);
  }

  @Get('gaps')
  @RequireScopes('read')
  @Documented({
    id: 'list_coverage_gaps',
    summary: 'Lists postcodes with requests and too few tutors, those with the most demand first',
    description:
      'From the booking requests of the last 180 days, by subject and by the postcode of the student’s default location. A gap has ' +
      'fewer than `min_tutors` tutors who teach the subject and cover the postcode.',
    answer: paged(gapShape),
  })
  gaps(@CurrentCaller() caller: Caller, @ValidQuery(GapsQuery) query: GapsQuery) {
    return this.coverage.gaps(caller, query);
  }

  @Post('isochrones/refresh', 200)
  @RequireScopes('write')
  @Documented({
    id: 'refresh_coverage_isochrones',
    summary: 'Recomputes how far tutors can drive',
    description:
      'This service has no routing service: `enabled` is false, and nothing is computed. Distances are great-circle.',
    answer: one(refreshShape),
  })
  refresh(@ValidQuery(RefreshQuery) _query: RefreshQuery) {
    return this.coverage.refresh();
  }
}
