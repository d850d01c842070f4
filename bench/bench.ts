import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Child } from './children.js';
import { type BenchDatabase, startDatabase } from './database.js';

/** The flags with which `npm run start:prod` and `npm start` run the API. */
const PRODUCTION_FLAGS = [`--env-file=${fileURLToPath(new URL('../../apps/api/heap.env', import.meta.url))}`];

export const API = '../apps/api/src/main.js';
export const POOL_SIZE = 10;

/** `smoke` only shows that everything runs: its figures mean nothing. */
export type Length = 'smoke' | 'quick' | 'full';

export interface Server {
  child: Child;
  url: string;
  /** A key with the scope `read`. */
  key: string;
}

/** One run: its database and the processes that it has started. */
export class Bench {
  private readonly started: { stop(): Promise<void> }[] = [];
  /** Set by {@link prepare}. */
  database: BenchDatabase;

  /**
   * @param students number of students of the measured demo, if any
   */
  constructor(
    readonly length: Length,
    readonly students: number,
  ) {}

  async prepare(): Promise<void> {
    const preparing = startDatabase(this.length === 'smoke' ? 1_000 : 50_000);
    // Logged now, because the run may end before the database starts.
    this.started.push({ stop: async () => (await preparing).stop() });
    this.database = await preparing;
  }

  /** Starts a process that the end of the run stops. */
  start(module: string, options: ConstructorParameters<typeof Child>[2]): Child {
    const child = new Child(module, join(this.database.folder, `${this.started.length}.log`), options);
    this.started.push(child);
    return child;
  }

  /** @param preloaded modules that the process loads first */
  async serve(
    module: string,
    args: string[],
    env: Record<string, string> = {},
    preloaded: string[] = [],
  ): Promise<Server> {
    const flags = preloaded.flatMap((url) => ['--import', url]);
    const child = this.start(module, { args, env, flags: module === API ? [...PRODUCTION_FLAGS, ...flags] : flags });
    return { child, url: await child.listening(), key: this.database.key };
  }

  /** This API as it is deployed. */
  serveApi(env: Record<string, string> = {}, preloaded: string[] = []): Promise<Server> {
    const settings = { HOST: '127.0.0.1', PORT: '0', RATE_LIMIT_PER_MINUTE: '1000000' };
    return this.serve(API, [], { ...settings, ...this.settings, ...env }, preloaded);
  }

  /** The settings that the API and the worker share. */
  get settings(): Record<string, string> {
    const { applicationUrl, workerUrl, encryptionKey } = this.database;
    return {
      DATABASE_URL: applicationUrl,
      WORKER_DATABASE_URL: workerUrl,
      DATABASE_POOL_SIZE: String(POOL_SIZE),
      ENCRYPTION_KEY: encryptionKey,
      LOG_LEVEL: 'info',
      INVITE_MAILS_PER_DAY: '1000000',
    };
  }

  /** Stops another run together with this one. */
  alsoStop(other: Bench): void {
    this.started.push({ stop: () => other.stop() });
  }

  /** Stops everything in reverse order, except the database if the run continues. */
  async stop(all = true): Promise<void> {
    for (const one of this.started.splice(all ? 0 : 1).reverse()) await one.stop();
  }
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
