import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { WebModule } from '../web/web.module.js';
import { HomeController } from './home.controller.js';

@Module({ imports: [AccountsModule, WebModule], controllers: [HomeController] })
export class HomeModule {}
