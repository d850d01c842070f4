import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule } from '../../http/http.module.js';
import { BulkInviteController } from './bulk-invite.controller.js';
import { BulkInviteService } from './bulk-invite.service.js';

@Module({
  imports: [AccountsModule, HttpModule],
  controllers: [BulkInviteController],
  providers: [BulkInviteService],
})
export class BulkInviteModule {}
