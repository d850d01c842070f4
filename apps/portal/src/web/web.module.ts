import { Global, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, DiscoveryModule } from '@nestjs/core';
import { AccessModule } from '@app/access';
import { ImageEncoder } from '@app/images';
import { Shutdown } from '@app/serving';
import { Assets } from './assets.js';
import { AttemptLimits } from './attempt-limits.js';
import { Cookies } from './cookies.js';
import { ErrorFilter } from './error.filter.js';
import { Fairness } from './fairness.js';
import { KnownBrowsers } from './known-browsers.js';
import { Navigation } from './navigation.js';
import { FormOperations } from './operations.js';
import { PageInterceptor } from './page.interceptor.js';
import { Pages } from './pages.js';
import { Pictures } from './pictures.js';
import { PasswordAttempts } from './password-attempts.js';
import { PasswordWork } from './password-work.js';
import { RouteTable } from './route-table.js';
import { SessionGuard } from './session.guard.js';
import { Sessions } from './sessions.js';
import { Spreadsheets } from './spreadsheets.js';
import { Templates } from './templates.js';

/** The pipeline of every request, after the parts in configure-portal.ts: session and access, the handler, and its page or error as HTML. */
@Global()
@Module({
  imports: [AccessModule, DiscoveryModule],
  providers: [
    ...[
      Assets,
      AttemptLimits,
      Cookies,
      Fairness,
      KnownBrowsers,
      Navigation,
      FormOperations,
      ImageEncoder,
      Pages,
      Pictures,
      PasswordAttempts,
      PasswordWork,
    ],
    ...[RouteTable, Sessions, Shutdown, Spreadsheets, Templates],
    { provide: APP_GUARD, useClass: SessionGuard },
    { provide: APP_INTERCEPTOR, useClass: PageInterceptor },
    { provide: APP_FILTER, useClass: ErrorFilter },
  ],
  exports: [
    AccessModule,
    AttemptLimits,
    Cookies,
    Fairness,
    KnownBrowsers,
    FormOperations,
    PasswordAttempts,
    PasswordWork,
    Pictures,
    Sessions,
    Shutdown,
    Spreadsheets,
  ],
})
export class WebModule {}
