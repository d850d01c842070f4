import { Controller, Get, Req, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import {
  type Caller, CurrentCaller, Documented, one, paged, Post, RequireScopes, ValidQuery,
} from '../../../http/kit.js'; // prettier-ignore
import { CoverageGuard } from './coverage.guard.js';
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
  @UseGuards(CoverageGuard)
  @Documented({
    id: 'refresh_coverage_isochrones',
    summary: 'Computes how far tutors can drive',
    description:
      'Asks the routing service of this installation how long the drives are from where tutors live to the places that they could ' +
      'reach within `minutes`: `road_km` and `road_minutes` of recommended tutors. Without a routing service `enabled` is false and ' +
      'nothing is computed. `considered` are the tutors who teach in person and whose postcode is known; `cached` those of them ' +
      'whose drives were computed in the last 30 days, which are not computed again; `computed` those whose drives are new. The ' +
      'others are `failed`: the routing service did not answer for them, or there was no time left. One request asks for at most ' +
      '20 postcodes and takes a few seconds: repeat it while it computes any.',
    answer: one(refreshShape),
  })
  refresh(
    @CurrentCaller() caller: Caller,
    @Req() { refreshed }: Request,
    @ValidQuery(RefreshQuery) _query: RefreshQuery,
  ) {
    return this.coverage.refresh(caller, refreshed ?? null);
  }
}
