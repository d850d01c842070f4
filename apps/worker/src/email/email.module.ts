import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { OutboxListenerModule } from '../drivers/outbox-listener.module.js';
import { OutboxModule } from '../outbox/outbox.module.js';
import { EmailCourier } from './email.courier.js';
import { EmailService } from './email.service.js';
import { PasswordLinksService } from './password-links.service.js';

@Module({
  imports: [AccountsModule, OutboxModule, OutboxListenerModule],
  providers: [EmailService, EmailCourier, PasswordLinksService],
})
export class EmailModule {}
