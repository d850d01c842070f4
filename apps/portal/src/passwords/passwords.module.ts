import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { WebModule } from '../web/web.module.js';
import { PasswordsController } from './passwords.controller.js';
import { PasswordsService } from './passwords.service.js';

@Module({ imports: [AccountsModule, WebModule], controllers: [PasswordsController], providers: [PasswordsService] })
export class PasswordsModule {}
