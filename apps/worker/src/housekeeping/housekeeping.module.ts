import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HousekeepingProcessor } from './housekeeping.processor.js';
import { HousekeepingService } from './housekeeping.service.js';

@Module({ imports: [AccountsModule], providers: [HousekeepingProcessor, HousekeepingService] })
export class HousekeepingModule {}
