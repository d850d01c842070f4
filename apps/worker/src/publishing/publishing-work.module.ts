import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { PublishingModule } from '@app/publishing';
import { ScheduleService } from './schedule.service.js';

/** The worker's part of publishing. The rules are in the library. */
@Module({ imports: [AccountsModule, PublishingModule], providers: [ScheduleService] })
export class PublishingWorkModule {}
