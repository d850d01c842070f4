import { type DynamicModule, Module } from '@nestjs/common';
import type { DestinationStream } from 'pino';
import { ConfigModule, type Env } from '@app/config';
import { DatabaseModule } from '@app/database';
import { LoggingModule } from '@app/logging';
import { AccountModule } from './account/account.module.js';
import { ActivityModule } from './activity/activity.module.js';
import { AuditModule } from './audit/audit.module.js';
import { CalendarModule } from './calendar/calendar.module.js';
import { EnquiriesModule } from './enquiries/enquiries.module.js';
import { ExportsModule } from './exports/exports.module.js';
import { FilesModule } from './files/files.module.js';
import { HealthModule } from './health/health.module.js';
import { HomeModule } from './home/home.module.js';
import { HooksModule } from './hooks/hooks.module.js';
import { InboxModule } from './inbox/inbox.module.js';
import { JoinModule } from './join/join.module.js';
import { KeysModule } from './keys/keys.module.js';
import { LessonsModule } from './lessons/lessons.module.js';
import { MailsModule } from './mails/mails.module.js';
import { MoneyModule } from './money/money.module.js';
import { OwnModule } from './own/own.module.js';
import { OutboxModule } from './outbox/outbox.module.js';
import { PeopleModule } from './people/people.module.js';
import { PasskeysModule } from './passkeys/passkeys.module.js';
import { PasswordsModule } from './passwords/passwords.module.js';
import { PricesModule } from './prices/prices.module.js';
import { SettingsModule } from './settings/settings.module.js';
import { SignInModule } from './sign-in/sign-in.module.js';
import { WebModule } from './web/web.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

/** Pages for owners and admins, and for people who open join links. */
@Module({})
export class PortalModule {
  /** @param logDestination replaces standard output */
  static forRoot(env: Env, logDestination?: DestinationStream): DynamicModule {
    // Required to encrypt cookies: fail at start rather than at the first sign-in.
    env.need('ENCRYPTION_KEY');
    return {
      module: PortalModule,
      imports: [
        ConfigModule.forRoot(env),
        LoggingModule.forRoot(logDestination),
        DatabaseModule.forRoot('portal'),
        WebModule,
        HealthModule,
        HomeModule,
        SignInModule,
        PasswordsModule,
        PasskeysModule,
        AccountModule,
        CalendarModule,
        JoinModule,
        MailsModule,
        KeysModule,
        PeopleModule,
        InboxModule,
        EnquiriesModule,
        FilesModule,
        LessonsModule,
        OwnModule,
        MoneyModule,
        ActivityModule,
        AuditModule,
        HooksModule,
        OutboxModule,
        WebhooksModule,
        PricesModule,
        SettingsModule,
        ExportsModule,
      ],
    };
  }
}
