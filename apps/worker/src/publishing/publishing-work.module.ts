import { Module } from '@nestjs/common';
import { PublishingModule } from '@app/publishing';
import { PublishingProcessor } from './publishing.processor.js';
import { ScheduleService } from './schedule.service.js';

/** The worker's part of publishing; the rules are the library's. */
@Module({ imports: [PublishingModule], providers: [PublishingProcessor, ScheduleService] })
export class PublishingWorkModule {}
