import { type DynamicModule, Module } from '@nestjs/common';
import type { DestinationStream } from 'pino';
import { AccessModule } from '@app/access';
import { BillingModule } from '@app/billing';
import { ConfigModule, type Env } from '@app/config';
import { DatabaseModule } from '@app/database';
import { ErasureModule } from '@app/erasure';
import { ExportsModule } from '@app/exports';
import { FamiliesModule } from '@app/families';
import { LoggingModule } from '@app/logging';
import { PapersModule } from '@app/papers';
import { PublishingModule } from '@app/publishing';
import { StorageModule } from '@app/storage';
import { WebhooksModule } from '@app/webhooks';
import { Calls } from './calls/calls.js';
import { EmailCourier } from './email/email.courier.js';
import { EmailService } from './email/email.service.js';
import { FamilyLetters } from './email/family-letters.js';
import { LessonLetters } from './email/lesson-letters.js';
import { PasswordLinksService } from './email/password-links.service.js';
import { EventsService } from './events/events.service.js';
import { ErasureService } from './housekeeping/erasure.service.js';
import { ExportsService } from './exports/exports.service.js';
import { FamiliesService } from './families/families.service.js';
import { HousekeepingService } from './housekeeping/housekeeping.service.js';
import { KeyExpiryService } from './housekeeping/key-expiry.service.js';
import { RetentionService } from './housekeeping/retention.service.js';
import { MetricsServer } from './metrics-server.js';
import { OutboxStore } from './outbox/outbox.store.js';
import { ScheduleService } from './publishing/schedule.service.js';
import { QueuesModule } from './queues.module.js';
import { RebuildCourier } from './rebuilds/rebuild.courier.js';
import { RebuildsService } from './rebuilds/rebuilds.service.js';
import { WebhookCourier } from './webhooks/webhook.courier.js';
import { WebhookHealthService } from './webhooks/webhook-health.service.js';
import { WebhooksService } from './webhooks/webhooks.service.js';

/** The worker: Bull processors, no HTTP but /metrics. */
@Module({})
export class WorkerModule {
  /** @param logDestination replaces standard output */
  static forRoot(env: Env, logDestination?: DestinationStream): DynamicModule {
    // Required to decrypt the outbox: fail at start rather than at the first mail.
    env.need('ENCRYPTION_KEY');
    return {
      module: WorkerModule,
      imports: [
        ConfigModule.forRoot(env),
        LoggingModule.forRoot(logDestination),
        DatabaseModule.forRoot('worker'),
        QueuesModule.forRoot(env),
        AccessModule,
        BillingModule,
        ErasureModule,
        ExportsModule,
        FamiliesModule,
        PapersModule,
        PublishingModule,
        StorageModule,
        WebhooksModule,
      ],
      providers: [
        OutboxStore,
        MetricsServer,
        ...[EmailService, EmailCourier, FamilyLetters, LessonLetters, PasswordLinksService],
        Calls,
        ...[RebuildsService, RebuildCourier],
        ...[WebhooksService, WebhookCourier, WebhookHealthService],
        ScheduleService,
        EventsService,
        ...[HousekeepingService, KeyExpiryService, ErasureService, RetentionService],
        ExportsService,
        FamiliesService,
      ],
    };
  }
}
