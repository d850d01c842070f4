import { Module } from '@nestjs/common';
import { HttpModule, listController, recordController } from '../../../http/kit.js';
import { AvailabilitiesController } from './availabilities.controller.js';
import { AVAILABILITIES, AVAILABILITY, TIME_OFF } from './availabilities.queries.js';
import { AvailabilitiesService } from './availabilities.service.js';

@Module({
  imports: [HttpModule],
  controllers: [
    listController(AVAILABILITIES),
    recordController(AVAILABILITY),
    listController(TIME_OFF),
    AvailabilitiesController,
  ],
  providers: [AvailabilitiesService],
})
export class AvailabilitiesModule {}
