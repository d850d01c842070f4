import { Module } from '@nestjs/common';
import { PasskeysModule } from '../passkeys/passkeys.module.js';
import { WebModule } from '../web/web.module.js';
import { AccountController } from './account.controller.js';
import { NamesService } from './names.service.js';

@Module({ imports: [PasskeysModule, WebModule], controllers: [AccountController], providers: [NamesService] })
export class AccountModule {}
