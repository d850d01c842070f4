import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { migrate } from '@app/database';
import { type EmbeddedPostgres, findPostgresBinaries, freePort, startEmbeddedPostgres } from '../../../apps/cli/src/postgres/embedded-postgres.js';
import { runCommand, type ServerAccount } from '../../../apps/cli/src/postgres/server-process.js';

/** A PostgreSQL that a spec may crash, unlike the shared one. */
export class OwnPostgres {
  private constructor(
    readonly urls: EmbeddedPostgres,
    /** Removed at the end. */
    private readonly folders: string[],
    private readonly account: ServerAccount | undefined,
    private readonly pgCtl: string,
    /** Server options in pg_ctl's form, including the port. */
    private readonly options: string,
  ) {}

  /** @param different server settings; with the defaults a crash loses recent commits @param binDirectory of another server */
  static async start(different: Record<string, string> = {}, binDirectory?: string): Promise<OwnPostgres> {
    const folder = mkdtempSync(join(tmpdir(), 'tutoring-own-'));
    const settings = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', ...different };
    const urls = await startEmbeddedPostgres({ dataDir: folder, settings, ...(binDirectory ? { binDirectory } : {}) });
    await migrate(urls.ownerUrl, { api: urls.applicationUrl, worker: urls.workerUrl, portal: urls.portalUrl });
    const { uid, gid } = await stat(urls.dataDirectory);
    const account = process.getuid?.() === 0 ? { uid, gid } : undefined;
    const binaries = await findPostgresBinaries(account, binDirectory);
    // The file holds the server's command line: the program, then its options in quotes.
    const command = await readFile(join(urls.dataDirectory, 'postmaster.opts'), 'utf8');
    const options = [...command.matchAll(/"(-c|[a-z_]+=[^"]*)"/g)].map(([, part]) => (part === '-c' ? part : `'${part}'`));
    return new OwnPostgres(urls, [folder, dirname(urls.dataDirectory)], account, join(binaries.binDirectory, 'pg_ctl'), options.join(' '));
  }

  /** URL of the application's database for the superuser. */
  get adminUrl(): string {
    return Object.assign(new URL(this.urls.adminUrl), { pathname: new URL(this.urls.applicationUrl).pathname }).href;
  }

  /** A streaming replica, which follows it from now on. @param settings further ones of the server */
  async replica(settings: Record<string, string> = {}): Promise<OwnPostgres> {
    const dataDirectory = `${this.urls.dataDirectory}-replica`;
    const admin = new pg.Client({ connectionString: this.urls.adminUrl });
    await admin.connect();
    appendFileSync(join(this.urls.dataDirectory, 'pg_hba.conf'), 'host replication all 127.0.0.1/32 scram-sha-256\n');
    await admin.query("SELECT pg_reload_conf(), pg_backup_start('replica', true)");
    execFileSync('cp', ['-a', this.urls.dataDirectory, dataDirectory]);
    const { rows } = await admin.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
    await admin.end();
    for (const [name, text] of Object.entries({ backup_label: rows[0]!.labelfile, 'standby.signal': '' })) {
      const file = join(dataDirectory, name);
      writeFileSync(file, text);
      if (this.account) chownSync(file, this.account.uid, this.account.gid);
    }
    for (const file of ['postmaster.pid', 'postmaster.opts']) rmSync(join(dataDirectory, file));
    const { port, username, password } = new URL(this.urls.adminUrl);
    const own = String(await freePort());
    const all = {
      ...settings,
      hot_standby_feedback: 'on',
      primary_conninfo: `host=127.0.0.1 port=${port} user=${username} password=${decodeURIComponent(password)}`,
    };
    const more = Object.entries(all).map(([name, value]) => `-c '${name}=${value}'`);
    const options = [this.options.replace(/'port=\d+'/, `'port=${own}'`), ...more].join(' ');
    const at = (url: string) => Object.assign(new URL(url), { port: own }).href;
    const { adminUrl, ownerUrl, applicationUrl, workerUrl, portalUrl } = this.urls;
    const urls = {
      ...this.urls,
      dataDirectory,
      adminUrl: at(adminUrl),
      ownerUrl: at(ownerUrl),
      applicationUrl: at(applicationUrl),
      workerUrl: at(workerUrl),
      portalUrl: at(portalUrl),
    };
    const replica = new OwnPostgres(urls, [dataDirectory], this.account, this.pgCtl, options);
    await replica.revive();
    return replica;
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
    for (const pid of this.processes()) process.kill(pid, name);
  }

  /** The server and all its backends. */
  processes(): number[] {
    const server = readFileSync(join(this.urls.dataDirectory, 'postmaster.pid'), 'utf8').split('\n')[0]!;
    const backends = execFileSync('ps', ['-o', 'pid=', '--ppid', server], { encoding: 'utf8' }).split('\n');
    return [server, ...backends].map(Number).filter(Boolean);
  }

  async stop(): Promise<void> {
    await this.run('stop', '-m', 'immediate').catch(() => undefined);
    // When started as root, the server may keep its data elsewhere.
    for (const folder of this.folders) rmSync(folder, { recursive: true, force: true });
  }

  private async run(...args: string[]): Promise<void> {
    const { code, output } = await runCommand(this.pgCtl, ['-D', this.urls.dataDirectory, '-w', ...args], this.account);
    if (code !== 0) throw new Error(`pg_ctl ${args[0]}: ${output}`);
  }
}
