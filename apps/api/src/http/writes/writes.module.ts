import { Global, Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { Audit } from './audit.js';
import { IdempotencyStore } from './idempotency.store.js';
import { Masks } from './masks.js';

/** Global, because every module with a route that writes needs it: see write-methods.ts. */
@Global()
@Module({
  imports: [AccountsModule],
  providers: [Audit, IdempotencyStore, Masks],
  exports: [Audit, IdempotencyStore, Masks],
})
export class WritesModule {}
