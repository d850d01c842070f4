import { Module } from '@nestjs/common';
import { OutboxListener } from './outbox-listener.js';

@Module({ providers: [OutboxListener], exports: [OutboxListener] })
export class OutboxListenerModule {}
