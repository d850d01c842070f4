import { Module } from '@nestjs/common';
import { Audit } from './audit.js';
import { IdempotencyStore } from './idempotency.store.js';

@Module({ providers: [Audit, IdempotencyStore], exports: [Audit, IdempotencyStore] })
export class WritesModule {}
