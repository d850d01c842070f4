import { dirname, join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { type Env, loadEnv } from '@app/config';
import type { ProcessRole } from '@app/database';
import { storageOf } from '@app/storage';
import { Failure } from '../output.js';
import { bannerText } from '../start/banner.js';
import { Child } from '../start/child.js';
import { DataLock, launcherOf, refuseSecondStart, wasKilled } from '../start/data-lock.js';
import { logFolder, mailFolder, makePrivate } from '../start/folders.js';
import { DEMO_SLUG, type DemoLogin, FirstStart } from '../start/first-start.js';
import { freePort } from '../postgres/embedded-postgres.js';
import { checkPorts, hostOf } from '../start/port.js';
import { WatchedApi } from '../start/watched-api.js';
import { type OpenDatabase, openDatabase, usesEmbedded } from '../command-context.js';

/** `start`: the whole service on one machine. */
export function addStartCommand(program: Command): void {
  program
    .command('start')
    .description('start PostgreSQL (unless DATABASE_URL is set), the API, the portal and the worker; Ctrl-C stops them')
    .option('--watch', 'for development: rebuild and restart the API when a source file changes')
    .action(({ watch = false }: { watch?: boolean }) => start(watch));
}

async function start(watch: boolean): Promise<void> {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (!stopping.signal.aborted) process.stdout.write('\nStopping …\n');
      stopping.abort();
    });
  }
  const env = loadEnv();
  const dataDir = env.get('DATA_DIR');
  refuseSecondStart(dataDir, launcherOf(dataDir));
  await checkPorts(env, wasKilled(dataDir));
  const lock = await DataLock.take(dataDir);
  const service = new Service(stopping.signal, watch);
  try {
    lock.tell(await service.start());
    await service.showBanner();
    await service.untilStopped();
  } catch (error) {
    // Ignores failures that the stop itself causes.
    if (!stopping.signal.aborted) throw error;
  } finally {
    await service.stop();
    lock.release();
  }
}

/** PostgreSQL, API, portal and worker. Remembers what has been started. */
class Service {
  private database: OpenDatabase | undefined;
  private readonly children: Child[] = [];
  private url = '';
  private portalUrl = '';

  constructor(
    private readonly stopping: AbortSignal,
    private readonly watch: boolean,
  ) {}

  async start(): Promise<string> {
    this.database = await openDatabase({ signal: this.stopping });
    this.stopping.throwIfAborted();
    const { env } = this.database;
    await checkStorage(env);
    if (wantsDemo(env)) await FirstStart.with(env, (first) => first.loadDemo(this.stopping));
    this.stopping.throwIfAborted();
    makePrivate(logFolder(env));
    if (!env.get('SMTP_URL')) makePrivate(mailFolder(env));
    // Chosen before anything starts, because all processes create links to both API and portal.
    const addresses = await this.chooseAddresses(env);
    if (this.watch) await this.watchApi(env, addresses);
    else await this.startChild('api', env, addresses);
    await this.startChild('worker', env, addresses);
    await this.startChild('portal', env, addresses);
    return this.url;
  }

  /** Picks free ports where the settings do not name any. */
  private async chooseAddresses(env: Env): Promise<Record<string, string>> {
    const port = env.get('PORT') || (await freePort());
    const portalPort = env.portalPort || (await freePort());
    this.url = env.get('PUBLIC_URL') ?? `http://${env.hostName}:${port}`;
    this.portalUrl = env.get('APP_URL') ?? `http://${env.hostName}:${portalPort}`;
    return { PORT: String(port), PORTAL_PORT: String(portalPort), APP_URL: this.portalUrl };
  }

  private async startChild(app: ProcessRole, env: Env, settings: Record<string, string>): Promise<void> {
    const main = fileURLToPath(new URL(`../../../${app}/src/main.js`, import.meta.url));
    const environment = { ...childEnvironment(app, env), ...settings };
    const child = Child.fork(main, environment, join(logFolder(env), `${app}.log`));
    this.children.push(child);
    await this.unlessStopped(child.ready());
  }

  private async watchApi(env: Env, settings: Record<string, string>): Promise<void> {
    const environment = { ...childEnvironment('api', env), ...settings, NODE_ENV: 'development' };
    const api = WatchedApi.start(environment);
    this.children.push(api);
    const host = hostOf(env).includes(':') ? `[${hostOf(env)}]` : hostOf(env);
    await this.unlessStopped(api.listens(`http://${host}:${settings.PORT}`, this.stopping));
  }

