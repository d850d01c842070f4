import { Injectable } from '@nestjs/common';
import { Coverage } from '@app/enquiries';
import { Audit, type Caller, Page } from '../../../http/kit.js';
import type { GapsQuery, SummaryQuery } from './coverage.queries.js';

@Injectable()
export class CoverageService {
  constructor(
    private readonly coverage: Coverage,
    private readonly audit: Audit,
  ) {}

  async summary(caller: Caller, { subject, postcode }: SummaryQuery) {
    const found = await this.coverage.summary(caller, subject ?? null, postcode ?? null);
    const { subjectId, total, inPerson, online, coveringArea } = found;
    return {
      subject_id: subjectId,
      postcode: postcode ?? null,
      total,
      in_person: inPerson,
      online,
      covering_area: coveringArea,
    };
  }

  async gaps(caller: Caller, { subject, min_tutors: minTutors, limit }: GapsQuery): Promise<Page> {
    const gaps = await this.coverage.gaps(caller, { subject: subject ?? null, minTutors, limit });
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
  }

  /** Without a routing service there is nothing to compute. */
  refresh() {
    this.audit.note({ enabled: false });
    return { enabled: false, considered: 0, computed: 0, cached: 0, failed: 0 };
  }
}
