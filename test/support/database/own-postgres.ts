import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { migrate } from '@app/database';
import { type EmbeddedPostgres, findPostgresBinaries, startEmbeddedPostgres } from '../../../apps/cli/src/postgres/embedded-postgres.js';
import { runCommand, type ServerAccount } from '../../../apps/cli/src/postgres/server-process.js';

/** A PostgreSQL that a spec may crash, unlike the shared one. */
export class OwnPostgres {
  private constructor(
    readonly urls: EmbeddedPostgres,
    private readonly folder: string,
    private readonly account: ServerAccount | undefined,
    private readonly pgCtl: string,
    /** Server options in pg_ctl's form, including the port. */
    private readonly options: string,
  ) {}

  /** @param different server settings; with the defaults a crash loses recent commits */
  static async start(different: Record<string, string> = {}): Promise<OwnPostgres> {
    const folder = mkdtempSync(join(tmpdir(), 'tutoring-own-'));
    const settings = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', ...different };
    const urls = await startEmbeddedPostgres({ dataDir: folder, settings });
    await migrate(urls.ownerUrl, { api: urls.applicationUrl, worker: urls.workerUrl, portal: urls.portalUrl });
    const { uid, gid } = await stat(urls.dataDirectory);
    const account = process.getuid?.() === 0 ? { uid, gid } : undefined;
    const { binDirectory } = await findPostgresBinaries(account);
    // The file holds the server's command line: the program, then its options in quotes.
    const command = await readFile(join(urls.dataDirectory, 'postmaster.opts'), 'utf8');
    const options = [...command.matchAll(/"(-c|[a-z_]+=[^"]*)"/g)].map(([, part]) => (part === '-c' ? part : `'${part}'`));
    return new OwnPostgres(urls, folder, account, join(binDirectory, 'pg_ctl'), options.join(' '));
  }

  /** URL of the application's database for the superuser. */
  get adminUrl(): string {
    return Object.assign(new URL(this.urls.adminUrl), { pathname: new URL(this.urls.applicationUrl).pathname }).href;
  }

  /** Stops the server as a crash would: cuts connections and finishes nothing. */
  async crash(): Promise<void> {
    await this.run('stop', '-m', 'immediate');
  }

  /** Restarts the server on the same port; resolves when it accepts connections. */
  async revive(): Promise<void> {
    await this.run('start', '-l', join(this.urls.dataDirectory, 'server.log'), '-o', this.options);
  }

  /** Signals the server and all its backends. */
  signal(name: NodeJS.Signals): void {
    const server = readFileSync(join(this.urls.dataDirectory, 'postmaster.pid'), 'utf8').split('\n')[0]!;
    const backends = execFileSync('ps', ['-o', 'pid=', '--ppid', server], { encoding: 'utf8' }).split('\n');
    for (const pid of [server, ...backends].map(Number).filter(Boolean)) process.kill(pid, name);
  }

  async stop(): Promise<void> {
    await this.run('stop', '-m', 'immediate').catch(() => undefined);
    // When started as root, the server may keep its data elsewhere.
    for (const folder of [this.folder, dirname(this.urls.dataDirectory)]) {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  private async run(...args: string[]): Promise<void> {
    const { code, output } = await runCommand(this.pgCtl, ['-D', this.urls.dataDirectory, '-w', ...args], this.account);
    if (code !== 0) throw new Error(`pg_ctl ${args[0]}: ${output}`);
  }
}
