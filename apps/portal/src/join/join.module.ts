import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { PasskeysModule } from '../passkeys/passkeys.module.js';
import { WebModule } from '../web/web.module.js';
import { JoinController } from './join.controller.js';
import { JoinCookie } from './join-cookie.js';
import { JoinService } from './join.service.js';

@Module({
  imports: [AccountsModule, PasskeysModule, WebModule],
  controllers: [JoinController],
  providers: [JoinCookie, JoinService],
})
export class JoinModule {}
