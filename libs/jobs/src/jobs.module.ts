import { Module } from '@nestjs/common';
import { Outbox } from './outbox.js';

@Module({ providers: [Outbox], exports: [Outbox] })
export class JobsModule {}
