import { Module } from '@nestjs/common';
import { WebModule } from '../web/web.module.js';
import { AccountController } from './account.controller.js';

@Module({ imports: [WebModule], controllers: [AccountController] })
export class AccountModule {}
