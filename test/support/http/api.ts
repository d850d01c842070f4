import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { fileURLToPath } from 'node:url';
import supertest from 'supertest';
import type { DataSource } from 'typeorm';
import { ApiKeys, type NewApiKey } from '@app/access';
import { Organizations } from '@app/people';
import { loadEnv } from '@app/config';
import { Database } from '@app/database';
import { rulesOn } from '../../../apps/cli/src/rules.js';
import { ImageProcess } from '@app/images';
import { Renderer } from '@app/papers';
import { ApiModule } from '../../../apps/api/src/api.module.js';
import { configureApp, createAdapter } from '../../../apps/api/src/configure-app.js';
import { RequestLog } from '../../../apps/api/src/http/request-log/request-log.js';
import { Factories } from '../data/factories.js';
import { sharedHere } from '../process/fixture.js';
import { logTo } from '../process/log-to.js';
import { createTestDatabase, type TestDatabase } from '../database/database.js';
import { connectPatiently } from '../database/patient-connection.js';
import { Undocumented } from './undocumented.js';

// Node runs this program directly, so it must be the built one. The global set-up builds it.
ImageProcess.program = fileURLToPath(new URL('../../../dist/libs/images/src/child.js', import.meta.url));
// It has a low priority, and a busy machine must store what is valid, too.
ImageProcess.limits.ms = 120_000;
Renderer.program = fileURLToPath(new URL('../../../dist/libs/papers/src/drawing-thread.js', import.meta.url));

/** The settings of the applications that spec files share, on one database: see {@link sharedHere}. */
export const SHARED = { ENCRYPTION_KEY: '5e'.repeat(32), SMTP_URL: 'smtp://127.0.0.1:1', TRUST_PROXY: 'true' };

/** The real application on its own database, tested over HTTP. */
export class TestApi {
  private constructor(
    readonly app: NestExpressApplication,
    readonly database: TestDatabase,
    /** All log output so far. */
    readonly logged: string[],
    /** Has the operator's rights: only operators create keys and organizations. */
    readonly keys: ApiKeys,
    readonly organizations: Organizations,
    /** Creates rows. */
    readonly make: Factories,
    private readonly owner: DataSource,
    private readonly ownsDatabase: boolean,
    private readonly undocumented: Undocumented,
  ) {}

  /**
   * @param settings environment variables that override the test defaults
   * @param database shared with another application
   * @param controllers additional controllers
   */
  static async start(settings: Record<string, string> = {}, database?: TestDatabase, controllers: Type[] = []): Promise<TestApi> {
    const own = database ?? (await createTestDatabase());
    const logged: string[] = [];
    const env = loadEnv(
      {
        NODE_ENV: 'test',
        DATABASE_URL: own.applicationUrl,
        ENCRYPTION_KEY: randomBytes(32).toString('hex'),
        RATE_LIMIT_PER_MINUTE: '1000000',
        INVITE_MAILS_PER_DAY: '1000000',
        AUTH_FAILURES_PER_MINUTE: '1000000',
        DATABASE_POOL_SIZE: '10',
        // A busy machine answers late, but it answers. Specs about deadlines set their own.
        REQUEST_DEADLINE_SECONDS: '120',
        // Reading the request log adds to it, so tests could not compare its lists.
        REQUEST_LOG: 'false',
        ...settings,
      },
      {},
    );
    const owner = await connectPatiently({ url: own.ownerUrl, poolSize: 2, applicationName: 'tutoring tests' });
    // Before the application, whose log is Nest's from then on.
    const rules = await rulesOn(new Database(owner), env);
    const module = await Test.createTestingModule({ imports: [ApiModule.forRoot(env, { logDestination: logTo(logged) })], controllers }).compile();
    const app = module.createNestApplication<NestExpressApplication>(createAdapter(), { bodyParser: false });
    configureApp(app);
    await app.listen(0, '127.0.0.1');
    // Added routes may write to `subjects`.
    if (controllers.length > 0) await owner.query('GRANT INSERT ON subjects TO tutoring_app');
    const make = await Factories.connect(own);
    const undocumented = new Undocumented(app);
    return new TestApi(app, own, logged, rules.get(ApiKeys), rules.get(Organizations), make, owner, database === undefined, undocumented);
  }

  /** One with {@link SHARED} and these settings. */
  static async shared(settings: Record<string, string> = {}): Promise<TestApi> {
    const database = await sharedHere('database', createTestDatabase);
    const api = await sharedHere(`api ${JSON.stringify(settings)}`, () => TestApi.start({ ...SHARED, ...settings }, database));
    api.logged.length = 0;
    afterAll(() => api.undocumented.check());
    return api;
  }

  get server(): Server {
    return this.app.getHttpServer();
  }

  /** Creates a key for an organization. */
  async key(organizationId: string, wanted: Partial<NewApiKey> = {}): Promise<string> {
    return (await this.keys.create(organizationId, { name: 'test', scopes: ['read', 'webhooks:write'], ...wanted })).key;
  }

  /** Sends a GET; without a key it has no Authorization header. */
  get(path: string, key?: string): supertest.Test {
    const request = supertest(this.server).get(path);
    return key ? request.set('Authorization', `Token token=${key}`) : request;
  }

  /** Writes everything that the request log has noted. */
  async writeRequestLog(): Promise<void> {
    // The first call may only wait for the write under way.
    for (let time = 0; time < 2; time++) await this.app.get(RequestLog).flush();
  }

  /** Stops the application but keeps the database. @throws Error if it gave an answer that it does not document */
  async close(): Promise<void> {
    await this.app.close();
    await this.make.close();
    await this.owner.destroy();
    this.undocumented.check();
  }

  /** Stops the application and drops the database, unless it was given. */
  async stop(): Promise<void> {
    await this.close().finally(() => (this.ownsDatabase ? this.database.drop() : undefined));
  }
}
