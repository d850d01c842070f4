import { Controller, Req, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import { Coverage, CoverageGaps } from '@app/enquiries';
import {
  type Caller, CurrentCaller, Documented, listController, one, Page, paged, Post, readController, RequireScopes, ValidQuery,
} from '../../../http/kit.js'; // prettier-ignore
import { CoverageGuard } from './coverage.guard.js';
import { COVERAGE, GapsQuery, RefreshQuery, SummaryQuery } from './coverage.queries.js';
import { CoverageService } from './coverage.service.js';
import { gapShape, refreshShape, summaryShape } from './coverage.view.js';

const SUMMARY = readController({
  id: 'get_coverage_summary',
  path: 'v1/coverage/summary',
  summary: 'Counts tutors by how they teach, and those who cover a postcode',
  description: 'Who teaches both ways counts in `in_person` and in `online`.',
  query: SummaryQuery,
  answer: one(summaryShape),
  rules: [Coverage],
  async run({ caller, query: { subject_id, subject = null, postcode = null } }, coverage) {
    const { subjectId, total, inPerson, online, coveringArea } = await coverage.summary(
      caller,
      subject_id ?? subject,
      postcode,
    );
    return { subject_id: subjectId, postcode, total, in_person: inPerson, online, covering_area: coveringArea };
  },
});

const GAPS = readController({
  id: 'list_coverage_gaps',
  path: 'v1/coverage/gaps',
  summary: 'Lists postcodes with requests and too few tutors, those with the most demand first',
  description:
    'From the booking requests of the last 180 days, by subject and by the postcode of the student’s default location. A gap has ' +
    'fewer than `min_tutors` tutors who teach the subject and cover the postcode.',
  query: GapsQuery,
  answer: paged(gapShape),
  rules: [CoverageGaps],
  async run({ caller, query: { subject_id, subject = null, min_tutors: minTutors, limit } }, coverage) {
    const gaps = await coverage.gaps(caller, { subject: subject_id ?? subject, minTutors, limit });
    const shown = gaps.map(({ postcode, suburb, subjectId, demandScore, requestCount, supplyCount }) =>
      JSON.stringify({
        postcode,
        suburb,
        subject_id: subjectId,
        demand_score: demandScore,
        request_count: requestCount,
        supply_count: supplyCount,
      }),
    );
    return new Page({ count: shown.length, data: shown.join(',') }, { limit, offset: 0, count: shown.length });
  },
});

/** The routing service is asked before the write begins: no declared write. */
@Controller('v1/coverage')
class CoverageController {
  constructor(private readonly coverage: CoverageService) {}

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

export const COVERAGE_CONTROLLERS = [listController(COVERAGE), SUMMARY, GAPS, CoverageController];
