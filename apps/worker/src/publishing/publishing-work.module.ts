import { Module } from '@nestjs/common';
import { PublishingModule } from '@app/publishing';
import { ScheduleService } from './schedule.service.js';

/** The worker's part of publishing; the rules are the library's. */
@Module({ imports: [PublishingModule], providers: [ScheduleService] })
export class PublishingWorkModule {}
