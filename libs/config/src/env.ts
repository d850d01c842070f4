import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { Setting } from './settings.js';
import { variables } from './variables.js';

type Values = { [Name in keyof typeof variables]: ReturnType<(typeof variables)[Name]['parse']> };

/** Names of all variables, in the order of `.env.example`. */
export const settingNames = Object.keys(variables) as (keyof Values)[];

/** The configuration of one process. Injectable by its class. */
export class Env {
  constructor(
    private readonly values: Readonly<Values>,
    private readonly source: NodeJS.ProcessEnv = {},
  ) {}

  get<Name extends keyof Values>(name: Name): Values[Name] {
    return this.values[name];
  }

  /** A required variable. Throws a plain error if it is not set. */
  need<Name extends keyof Values>(name: Name): NonNullable<Values[Name]> {
    const value = this.values[name];
    if (value === null) throw new EnvError([missing(name)]);
    return value;
  }

  /** @throws EnvError that lists the variables without which this program cannot start */
  needFor(process: 'api' | 'worker' | 'portal'): void {
    const {
      WORKER_DATABASE_URL: worker,
      PORTAL_DATABASE_URL: portal,
      DATABASE_URL: shared,
      ENCRYPTION_KEY,
    } = this.values;
    const faults: string[] = [];
    if (!({ api: null, worker, portal }[process] ?? shared)) faults.push(missing('DATABASE_URL'));
    if (!ENCRYPTION_KEY) faults.push(missing('ENCRYPTION_KEY'));
    // Each of them makes links that are mailed or shown.
    if (this.production && this.values.APP_URL === null) faults.push(missing('APP_URL'));
    if (faults.length > 0) throw new EnvError(faults);
  }

  /** Elsewhere than in production, links lead to localhost without these. @throws EnvError */
  needForLinks(names: readonly ('APP_URL' | 'PUBLIC_URL')[]): void {
    const unset = this.production ? names.filter((name) => this.values[name] === null) : [];
    if (unset.length > 0) throw new EnvError(unset.map(missing));
  }

  /** The environment with `changes` for child processes. Unset (null) variables stay as empty ones, or the child would read `.env`. */
  forChildren(changes: Record<string, string | null>): Record<string, string> {
    const inherited = Object.entries(this.source).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const wanted = Object.entries(changes).flatMap(([name, value]) => [
      [name, value ?? ''],
      [`${name}_FILE`, ''],
    ]);
    return Object.fromEntries([...inherited, ...wanted]) as Record<string, string>;
  }

  /** The variable that a URL comes from, for messages; null if none. */
  nameOf(address: string): string | null {
    return settingNames.find((name) => this.values[name] === address) ?? null;
  }

  /** The database URL of a process. On a laptop one role may serve all; in production each process has its own. */
  urlOf(process: 'api' | 'worker' | 'portal'): string {
    const { WORKER_DATABASE_URL: worker, PORTAL_DATABASE_URL: portal } = this.values;
    return { api: null, worker, portal }[process] ?? this.need('DATABASE_URL');
  }

  /** Where the worker listens for notifications. */
  get listenUrl(): string {
    return this.values.WORKER_LISTEN_URL ?? this.urlOf('worker');
  }

  /** The database URLs of the processes. The owner grants rights to the roles in them. */
  get processUrls(): { api: string; worker: string; portal: string } {
    return { api: this.urlOf('api'), worker: this.urlOf('worker'), portal: this.urlOf('portal') };
  }

  /** Where clients reach the API. */
  get apiUrl(): string {
    return this.values.PUBLIC_URL ?? `http://${this.hostName}:${this.values.PORT}`;
  }

  /** The portal's port: the one after the API's, unless it is set. */
  get portalPort(): number {
    const { PORT: port, PORTAL_PORT: portal } = this.values;
    return portal ?? (port === 0 ? 0 : port + 1);
  }

  /** Where people open the portal. */
  get portalUrl(): string {
    this.needForLinks(['APP_URL']);
    return this.values.APP_URL ?? `http://${this.hostName}:${this.portalPort}`;
  }

