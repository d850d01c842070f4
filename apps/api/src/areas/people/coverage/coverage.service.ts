import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { type Computed, Coverage, Isochrones } from '@app/enquiries';
import { Log } from '@app/logging';
import { Audit, type Caller, Page, whileWaiting } from '../../../http/kit.js';
import type { GapsQuery, RefreshQuery, SummaryQuery } from './coverage.queries.js';

/** What the routing service said, about how many tutors. */
export type Refreshed = Computed & { considered: number; cached: number };

@Injectable()
export class CoverageService {
  constructor(
    private readonly coverage: Coverage,
    private readonly isochrones: Isochrones,
    private readonly log: Log,
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

  /** Asks the routing service before the write begins. Null without one. */
  async ask(request: Request, { subject, minutes }: RefreshQuery): Promise<Refreshed | null> {
    if (!this.isochrones.enabled) return null;
    const caller = request.caller!;
    const plan = await this.isochrones.plan(caller, subject ?? null, minutes);
    const found = await whileWaiting(request, () => this.isochrones.compute(caller.organizationId, plan));
    if (found.problem) this.log.failure(found.problem, request.id, 'routing_failed');
    return { ...found, considered: plan.considered, cached: plan.cached };
  }

  async refresh({ organizationId }: Caller, refreshed: Refreshed | null) {
    if (refreshed) await this.isochrones.keep(organizationId, refreshed.isochrones);
    const { considered, computed, cached, failed } = refreshed ?? { considered: 0, computed: 0, cached: 0, failed: 0 };
    const result = { enabled: refreshed !== null, considered, computed, cached, failed };
    this.audit.note(result);
    return result;
  }
}
