import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { Audit } from './audit.js';
import { IdempotencyStore } from './idempotency.store.js';

@Module({ imports: [AccountsModule], providers: [Audit, IdempotencyStore], exports: [Audit, IdempotencyStore] })
export class WritesModule {}
