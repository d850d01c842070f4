import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HousekeepingService } from './housekeeping.service.js';

@Module({ imports: [AccountsModule], providers: [HousekeepingService] })
export class HousekeepingModule {}
