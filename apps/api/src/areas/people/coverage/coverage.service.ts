import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { type Computed, Isochrones } from '@app/enquiries';
import { Log } from '@app/logging';
import { Audit, type Caller, whileWaiting } from '../../../http/kit.js';
import type { RefreshQuery } from './coverage.queries.js';

/** What the routing service said, about how many tutors. */
export type Refreshed = Computed & { considered: number; cached: number };

@Injectable()
export class CoverageService {
  constructor(
    private readonly isochrones: Isochrones,
    private readonly log: Log,
    private readonly audit: Audit,
  ) {}

  /** Asks the routing service before the write begins. Null without one. */
  async ask(request: Request, { subject_id, subject, minutes }: RefreshQuery): Promise<Refreshed | null> {
    if (!this.isochrones.enabled) return null;
    const caller = request.caller!;
    const plan = await this.isochrones.plan(caller, subject_id ?? subject ?? null, minutes);
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
