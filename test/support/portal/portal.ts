import { createHash, randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import argon2 from '@node-rs/argon2';
import type { Express, RequestHandler } from 'express';
import supertest from 'supertest';
import { v7 as uuidv7 } from 'uuid';
import { loadEnv, Vault } from '@app/config';
import type { EmailPayload } from '@app/jobs';
import type { Tables } from '../database/tables.js';
import { configurePortal, createAdapter } from '../../../apps/portal/src/configure-portal.js';
import { PortalModule } from '../../../apps/portal/src/portal.module.js';
import { type Route, RouteTable } from '../../../apps/portal/src/web/route-table.js';
import { Factories } from '../data/factories.js';
import { SHARED } from '../http/api.js';
import { sharedHere } from '../process/fixture.js';
import { logTo } from '../process/log-to.js';
import { createTestDatabase, type TestDatabase } from '../database/database.js';

/** Deliberately weak password hashing, because tests check passwords a thousand times. */
const CHEAP = { memoryCost: 8, timeCost: 1, parallelism: 1 };

export const PASSWORD = 'correct horse battery staple';

/** Somebody who is signed in, and their organization. */
export interface Someone {
  user: Tables['users'];
  organization: Tables['organizations'];
  /** The value of the Cookie header. */
  cookie: string;
}

/** The real portal on its own database, tested over HTTP. */
export class TestPortal {
  private constructor(
    readonly app: NestExpressApplication,
    readonly database: TestDatabase,
    readonly make: Factories,
    /** All log output so far. */
    readonly logged: string[],
    private readonly ownsDatabase: boolean,
  ) {}

  /**
   * @param settings environment variables that override the test defaults
   * @param database shared with another application, such as an API or a worker
   */
  static async start(settings: Record<string, string> = {}, database?: TestDatabase): Promise<TestPortal> {
    const own = database ?? (await createTestDatabase());
    const logged: string[] = [];
    const env = loadEnv(
      {
        NODE_ENV: 'test',
        PORTAL_DATABASE_URL: own.portalUrl,
        ENCRYPTION_KEY: randomBytes(32).toString('hex'),
        // A busy machine answers late, but it answers. Specs about deadlines set their own.
        REQUEST_DEADLINE_SECONDS: '120',
        ...settings,
      },
      {},
    );
    const module = await Test.createTestingModule({ imports: [PortalModule.forRoot(env, logTo(logged))] }).compile();
    const app = module.createNestApplication<NestExpressApplication>(createAdapter(), { bodyParser: false });
    configurePortal(app);
    await app.listen(0, '127.0.0.1');
    return new TestPortal(app, own, await Factories.connect(own), logged, database === undefined);
  }

  /** One with {@link SHARED}. */
  static async shared(): Promise<TestPortal> {
    const database = await sharedHere('database', createTestDatabase);
    const portal = await sharedHere('portal', () => TestPortal.start(SHARED, database));
    portal.logged.length = 0;
    return portal;
  }

  /** `http://localhost:…`, which browsers trust like https. */
  get url(): string {
    return `http://localhost:${this.port}`;
  }

  get port(): number {
    return (this.app.getHttpServer().address() as AddressInfo).port;
  }

  routes(): Route[] {
    return this.app.get(RouteTable).routes();
  }

  get(path: string, cookie = ''): supertest.Test {
    return supertest(this.app.getHttpServer()).get(path).set('Cookie', cookie);
  }

  head(path: string, cookie = ''): supertest.Test {
    return supertest(this.app.getHttpServer()).head(path).set('Cookie', cookie);
  }

  /** Sends a form as a browser does from a page of the portal. */
  post(path: string, fields: Record<string, string | string[] | Buffer> = {}, cookie = ''): supertest.Test {
    const request = supertest(this.app.getHttpServer()).post(path).set('Cookie', cookie).set('Sec-Fetch-Site', 'same-origin');
    if (!Object.values(fields).some((value) => Buffer.isBuffer(value))) return request.type('form').send(fields);
    for (const [name, value] of Object.entries(fields)) {
      if (Buffer.isBuffer(value)) void request.attach(name, value, { filename: 'picture.png' });
      else void request.field(name, value);
    }
    return request;
  }

  /** Follows a link from page to page, with something `between` them. @returns the text of all pages */
  async walk(path: string, cookie: string, link: string, between?: () => Promise<unknown>): Promise<string> {
    const texts: string[] = [];
    for (let next: string | undefined = path; next; await between?.()) {
      const { text }: supertest.Response = await this.get(next, cookie).expect(200);
      texts.push(text);
      next = new RegExp(`href="([^"]+)">${link}`).exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    return texts.join('');
  }

  /** What was done in an organization, by whom; without what had been done before. */
  audited(organizationId: string): Promise<{ operation: string; by: string; details: object }[]> {
    const rows = `SELECT operation, user_id AS by, details FROM audit_log WHERE organization_id = $1 AND result = 'done' ORDER BY created_at, id`;
    return this.make.query(rows, [organizationId]);
  }

  /** Creates a member who is signed in, in a new organization unless one is given. */
  async someone(
    role: Tables['members']['role'],
    { organization, ...wish }: { organization?: Tables['organizations']; user?: Partial<Tables['users']> } = {},
  ): Promise<Someone> {
    const at = organization ?? (await this.make.organization());
    const user = await this.make.member(at.id, { role, status: 'accepted', ...wish });
    return { user, organization: at, cookie: await this.session(user.id) };
  }

  /** Gives a login the password {@link PASSWORD} as if it had always had it: its sessions stay valid. */
  async setPassword(userId: string): Promise<void> {
    const passwordHash = await argon2.hash(PASSWORD, CHEAP);
    await this.make.withoutTriggers(`
      INSERT INTO credentials (user_id, password_hash, sessions_valid_from)
      VALUES ('${userId}', '${passwordHash}', now() - interval '1 day')
      ON CONFLICT (user_id) DO UPDATE SET password_hash = EXCLUDED.password_hash`);
  }

  /** Signs somebody in without going through the page. @returns the value of the Cookie header */
  async session(userId: string): Promise<string> {
    const secret = randomBytes(32);
    await this.make.query(
      `INSERT INTO portal_sessions (id, secret_hash, user_id, user_agent, network, confirmed_at)
       VALUES ($1, $2, $3, 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0', '127.0.0.1', now())`,
      [uuidv7(), createHash('sha256').update(secret).digest(), userId],
    );
    return `session=${secret.toString('base64url')}`;
  }

  /** Queues the mails for requested links, as the worker does. */
  async resolveLinks(): Promise<void> {
    await this.make.query('SELECT resolve_password_links()');
  }

  /** What was mailed to an address, the oldest first. */
  async mailsTo(email: string, kind = 'password_reset'): Promise<EmailPayload[]> {
    await this.resolveLinks();
    const rows = await this.make.query<{ kind: string; payload: Buffer }>(
      `SELECT kind, one AS payload FROM outbox, unnest(array_prepend(payload, gathered)) WITH ORDINALITY g (one, n)
       WHERE recipient = $1 ORDER BY created_at, id, n`,
      [email],
    );
    const mails = rows.map((row) => ({ ...row, payload: JSON.parse(this.app.get(Vault).open('outbox payloads', row.payload)) as EmailPayload }));
    return mails.filter((mail) => (mail.payload.notice?.kind ?? mail.kind) === kind).map(({ payload }) => payload);
  }

  /** Runs a task while a middleware lets everything pass. */
  async withoutMiddleware<T>(middleware: RequestHandler, task: () => Promise<T>): Promise<T> {
    const { router }: Express = this.app.getHttpAdapter().getInstance();
    const layer = router.stack.find(({ handle }) => handle === middleware)!;
    layer.handle = (_request, _response, next) => next();
    return task().finally(() => (layer.handle = middleware));
  }

  async stop(): Promise<void> {
    await this.app.close();
    await this.make.close();
    if (this.ownsDatabase) await this.database.drop();
  }
}

/** The cookie that a response sets, as the next request sends it; null if it sets none with this name. */
export function cookieOf({ headers }: supertest.Response, name = 'session'): string | null {
  const set = (headers['set-cookie'] ?? []) as unknown as string[];
  return set.find((line) => line.startsWith(`${name}=`))?.split(';')[0] ?? null;
}
