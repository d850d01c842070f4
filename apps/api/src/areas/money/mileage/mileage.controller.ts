import { Controller } from '@nestjs/common';
import { type Caller, CurrentCaller, PathId } from '../../../http/kit.js';
import { ClaimDecisions, decisions } from '../claims.js';
import { MILEAGE } from './mileage.queries.js';

const Decision = decisions('mileage', { claim: 'a trip', id: 'trip_id', view: MILEAGE.view });

@Controller('v1/mileage')
export class MileageController {
  constructor(private readonly claims: ClaimDecisions) {}

  @Decision('approve')
  approve(@CurrentCaller() caller: Caller, @PathId('trip_id') id: string) {
    return this.claims.decide(caller, MILEAGE, 'mileage', 'approve', id);
  }

  @Decision('reject')
  reject(@CurrentCaller() caller: Caller, @PathId('trip_id') id: string) {
    return this.claims.decide(caller, MILEAGE, 'mileage', 'reject', id);
  }

  @Decision('reimburse')
  reimburse(@CurrentCaller() caller: Caller, @PathId('trip_id') id: string) {
    return this.claims.decide(caller, MILEAGE, 'mileage', 'reimburse', id);
  }
}
