import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { WebModule } from '../web/web.module.js';
import { Challenges } from './challenges.js';
import { PasskeyRegistration } from './passkey-registration.js';
import { PasskeysController } from './passkeys.controller.js';
import { PasskeysService } from './passkeys.service.js';
import { PasskeyStore } from './passkeys.store.js';

@Module({
  imports: [AccountsModule, WebModule],
  controllers: [PasskeysController],
  providers: [Challenges, PasskeyRegistration, PasskeysService, PasskeyStore],
  exports: [PasskeyRegistration, PasskeysService],
})
export class PasskeysModule {}
