import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { results, runCli } from '../support/cli.js';

const KEY = /tk_live_[0-9a-f]{64}/;

/** `npm start` as a newcomer runs it, in a data folder of its own. */
class Service {
  /** Those that a failed test would leave behind. */
  static readonly running = new Set<Service>();
  output = '';
  readonly exited: Promise<number | null>;
  private readonly child: ChildProcess;

  constructor(dataDir: string, settings: Record<string, string> = {}) {
    const run = fileURLToPath(new URL('../../scripts/run.js', import.meta.url));
    const env = { PATH: '/usr/bin:/bin', DATA_DIR: dataDir, PORT: '0', ...settings };
    this.child = spawn(process.execPath, [run, 'start'], { env });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    }
    this.exited = new Promise((resolve) => this.child.once('exit', resolve));
    Service.running.add(this);
    void this.exited.then(() => Service.running.delete(this));
  }

  /** Waits until the service says that it is ready; returns its base URL. */
  async ready(): Promise<string> {
    await vi.waitFor(() => expect(this.output).toMatch(/Ready in/), { timeout: 40_000, interval: 20 });
    return /Tutoring API +(\S+)/.exec(this.output)![1]!;
  }

  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> {
    this.child.kill(signal);
    return this.exited;
  }
}

/** Processes whose command line or environment (ps e) names the folder. */
function processesOf(folder: string): string[] {
  const lines = execFileSync('ps', ['axeww', '-o', 'pid=,stat=,args='], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes(folder) && !/^\s*\d+ +Z/.test(line));
}

/** Whose addresses of the database the environment of each process of the service holds, under whatever name. */
function databaseRoles(folder: string): Record<string, string[]> {
  const roles: Record<string, string[]> = {};
  for (const line of processesOf(folder)) {
    const [, app] = /apps\/(api|worker)\/src\/main\.js/.exec(line) ?? [];
    if (!app) continue;
    const environment = readFileSync(`/proc/${Number.parseInt(line, 10)}/environ`, 'utf8');
    roles[app] = [...environment.matchAll(/postgres(?:ql)?:\/\/([^:@/]+)/g)].map(([, user]) => user!);
    expect(environment).not.toContain('MIGRATION_DATABASE_URL');
  }
  return roles;
}

