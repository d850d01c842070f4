import { Module } from '@nestjs/common';
import { PasskeysModule } from '../passkeys/passkeys.module.js';
import { WebModule } from '../web/web.module.js';
import { AccountController } from './account.controller.js';
import { NameController } from './name.controller.js';

@Module({ imports: [PasskeysModule, WebModule], controllers: [AccountController, NameController] })
export class AccountModule {}