  /** Also creates the first key: it cannot get lost if it is shown at once. */
  async showBanner(): Promise<void> {
    const { env, where } = this.database!;
    const mail = env.get('SMTP_URL') ? 'sent through SMTP_URL' : mailFolder(env);
    const places = { url: this.url, portal: this.portalUrl, data: whereIs(where, env), logs: logFolder(env), mail };
    const organization = wantsDemo(env) ? DEMO_SLUG : '<slug>';
    const show = (key: string | null, logins: DemoLogin[]) =>
      printed(bannerText({ ...places, logins, key, organization, seconds: performance.now() / 1000 }));
    if (wantsDemo(env)) await FirstStart.with(env, (first) => first.showKey(show));
    else await show(null, []);
  }

  /** @throws Failure if a process ends by itself */
  async untilStopped(): Promise<void> {
    await this.unlessStopped(Promise.race(this.children.map(({ ended }) => ended)));
    throw new Failure(`A process exited unexpectedly: see ${logFolder(this.database!.env)}`);
  }

  async stop(): Promise<void> {
    await Promise.all(this.children.map((child) => child.stop()));
    await this.database?.stop();
  }

  private async unlessStopped<T>(work: Promise<T>): Promise<T> {
    const stopped = new Promise<never>((_, reject) => {
      this.stopping.addEventListener('abort', () => reject(new Failure('stopped')), { once: true });
    });
    this.stopping.throwIfAborted();
    return Promise.race([work, stopped]);
  }
}

/** @returns whether printing succeeded; the service continues even if nobody reads its output */
function printed(text: string): Promise<boolean> {
  return new Promise((done) => process.stdout.write(text, (error) => done(!error)));
}

/** Where the data is. When run as root, the database may be in another folder. */
function whereIs(database: string | null, env: Env): string {
  const folder = resolve(env.get('DATA_DIR'));
  if (!database) return 'the database in DATABASE_URL';
  return dirname(database) === folder ? folder : `${database} (database), ${folder} (keys, images)`;
}

/** If not, whoever tries the service out may call receivers on the same machine. */
function admitsAny(env: Env): boolean {
  const { networks, places } = env.get('WEBHOOK_PRIVATE_NETWORKS');
  return networks.length + places.length > 0;
}

/** An external database gets demo data only on request. */
function wantsDemo(env: Env): boolean {
  return env.get('DEMO') ?? usesEmbedded(loadEnv());
}

/** Reports a misconfigured bucket now rather than at the first upload. */
async function checkStorage(env: Env): Promise<void> {
  if (env.get('STORAGE') !== 's3') return;
  try {
    await (await storageOf(env)).check();
  } catch (error) {
    const { name, message } = error as Error;
    const problem = `images cannot be stored in "${env.get('S3_BUCKET')}" (${name}: ${message})`;
    throw new Failure(`S3_BUCKET: ${problem}: check the S3_* settings`);
  }
}

/** The children's common environment. Each gets only its own role's URL, and none gets the owner's. */
function childEnvironment(app: ProcessRole, env: Env): Record<string, string> {
  return env.forChildren({
    NODE_ENV: 'production',
    DATABASE_URL: app === 'api' ? env.urlOf('api') : null,
    WORKER_DATABASE_URL: app === 'worker' ? env.urlOf('worker') : null,
    PORTAL_DATABASE_URL: app === 'portal' ? env.urlOf('portal') : null,
    MIGRATION_DATABASE_URL: null,
    ADMIN_DATABASE_URL: null,
    ENCRYPTION_KEY: env.need('ENCRYPTION_KEY'),
    HOST: hostOf(env),
    // A single process has no load balancer that needs time to notice its shutdown.
    SHUTDOWN_DELAY_SECONDS: '0',
    ...(wantsDemo(env) && !admitsAny(env) && { WEBHOOK_PRIVATE_NETWORKS: '127.0.0.0/8,::1/128' }),
    // Without a mail server, all three processes write mails to files.
    SMTP_URL: env.get('SMTP_URL') ?? pathToFileURL(mailFolder(env)).href,
  });
}
