import { Controller } from '@nestjs/common';
import { type Caller, CurrentCaller, Documented, one, PathId, Post, RequireScopes } from '../../../http/kit.js';
import { ClaimDecisions } from '../claims.js';
import { MILEAGE } from './mileage.queries.js';

@Controller('v1/mileage')
export class MileageController {
  constructor(private readonly claims: ClaimDecisions) {}

  @Post(':trip_id/approve', 200)
  @RequireScopes('payroll:write')
  @Documented({
    id: 'approve_mileage',
    summary: 'Approves a trip that a tutor claims',
    description: 'Only a `logged` one. Again: unchanged.',
    answer: one(MILEAGE.view),
    conflicts: ['invalid_state'],
  })
  approve(@CurrentCaller() caller: Caller, @PathId('trip_id') id: string) {
    return this.claims.decide(caller, MILEAGE, 'mileage', 'approve', id);
  }

  @Post(':trip_id/reject', 200)
  @RequireScopes('payroll:write')
  @Documented({
    id: 'reject_mileage',
    summary: 'Rejects a trip that a tutor claims',
    description: 'Only a `logged` one. Again: unchanged.',
    answer: one(MILEAGE.view),
    conflicts: ['invalid_state'],
  })
  reject(@CurrentCaller() caller: Caller, @PathId('trip_id') id: string) {
    return this.claims.decide(caller, MILEAGE, 'mileage', 'reject', id);
  }

  @Post(':trip_id/reimburse', 200)
  @RequireScopes('payroll:write')
  @Documented({
    id: 'reimburse_mileage',
    summary: 'Records that a trip was reimbursed',
    description: 'Only an `approved` one. The money itself moves elsewhere. Again: unchanged.',
    answer: one(MILEAGE.view),
    conflicts: ['invalid_state'],
  })
  reimburse(@CurrentCaller() caller: Caller, @PathId('trip_id') id: string) {
    return this.claims.decide(caller, MILEAGE, 'mileage', 'reimburse', id);
  }
}
