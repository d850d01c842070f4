import { Module } from '@nestjs/common';
import { PasskeysModule } from '../passkeys/passkeys.module.js';
import { WebModule } from '../web/web.module.js';
import { AccountController } from './account.controller.js';

@Module({ imports: [PasskeysModule, WebModule], controllers: [AccountController] })
export class AccountModule {}
