import { Module } from '@nestjs/common';
import { FamilyOutbox } from './family-mails.js';
import { OutboxMessages } from './outbox-messages.js';
import { Outbox } from './outbox.js';

@Module({ providers: [FamilyOutbox, Outbox, OutboxMessages], exports: [FamilyOutbox, Outbox, OutboxMessages] })
export class JobsModule {}
