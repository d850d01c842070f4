import { Global, Module } from '@nestjs/common';
import { AccessModule } from '@app/access';
import { Audit } from './audit.js';
import { IdempotencyStore } from './idempotency.store.js';
import { Masks } from './masks.js';

/** Global, because every module with a route that writes needs it: see write-methods.ts. */
@Global()
@Module({
  imports: [AccessModule],
  providers: [Audit, IdempotencyStore, Masks],
  exports: [Audit, IdempotencyStore, Masks],
})
export class WritesModule {}
