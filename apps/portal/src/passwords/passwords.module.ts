import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { PasskeysModule } from '../passkeys/passkeys.module.js';
import { WebModule } from '../web/web.module.js';
import { PasswordsController } from './passwords.controller.js';

@Module({ imports: [AccountsModule, PasskeysModule, WebModule], controllers: [PasswordsController] })
export class PasswordsModule {}
