import { type DynamicModule, Module } from '@nestjs/common';
import type { DestinationStream } from 'pino';
import { ConfigModule, type Env } from '@app/config';
import { DatabaseModule } from '@app/database';
import { LoggingModule } from '@app/logging';
import { AccountModule } from './areas/account/account.module.js';
import { BlogModule } from './areas/blog/blog.module.js';
import { EnquiriesModule } from './areas/enquiries/enquiries.module.js';
import { IntegrationsModule } from './areas/integrations/integrations.module.js';
import { MessagesModule } from './areas/messages/messages.module.js';
import { MoneyModule } from './areas/money/money.module.js';
import { PeopleModule } from './areas/people/people.module.js';
import { SchedulingModule } from './areas/scheduling/scheduling.module.js';
import { TeachingModule } from './areas/teaching/teaching.module.js';
import { HealthModule } from './health/health.module.js';
import { HttpModule } from './http/http.module.js';

/** The areas of the API, in the order in which the reference shows them. */
// prettier-ignore
/** In the order of the job, which is that of the reference. */
export const AREAS = [PeopleModule, TeachingModule, SchedulingModule, MoneyModule, EnquiriesModule, MessagesModule, BlogModule, IntegrationsModule, AccountModule];

interface ApiOptions {
  /** Replaces standard output. */
  logDestination?: DestinationStream;
  /** false to build the application without its database, as for its OpenAPI document. */
  connected?: boolean;
}

/** The keyed JSON API. */
@Module({})
export class ApiModule {
  static forRoot(env: Env, { logDestination, connected = true }: ApiOptions = {}): DynamicModule {
    return {
      module: ApiModule,
      imports: [
        ConfigModule.forRoot(env),
        LoggingModule.forRoot(logDestination),
        DatabaseModule.forRoot('api', connected),
        HttpModule,
        HealthModule,
        ...AREAS,
      ],
    };
  }
}
