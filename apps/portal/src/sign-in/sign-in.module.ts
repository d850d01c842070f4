import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { WebModule } from '../web/web.module.js';
import { SignInController } from './sign-in.controller.js';

@Module({ imports: [AccountsModule, WebModule], controllers: [SignInController] })
export class SignInModule {}
