import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildOnce } from '../support/http/api-process.js';
import { results, runCli } from '../support/process/cli.js';
import { processesOf, Service } from '../support/process/service.js';

const KEY = /tk_live_[0-9a-f]{64}/;

/** The database roles whose URLs each process of the service has in its environment, under any name. */
function databaseRoles(folder: string): Record<string, string[]> {
  const roles: Record<string, string[]> = {};
  for (const line of processesOf(folder)) {
    const [, app] = /apps\/(api|worker|portal)\/src\/main\.js/.exec(line) ?? [];
    if (!app) continue;
    const environment = readFileSync(`/proc/${Number.parseInt(line, 10)}/environ`, 'utf8');
    roles[app] = [...environment.matchAll(/postgres(?:ql)?:\/\/([^:@/]+)/g)].map(([, user]) => user!);
    expect(environment).not.toMatch(/MIGRATION_DATABASE_URL=[^\0]/);
  }
  return roles;
}

// A real start takes seconds of two cores, so each test covers several.
describe('npm start', () => {
  let folder: string;
  let data: string;
  beforeAll(() => buildOnce());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tutoring-start-'));
    // Started by root, PostgreSQL runs as another account, which must be able to enter the folder.
    chmodSync(folder, 0o755);
    data = join(folder, 'data');
  });
  afterEach(async () => {
    for (const service of Service.running) await service.stop('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  });

  it('stops when interrupted, survives a full disk, and shows its first key once', async () => {
    // Interrupted while it starts.
    const interrupted = new Service(data);
    await interrupted.says(/PostgreSQL \S+ started/);
    expect(await interrupted.stop()).toBe(0);
    expect(interrupted.output).toContain('Stopping …');
    expect(processesOf(folder)).toEqual([]);
    expect(existsSync(join(data, 'start.lock'))).toBe(false);

    // Neither its own output nor the API's log can be written.
    mkdirSync(join(data, 'log'), { recursive: true });
    symlinkSync('/dev/full', join(data, 'log', 'api.log'));
    const full = openSync('/dev/full', 'w');
    const mute = new Service(data, { stdout: full });
    closeSync(full);
    const url = await mute.listens();
    await mute.says(/api\.log cannot be written \(ENOSPC\)\. The service continues\./);
    expect((await fetch(`${url}/docs`)).status).toBe(200);
    await vi.waitUntil(() => existsSync(join(data, 'first-key-unshown')));
    await mute.stop();
    expect(processesOf(folder)).toEqual([]);
    rmSync(join(data, 'log', 'api.log'));

    // Nobody saw the first key, so it is replaced by one that is shown once. Settings come from .env here.
    writeFileSync(join(folder, '.env'), `SMTP_URL=\nBLOG_BRANDS=north,south\nPORT=1\n`);
    const service = new Service(data, { cwd: folder });
    const base = await service.ready();
    const curl = /curl -H '([^:]+): ([^']+)' '([^']+)'/.exec(service.output)!;
    expect(service.output.match(new RegExp(KEY, 'g'))).toHaveLength(2);
    const students = await fetch(curl[3]!, { headers: { [curl[1]!]: curl[2]! } });
    expect(students.status).toBe(200);
    expect(((await students.json()) as { data: object[] }).data).toHaveLength(3);
    // The demo owner signs in to the portal with the printed password.
    const portal = /Portal +(\S+)/.exec(service.output)![1]!;
    const [, email = '', password = ''] = /^ {4}owner +(\S+@\S+) +(\S+)$/m.exec(service.output)!;
    expect(password).toMatch(/^([a-z0-9]{4}-){3}[a-z0-9]{4}$/);
    const signedIn = await fetch(`${portal}/sign-in`, {
      method: 'POST',
      headers: { 'Sec-Fetch-Site': 'same-origin' },
      body: new URLSearchParams({ email, password }),
      redirect: 'manual',
    });
    expect([signedIn.status, signedIn.headers.get('location')]).toEqual([303, '/']);
    const settings = { DATA_DIR: data };
    const cli = (...args: string[]) => runCli(args, settings, '', folder);
    const listed = results((await cli('--json', 'key', 'list', '--org', 'wattle-lane')).stdout);
    expect(listed.map(({ status }) => status)).toEqual(['active', 'revoked']);

    // Links contain the port that was chosen.
    const made = await cli('--json', 'key', 'create', '--org', 'wattle-lane', '--name', 'x', '--scopes', 'blog:write');
    const image = new FormData();
    const bytes = readFileSync(fileURLToPath(new URL('../../docs/study-tips.jpg', import.meta.url)));
    image.append('file', new Blob([bytes]), 'tips.jpg');
    const headers = { Authorization: `Token token=${results(made.stdout)[0]!.key as string}` };
    const uploaded = await fetch(`${base}/v1/blog-images`, { method: 'POST', headers, body: image });
    expect(await uploaded.json()).toMatchObject({ url: expect.stringMatching(`^${base}/media/org/`) as string });

    // A second start on the same data says where the first one runs, and leaves it alone.
    const second = new Service(data);
    expect(await second.exited).toBe(1);
    expect(second.output).toMatch(new RegExp(`^Already running at ${base}, process ${service.pid}\\. [^\\n]+\\n$`));
    expect(databaseRoles(folder)).toEqual({ api: ['tutoring_app'], worker: ['tutoring_worker'], portal: ['tutoring_portal'] });

    // Commands use the address, mail and data of the running service.
    const args = ['key', 'create', '--org', 'wattle-lane', '--name', 'invites', '--scopes', 'accounts:write'];
    const created = await cli(...args);
    expect(created.stdout).toContain(`${base}/v1/me`);
    const doctor = results((await cli('--json', 'doctor')).stdout);
    expect(doctor).toContainEqual({
      check: 'mail',
      status: 'ok',
      message: `mails are written to ${join(data, 'mail')}`,
    });
    expect((await cli('hook', 'set', '--brand', 'north', '--url', 'http://127.0.0.1:1/')).code).toBe(0);
    const response = await fetch(`${base}/v1/invites`, {
      method: 'POST',
      headers: { Authorization: `Token token=${KEY.exec(created.stdout)![0]}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ scope: 'organization', email: 'new.tutor@example.org' }),
    });
    const invite = (await response.json()) as { emailed: boolean; join_url: string };
    expect(invite.emailed).toBe(true);
    expect(invite.join_url).toMatch(new RegExp(`^${portal}/join/`));
    expect(service.output).toContain(join(data, 'mail'));
    const mails = () => readdirSync(join(data, 'mail')).filter((name) => name.endsWith('.eml'));
    await vi.waitUntil(() => mails().length === 1);
    expect(readFileSync(join(data, 'mail', mails()[0]!), 'utf8')).toContain('To: new.tutor@example.org');
    const log = () => readFileSync(join(data, 'log', 'worker.log'), 'utf8');
    await vi.waitUntil(() => log().includes(mails()[0]!));
    expect(log()).not.toMatch(/new\.tutor|\/join\//);

    expect(await service.stop()).toBe(0);
    expect(processesOf(folder)).toEqual([]);
    expect(readFileSync(join(data, 'log', 'api.log'), 'utf8')).not.toMatch(KEY);
    for (const name of readdirSync(data, { recursive: true, encoding: 'utf8' })) {
      expect(lstatSync(join(data, name)).mode & 0o077, name).toBe(0);
    }
  });

  it('takes over the database and port of a killed launcher, whose API and worker end by themselves', async () => {
    const first = new Service(data, { settings: { DEMO: 'false' } });
    const base = await first.ready();
    expect(first.output).not.toMatch(KEY);
    expect(first.output).toContain(`Data           ${data}\n`);
    await first.stop('SIGKILL');
    // The first one's API may still hold this port for a moment.
    const next = new Service(data, { settings: { DEMO: 'false', PORT: new URL(base).port, PORTAL_PORT: '0' } });
    expect(await next.ready()).toBe(base);
    await vi.waitUntil(() => processesOf(folder).filter((line) => line.includes('postgres -D')).length === 1);
    expect(await runCli(['key', 'list', '--org', 'wattle-lane'], { DATA_DIR: data })).toMatchObject({ code: 1 });
    expect(await next.stop('SIGTERM')).toBe(0);
    // Those of the first one end within 15 s, whatever they wait for.
    await expect.poll(() => processesOf(folder)).toEqual([]);

    // Commands start the database themselves and leave nothing running, even if they fail.
    expect(await runCli(['org', 'create', '--name', 'Mine', '--slug', 'mine'], { DATA_DIR: data })).toMatchObject({ code: 0 });
    rmSync(join(data, 'encryption-key'));
    const refused = await runCli(['org', 'list'], { DATA_DIR: data });
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain(`The encryption key ${join(data, 'encryption-key')} is missing`);
    expect(existsSync(join(data, 'encryption-key'))).toBe(false);
    expect(processesOf(folder)).toEqual([]);
  });
});
