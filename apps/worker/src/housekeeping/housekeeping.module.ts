import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HousekeepingService } from './housekeeping.service.js';
import { KeyExpiryService } from './key-expiry.service.js';

@Module({ imports: [AccountsModule], providers: [HousekeepingService, KeyExpiryService] })
export class HousekeepingModule {}
