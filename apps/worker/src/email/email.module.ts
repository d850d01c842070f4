import { Module } from '@nestjs/common';
import { OutboxListenerModule } from '../drivers/outbox-listener.module.js';
import { OutboxModule } from '../outbox/outbox.module.js';
import { EmailCourier } from './email.courier.js';
import { EmailService } from './email.service.js';

@Module({ imports: [OutboxModule, OutboxListenerModule], providers: [EmailService, EmailCourier] })
export class EmailModule {}
