import { Module } from '@nestjs/common';
import { SchedulingModule } from '@app/scheduling';
import { HttpModule } from '../../../http/kit.js';
import { SessionSeriesController } from './session-series.controller.js';
import { SessionSeriesService } from './session-series.service.js';

@Module({
  imports: [HttpModule, SchedulingModule],
  controllers: [SessionSeriesController],
  providers: [SessionSeriesService],
})
export class SessionSeriesModule {}
