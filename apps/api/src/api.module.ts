import { type DynamicModule, Module } from '@nestjs/common';
import type { DestinationStream } from 'pino';
import { ConfigModule, type Env } from '@app/config';
import { DatabaseModule } from '@app/database';
import { LoggingModule } from '@app/logging';
import { HealthModule } from './health/health.module.js';
import { HttpModule } from './http/http.module.js';
import type { List } from './http/lists/list.js';
import { listController } from './http/openapi/list-controller.js';
import { ADJUSTMENTS } from './resources/adjustments/adjustments.queries.js';
import { BlogImagesModule } from './resources/blog-images/blog-images.module.js';
import { BlogPostsModule } from './resources/blog-posts/blog-posts.module.js';
import { POSTS } from './resources/blog-posts/blog-posts.queries.js';
import { ClassroomsModule } from './resources/classrooms/classrooms.module.js';
import { CONVERSATIONS } from './resources/conversations/conversations.queries.js';
import { GroupsModule } from './resources/groups/groups.module.js';
import { HOMEWORK } from './resources/homework/homework.queries.js';
import { InvitesModule } from './resources/invites/invites.module.js';
import { MeModule } from './resources/me/me.module.js';
import { ParentsModule } from './resources/parents/parents.module.js';
import { PARENTS } from './resources/parents/parents.queries.js';
import { PAYMENTS } from './resources/payments/payments.queries.js';
import { ReportsModule } from './resources/reports/reports.module.js';
import { REQUEST_LOG } from './resources/request-log/request-log.queries.js';
import { RESULTS } from './resources/results/results.queries.js';
import { FEEDBACK, REVIEWS } from './resources/session-feedback/session-feedback.queries.js';
import { SessionsModule } from './resources/sessions/sessions.module.js';
import { StudentsModule } from './resources/students/students.module.js';
import { STUDENTS } from './resources/students/students.queries.js';
import { TutorsModule } from './resources/tutors/tutors.module.js';
import { STAFF } from './resources/tutors/tutors.queries.js';
import { UsersModule } from './resources/users/users.module.js';

/** Every list, in the order of the OpenAPI document. */
const LISTS: List[] = [
  POSTS,
  CONVERSATIONS,
  FEEDBACK,
  REVIEWS,
  HOMEWORK,
  PARENTS,
  PAYMENTS,
  ADJUSTMENTS,
  REQUEST_LOG,
  RESULTS,
  STUDENTS,
  STAFF,
];

export interface ApiOptions {
  /** Instead of standard output. */
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
        GroupsModule,
        InvitesModule,
        MeModule,
        ParentsModule,
        ReportsModule,
        SessionsModule,
        StudentsModule,
        TutorsModule,
      ],
      controllers: LISTS.map((list) => listController(list)),
    };
  }
}
