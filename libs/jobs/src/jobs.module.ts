import { Module } from '@nestjs/common';
import { OutboxMessages } from './outbox-messages.js';
import { Outbox } from './outbox.js';

@Module({ providers: [Outbox, OutboxMessages], exports: [Outbox, OutboxMessages] })
export class JobsModule {}
