import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { WebModule } from '../web/web.module.js';
import { HandOvers } from './hand-overs.js';
import { KeysController } from './keys.controller.js';
import { KeysService } from './keys.service.js';

@Module({ imports: [AccountsModule, WebModule], controllers: [KeysController], providers: [HandOvers, KeysService] })
export class KeysModule {}
