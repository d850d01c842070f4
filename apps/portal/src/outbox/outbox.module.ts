import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { WebModule } from '../web/web.module.js';
import { OutboxController } from './outbox.controller.js';
import { OutboxService } from './outbox.service.js';

@Module({ imports: [AccountsModule, WebModule], controllers: [OutboxController], providers: [OutboxService] })
export class OutboxModule {}
