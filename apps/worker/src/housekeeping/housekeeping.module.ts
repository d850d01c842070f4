import { Module } from '@nestjs/common';
import { HousekeepingProcessor } from './housekeeping.processor.js';
import { HousekeepingService } from './housekeeping.service.js';

@Module({ providers: [HousekeepingProcessor, HousekeepingService] })
export class HousekeepingModule {}