describe('npm start', () => {
  let folder: string;
  let data: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tutoring-start-'));
    // Root's PostgreSQL runs as another account, which has to enter the folder.
    chmodSync(folder, 0o755);
    data = join(folder, 'data');
  });
  afterEach(async () => {
    for (const service of Service.running) await service.stop('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  });

  it('starts everything, prints a key and a curl line that work, and Ctrl-C leaves nothing behind', async () => {
    const service = new Service(data);
    const base = await service.ready();
    const key = KEY.exec(service.output)![0];
    expect(service.output.match(new RegExp(KEY, 'g'))).toHaveLength(2);
    const curl = /curl -H '([^:]+): ([^']+)' '([^']+)'/.exec(service.output)!;
    const students = await fetch(curl[3]!, { headers: { [curl[1]!]: curl[2]! } });
    expect(students.status).toBe(200);
    expect(((await students.json()) as { data: object[] }).data).toHaveLength(3);
    expect((await fetch(`${base}/docs`)).status).toBe(200);
    await vi.waitFor(
      async () => expect(await (await fetch(`${base}/health/ready`)).json()).toMatchObject({ status: 'ok' }),
      {
        timeout: 10_000,
      },
    );
    // The command line reaches the same database while the service runs.
    const listed = await runCli(['--json', 'key', 'list', '--org', 'wattle-lane'], { DATA_DIR: data });
    expect(results(listed.stdout)).toHaveLength(1);

    expect(databaseRoles(folder)).toEqual({ api: ['tutoring_app'], worker: ['tutoring_worker'] });

    expect(await service.stop()).toBe(0);
    expect(processesOf(folder)).toEqual([]);
    expect(readFileSync(join(data, 'log', 'api.log'), 'utf8')).not.toMatch(KEY);
    for (const name of readdirSync(data, { recursive: true, encoding: 'utf8' })) {
      expect(statSync(join(data, name)).mode & 0o077, name).toBe(0);
    }

    // The second start is warm: it keeps the data, and shows no key.
    const again = new Service(data);
    const url = await again.ready();
    expect(again.output).not.toMatch(KEY);
    expect(again.output).toContain('npm run --silent cli -- key create --org wattle-lane');
    const me = await fetch(`${url}/v1/me`, { headers: { Authorization: `Token token=${key}` } });
    expect(await me.json()).toMatchObject({ org_slug: 'wattle-lane', scopes: ['read'] });
    expect(Number(/Ready in ([\d.]+) s/.exec(again.output)![1])).toBeLessThan(15);
    expect(await again.stop('SIGTERM')).toBe(0);
    expect(processesOf(folder)).toEqual([]);
  }, 120_000);

  it('writes mails into the data folder when there is no mail server', async () => {
    const service = new Service(data);
    const base = await service.ready();
    expect(service.output).toContain(join(data, 'mail'));
    const args = ['--json', 'key', 'create', '--org', 'wattle-lane', '--name', 'invites', '--scopes', 'accounts:write'];
    const { key } = results((await runCli(args, { DATA_DIR: data })).stdout)[0] as { key: string };
    const response = await fetch(`${base}/v1/invites`, {
      method: 'POST',
      headers: { Authorization: `Token token=${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ scope: 'organization', email: 'new.tutor@example.org' }),
    });
    const invite = (await response.json()) as { emailed: boolean; join_url: string };
    expect(invite.emailed).toBe(true);
    const mails = () => readdirSync(join(data, 'mail')).filter((name) => name.endsWith('.eml'));
    await vi.waitFor(() => expect(mails()).toHaveLength(1), { timeout: 10_000 });
    const [file] = mails();
    const mail = readFileSync(join(data, 'mail', file!), 'utf8').replaceAll('=\r\n', '');
    expect(mail).toContain('To: new.tutor@example.org');
    expect(mail).toContain(invite.join_url);
    const log = () => readFileSync(join(data, 'log', 'worker.log'), 'utf8');
    await vi.waitFor(() => expect(log()).toContain(file));
    expect(log()).not.toMatch(/new\.tutor|\/join\//);
    expect(await service.stop()).toBe(0);
  }, 120_000);

  it('DEMO=false starts empty', async () => {
    const service = new Service(data, { DEMO: 'false' });
    await service.ready();
    expect(service.output).not.toMatch(KEY);
    expect(await runCli(['key', 'list', '--org', 'wattle-lane'], { DATA_DIR: data })).toMatchObject({ code: 1 });
    await service.stop();
  }, 60_000);

  it('a port in use is one clear line, and nothing is left running', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const service = new Service(data, { PORT: String(port), DEMO: 'false' });
    expect(await service.exited).toBe(1);
    expect(service.output).toMatch(new RegExp(`EADDRINUSE.*${port}`));
    expect(service.output).not.toMatch(/\n\s+at /);
    expect(processesOf(folder)).toEqual([]);
    server.close();
  }, 60_000);

  it('a launcher that was killed leaves an API and a worker that end by themselves, and a database that the next start adopts', async () => {
    const service = new Service(data, { DEMO: 'false' });
    await service.ready();
    await service.stop('SIGKILL');
    const next = new Service(data, { DEMO: 'false' });
    await next.ready();
    await vi.waitFor(() => expect(processesOf(folder).filter((line) => line.includes('postgres -D'))).toHaveLength(1), {
      timeout: 15_000,
    });
    expect(await next.stop()).toBe(0);
    expect(processesOf(folder)).toEqual([]);
    expect(existsSync(join(data, 'encryption-key'))).toBe(true);
  }, 90_000);
});
