import { Module } from '@nestjs/common';
import { PayModule } from '@app/billing';
import { HttpModule, listController } from '../../../http/kit.js';
import { AdjustmentsController } from './adjustments.controller.js';
import { ADJUSTMENTS } from './adjustments.queries.js';
import { AdjustmentsService } from './adjustments.service.js';

@Module({
  imports: [HttpModule, PayModule],
  controllers: [listController(ADJUSTMENTS), AdjustmentsController],
  providers: [AdjustmentsService],
})
export class AdjustmentsModule {}
