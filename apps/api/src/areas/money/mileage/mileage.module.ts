import { Module } from '@nestjs/common';
import { PayModule } from '@app/billing';
import { HttpModule, listController } from '../../../http/kit.js';
import { MILEAGE_WRITES } from './mileage.controller.js';
import { MILEAGE } from './mileage.queries.js';

@Module({
  imports: [HttpModule, PayModule],
  controllers: [listController(MILEAGE), ...MILEAGE_WRITES],
})
export class MileageModule {}
