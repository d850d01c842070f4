import { Module } from '@nestjs/common';
import { OutboxStore } from './outbox.store.js';

@Module({ providers: [OutboxStore], exports: [OutboxStore] })
export class OutboxModule {}
