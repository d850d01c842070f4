import { chmodSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { type Env, loadEnv } from '@app/config';
import { migrate, type ProcessRole } from '@app/database';
import { Failure } from '../output.js';
import { openDatabase } from '../workplace.js';
import { Child } from '../start/child.js';
import { type Demo, DEMO_SLUG, ensureDemo } from '../start/first-start.js';

/** `start`: the whole service on one machine. */
export function addStartCommand(program: Command): void {
  program
    .command('start')
    .description('start PostgreSQL (unless DATABASE_URL is set), API and worker; Ctrl-C stops them')
    .action(start);
}

async function start(): Promise<void> {
  const began = Date.now();
  // Asked to stop while starting: what is there by then is stopped in order.
  const stopAsked = new Promise<void>((done) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => {
        done();
      });
  });
  const embedded = loadEnv().get('DATABASE_URL') === null;
  const { env, stop: stopDatabase } = await openDatabase({ adopt: true });
  const children: Child[] = [];
  try {
    if (!embedded) await migrate(env.migrationUrl, env.processUrls);
    const demo = wantsDemo(env, embedded) ? await ensureDemo(env) : null;
    makePrivate(logFolder(env));
    if (!env.get('SMTP_URL')) makePrivate(mailFolder(env));
    const api = await startChild('api', env);
    children.push(api);
    children.push(await startChild('worker', env));
    const { listening } = api.ready as { listening: number };
    process.stdout.write(greeting(env, listening, demo, embedded, Date.now() - began));
    const ended = await Promise.race([stopAsked, ...children.map((child) => child.ended.then(() => 'ended' as const))]);
    if (ended) throw new Failure(`A process ended by itself: see ${logFolder(env)}`);
    process.stdout.write('\nStopping …\n');
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    await stopDatabase();
  }
}

/** A database of one's own gets demo data only when that is said. */
function wantsDemo(env: Env, embedded: boolean): boolean {
  return env.get('DEMO') ?? embedded;
}

/**
 * The children read the same environment, with what was made here in place of what is not set. Each gets the address of its
 * own role, and neither the owner's.
 */
function childEnvironment(app: ProcessRole, env: Env): Record<string, string> {
  return env.forChildren({
    NODE_ENV: 'production',
    DATABASE_URL: app === 'api' ? env.urlOf('api') : null,
    WORKER_DATABASE_URL: app === 'worker' ? env.urlOf('worker') : null,
    MIGRATION_DATABASE_URL: null,
    ADMIN_DATABASE_URL: null,
    ENCRYPTION_KEY: env.need('ENCRYPTION_KEY'),
    // A laptop's demo is not the network's business unless that is said.
    HOST: env.get('HOST') ?? '127.0.0.1',
    // No load balancer has to notice that the one process ends.
    SHUTDOWN_DELAY_SECONDS: '0',
    // Mails can be looked at without a mail server; API and worker agree that they go somewhere.
    SMTP_URL: env.get('SMTP_URL') ?? pathToFileURL(mailFolder(env)).href,
  });
}

function startChild(app: ProcessRole, env: Env): Promise<Child> {
  const main = fileURLToPath(new URL(`../../../${app}/src/main.js`, import.meta.url));
  return Child.start(main, childEnvironment(app, env), join(logFolder(env), `${app}.log`));
}

/** Where mails are written when there is no SMTP server. */
function mailFolder(env: Env): string {
  return resolve(env.get('DATA_DIR'), 'mail');
}

/** Mails and logs are nobody else's on this machine. */
function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
}

function logFolder(env: Env): string {
  return resolve(env.get('DATA_DIR'), 'log');
}

function greeting(env: Env, port: number, demo: Demo | null, embedded: boolean, tookMs: number): string {
  const base = env.get('PUBLIC_URL') ?? `http://localhost:${port}`;
  const lines = [
    '',
    `  Tutoring API   ${base}`,
    `  Docs           ${base}/docs`,
    `  Data           ${embedded ? resolve(env.get('DATA_DIR')) : 'the database of DATABASE_URL'}`,
    `  Logs           ${logFolder(env)}`,
    `  Mail           ${env.get('SMTP_URL') ? 'the server of SMTP_URL' : mailFolder(env)}`,
    '',
  ];
  if (demo) {
    lines.push(
      `  Your API key for the organization "${demo.slug}", shown this once (read-only):`,
      '',
      `    ${demo.key}`,
      '',
      '  Try it:',
      '',
      `    curl -H 'Authorization: Token token=${demo.key}' '${base}/v1/students?limit=3'`,
    );
  } else {
    lines.push(
      '  An API key is shown once, when it is made. Make another:',
      '',
      `    npm run --silent cli -- key create --org ${wantsDemo(env, embedded) ? DEMO_SLUG : '<slug>'} --name laptop`,
    );
  }
  lines.push('', `  Ready in ${(tookMs / 1000).toFixed(1)} s. Ctrl-C stops everything.`, '', '');
  return lines.join('\n');
}
