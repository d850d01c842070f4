import { type DynamicModule, Module } from '@nestjs/common';
import type { DestinationStream } from 'pino';
import { ConfigModule, type Env } from '@app/config';
import { DatabaseModule } from '@app/database';
import { LoggingModule } from '@app/logging';
import { HealthModule } from './health/health.module.js';
import { HttpModule } from './http/http.module.js';
import { BlogImagesModule } from './resources/blog-images/blog-images.module.js';
import { BlogPostsModule } from './resources/blog-posts/blog-posts.module.js';
import { ClassroomsModule } from './resources/classrooms/classrooms.module.js';
import { ConversationsModule } from './resources/conversations/conversations.module.js';
import { SessionFeedbackModule } from './resources/session-feedback/session-feedback.module.js';
import { GroupsModule } from './resources/groups/groups.module.js';
import { HomeworkModule } from './resources/homework/homework.module.js';
import { InvitesModule } from './resources/invites/invites.module.js';
import { MeModule } from './resources/me/me.module.js';
import { ParentsModule } from './resources/parents/parents.module.js';
import { PaymentsModule } from './resources/payments/payments.module.js';
import { AdjustmentsModule } from './resources/adjustments/adjustments.module.js';
import { ReportsModule } from './resources/reports/reports.module.js';
import { RequestLogModule } from './resources/request-log/request-log.module.js';
import { ResultsModule } from './resources/results/results.module.js';
import { SessionsModule } from './resources/sessions/sessions.module.js';
import { StudentsModule } from './resources/students/students.module.js';
import { TutorsModule } from './resources/tutors/tutors.module.js';
import { UsersModule } from './resources/users/users.module.js';

export interface ApiOptions {
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
        BlogImagesModule,
        BlogPostsModule,
        UsersModule,
        ClassroomsModule,
        ConversationsModule,
        SessionFeedbackModule,
        GroupsModule,
        HomeworkModule,
        InvitesModule,
        MeModule,
        ParentsModule,
        PaymentsModule,
        AdjustmentsModule,
        ReportsModule,
        RequestLogModule,
        ResultsModule,
        SessionsModule,
        StudentsModule,
        TutorsModule,
      ],
    };
  }
}
