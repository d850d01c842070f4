import { Module } from '@nestjs/common';
import { NudgesModule } from '../drivers/nudges.module.js';
import { OutboxModule } from '../outbox/outbox.module.js';
import { EmailCourier } from './email.courier.js';
import { EmailService } from './email.service.js';

@Module({ imports: [OutboxModule, NudgesModule], providers: [EmailService, EmailCourier] })
export class EmailModule {}
