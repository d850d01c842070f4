import { Module } from '@nestjs/common';
import { PayModule } from '@app/billing';
import { HttpModule, listController } from '../../../http/kit.js';
import { ClaimDecisions } from '../claims.js';
import { MileageController } from './mileage.controller.js';
import { MILEAGE } from './mileage.queries.js';

@Module({
  imports: [HttpModule, PayModule],
  controllers: [listController(MILEAGE), MileageController],
  providers: [ClaimDecisions],
})
export class MileageModule {}
