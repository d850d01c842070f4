import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, DiscoveryModule } from '@nestjs/core';
import { AccessModule } from '@app/access';
import { Shutdown } from '@app/serving';
import { ApiKeyGuard } from './auth/api-key.guard.js';
import { Authentication } from './auth/authentication.js';
import { KeyUsage } from './auth/key-usage.js';
import { KnownKeys } from './request/known-keys.js';
import { ContentGuard, ScopesGuard } from './auth/scopes.guard.js';
import { ErrorFilter } from './error.filter.js';
import { Cursors } from './lists/cursor.js';
import { EnvelopeInterceptor } from './lists/envelope.interceptor.js';
import { LargeAnswers } from './lists/large-answers.js';
import { Lists } from './lists/lists.js';
import { Records } from './lists/records.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { RateLimitGuard } from './rate-limit/rate-limit.guard.js';
import { RateLimitModule } from './rate-limit/rate-limit.module.js';
import { Fairness } from './request/fairness.js';
import { RequestLog } from './request-log/request-log.js';
import { RouteTable } from './routing/route-table.js';
import { UnknownRoutes } from './routing/unknown-routes.js';
import { WritesModule } from './writes/writes.module.js';
import { ValidationGuard } from './validation/validation.guard.js';

/** The pipeline of every request, in order; turns and deadlines come before it (configure-app.ts). Writes have one more (write-methods.ts). */
const pipeline = [
  { provide: APP_GUARD, useExisting: ApiKeyGuard }, // 401
  { provide: APP_GUARD, useExisting: RateLimitGuard }, // 429
  { provide: APP_GUARD, useClass: ScopesGuard }, // 403
  { provide: APP_GUARD, useClass: ValidationGuard }, // 422
  { provide: APP_GUARD, useClass: ContentGuard }, // 403 again, where the required access depends on the content
  { provide: APP_INTERCEPTOR, useClass: EnvelopeInterceptor }, // data and meta
  { provide: APP_FILTER, useClass: ErrorFilter },
];

@Module({
  imports: [AccessModule, DiscoveryModule, MetricsModule, RateLimitModule, WritesModule],
  providers: [
    ...pipeline,
    ...[ApiKeyGuard, Authentication, Cursors, Fairness, KeyUsage, KnownKeys, LargeAnswers, Lists, Records, RequestLog],
    ...[RouteTable, Shutdown, UnknownRoutes],
  ],
  exports: [
    Authentication,
    Cursors,
    Fairness,
    Lists,
    MetricsModule,
    RateLimitModule,
    Records,
    RouteTable,
    Shutdown,
    WritesModule,
  ],
})
export class HttpModule {}