  /** The host name in URLs: `localhost`, unless the service listens on a single other address. */
  get hostName(): string {
    const { HOST: host } = this.values;
    if (!host || ['0.0.0.0', '::', '127.0.0.1', '::1'].includes(host)) return 'localhost';
    return host.includes(':') ? `[${host}]` : host;
  }

  /** The owner's connection: it migrates, owns every table, and runs the operator's commands. */
  get migrationUrl(): string {
    return this.values.MIGRATION_DATABASE_URL ?? this.need('DATABASE_URL');
  }

  get production(): boolean {
    return this.values.NODE_ENV === 'production';
  }
}

/** Remedies for missing variables, if there is more to say than to set them. */
const REMEDIES: Partial<Record<keyof Values, string>> = {
  DATABASE_URL: 'set it in the environment or in .env, or use "npm start", which includes its own database',
  APP_URL:
    "set it to the portal's address as people see it, such as https://portal.example.org, or links in mails would lead to localhost",
  PUBLIC_URL:
    "set it to the API's address as clients see it, such as https://api.example.org, or links would lead to localhost",
  ENCRYPTION_KEY: 'generate one with "openssl rand -hex 32" and use it for every process',
};

function missing(name: keyof Values): string {
  return `${name} is not set: ${REMEDIES[name] ?? 'set it in the environment or in .env'}`;
}

/** All configuration errors, one per line. */
export class EnvError extends Error {
  constructor(readonly faults: string[]) {
    const text = faults.length === 1 ? ` ${faults[0]}` : faults.map((fault) => `\n  - ${fault}`).join('');
    super(`The configuration is invalid:${text}`);
  }
}

/** Adds the variables of `.env` to the environment, which takes precedence. Every program calls this first. @throws EnvError */
export function readEnvFile(environment: NodeJS.ProcessEnv = process.env, file = '.env'): void {
  let text: string;
  try {
    // Some editors add a byte order mark, which would become part of the first name.
    text = readFileSync(file, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    throw new EnvError([`${file} cannot be read (${code})`]);
  }
  const given = new Set(Object.keys(environment).map((name) => name.replace(/_FILE$/, '')));
  for (const [name, value] of Object.entries(parseEnv(text))) {
    if (!given.has(name.replace(/_FILE$/, ''))) environment[name] = value;
  }
}

/**
 * Reads the environment, the only one to do so. Empty counts as unset; `NAME_FILE` names a file that holds the value.
 * @param overrides settings of the command line and of tests @throws EnvError that lists all faults
 */
export function loadEnv(overrides: Record<string, string> = {}, source: NodeJS.ProcessEnv = process.env): Env {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(variables) as [string, Setting<unknown>][]) {
    const given = overrides[name] ?? readVariable(name, source, faults);
    values[name] = setting.fallback;
    if (given === undefined || given === '') continue;
    try {
      values[name] = setting.parse(given);
    } catch (error) {
      // The message omits the value, which may be a secret.
      faults.push(`${name} must be ${(error as Error).message}`);
    }
  }
  if (values.STORAGE === 's3' && !values.S3_BUCKET) faults.push('S3_BUCKET is not set: STORAGE=s3 requires it');
  if ((values as Values).DATABASE_REPLICA_URLS.length > 0 && !values.REDIS_URL) {
    faults.push('REDIS_URL is not set: DATABASE_REPLICA_URLS requires it');
  }
  if (values.S3_PRIVATE_BUCKET && values.S3_PRIVATE_BUCKET === values.S3_BUCKET) {
    faults.push('S3_PRIVATE_BUCKET must be another bucket than S3_BUCKET, which everybody can read');
  }
  if (!values.S3_ACCESS_KEY_ID !== !values.S3_SECRET_ACCESS_KEY) {
    faults.push('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY belong together: set both or neither');
  }
  if (faults.length > 0) throw new EnvError(faults);
  return new Env(values as Values, source);
}

function readVariable(name: string, source: NodeJS.ProcessEnv, faults: string[]): string | undefined {
  const file = source[`${name}_FILE`];
  if (source[name] || !file) return source[name];
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    faults.push(`${name}_FILE cannot be read (${(error as NodeJS.ErrnoException).code})`);
    return undefined;
  }
}
