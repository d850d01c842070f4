import { Module } from '@nestjs/common';
import { PayModule } from '@app/billing';
import { HttpModule, listController } from '../../../http/kit.js';
import { ADJUSTMENT_WRITES } from './adjustments.controller.js';
import { ADJUSTMENTS } from './adjustments.queries.js';

@Module({
  imports: [HttpModule, PayModule],
  controllers: [listController(ADJUSTMENTS), ...ADJUSTMENT_WRITES],
})
export class AdjustmentsModule {}
