import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { DataLock, launcherOf } from '../../apps/cli/src/start/data-lock.js';
import { buildOnce } from '../support/http/api-process.js';
import { freePorts } from '../support/process/free-ports.js';
import { runCli } from '../support/process/cli.js';
import { runHere } from '../support/process/commands.js';
import { createEmptyDatabase, createTestDatabase, type TestDatabase, urlsOf } from '../support/database/database.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

let folder: string;
await buildOnce();

beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'tutoring-refused-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('npm start fails with one line', () => {
  const start = (settings: Record<string, string>) => runHere(['start'], { DATA_DIR: join(folder, 'data'), ...settings });
  let server: Server | undefined;
  afterEach(() => server?.close());

  it('if a port is taken, before it creates anything', async () => {
    server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server!.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const { code, stdout, stderr } = await start({ PORT: String(port) });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^Port ${port} is taken\\. Try PORT=\\d+ npm start\\n$`));
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each([
    [{ PORT: '65535' }, /^The portal needs a port after 65535, but there is none\. Try PORTAL_PORT=\d+ npm start\n$/],
    [{ PORT: '65534', PORTAL_PORT: '65534' }, /^The API and the portal cannot share port 65534\. Try PORTAL_PORT=\d+ npm start\n$/],
    [{ PORT: '65535', PORTAL_PORT: '65535' }, /^The API and the portal cannot share port 65535\. Try PORTAL_PORT=\d+ npm start\n$/],
  ])('if the ports are impossible: %j', async (settings, message) => {
    const { code, stdout, stderr } = await start(settings);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
  });

  it('if a port is taken, and never suggests the other port of the service', async () => {
    const port = await freePorts(2);
    server = createServer().listen(port, '127.0.0.1');
    await new Promise((resolve) => server!.once('listening', resolve));
    const api = await start({ PORT: String(port), PORTAL_PORT: String(port + 1) });
    expect(api.stderr).toMatch(new RegExp(`^Port ${port} is taken\\. Try PORT=(?!${port + 1} )\\d+ npm start\\n$`));
    const portal = await start({ PORT: String(port + 1), PORTAL_PORT: String(port) });
    expect(portal.stderr).toMatch(new RegExp(`^Port ${port} is taken\\. Try PORTAL_PORT=(?!${port + 1} )\\d+ npm start\\n$`));
  });

  it.each([
    ["HOST is another machine's address", { HOST: '192.0.2.1' }, /^HOST=192\.0\.2\.1 is not an address of this machine \(\w+\)\n$/],
    ['the data folder is not writable', { DATA_DIR: '/dev/null/data' }, /^The data folder \S+ is not writable \(ENOTDIR\): [^\n]+\n$/],
    ['STORAGE=s3 has no bucket', { STORAGE: 's3' }, /^The configuration is invalid: S3_BUCKET is not set: STORAGE=s3 requires it\n$/],
    ['MIGRATION_DATABASE_URL is set without DATABASE_URL', { MIGRATION_DATABASE_URL: 'postgres://a:b@127.0.0.1:1/c' },
      /^The configuration is invalid: DATABASE_URL is not set: [^\n]+\n$/],
  ])('if %s', async (_what, settings, message) => {
    const { code, stderr } = await start({ PORT: '0', ...(settings as Record<string, string>) });
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
  }); // prettier-ignore
});

describe("an operator's own database is left unchanged", () => {
  let database: TestDatabase;
  afterEach(() => database.drop());

  const settings = (): Record<string, string> => ({ ...urlsOf(database), DATA_DIR: join(folder, 'data'), PORT: '0' });

  async function tables(): Promise<unknown[]> {
    const client = new pg.Client({ connectionString: database.adminUrl });
    await client.connect();
    const { rows } = await client.query<object>(`SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace`);
    await client.end();
    return rows;
  }

  it.each([
    [
      'one role for all',
      () => ({ WORKER_DATABASE_URL: '', PORTAL_DATABASE_URL: '', MIGRATION_DATABASE_URL: '' }),
      /CREATE ROLE tutoring_app LOGIN NOSUPERUSER/,
    ],
    ['a superuser for the API', () => ({ DATABASE_URL: database.adminUrl }), /superuser.*ALTER ROLE "?postgres"? NOSUPERUSER/],
    ['an owner without rights', () => ({ MIGRATION_DATABASE_URL: database.tenantUrl }), /ALTER DATABASE \S+ OWNER TO \S*spec_tenant/],
  ])('when it is not safe (%s): the error comes before any migration and shows the SQL that fixes it', async (_, change, remedy) => {
    database = await createEmptyDatabase();
    const unsafe = { ...settings(), ...change() };
    for (const [command, environment] of [
      ['start', unsafe],
      ['migrate', { ...unsafe, NODE_ENV: 'production' }],
    ] as const) {
      const { code, stdout, stderr } = await runHere([command], environment);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/not safe, so nothing was changed/);
      expect(stderr).toMatch(remedy);
    }
    expect(await tables()).toEqual([]);
  });

  it('when its encryption key is missing: no new key is created beside old data', async () => {
    database = await createTestDatabase();
    const key = 'ab'.repeat(32);
    await runHere(['org', 'create', '--name', 'Old', '--slug', 'old'], { ...settings(), ENCRYPTION_KEY: key });
    const { code, stderr } = await runCli(['start'], settings());
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The encryption key \S+ is missing, but the database contains data encrypted with it\.\n/);
    expect(readdirSync(join(folder, 'data'))).toEqual([]);
    const keyOf = async (ENCRYPTION_KEY: string) =>
      /(\w+) +encryption key: .*/.exec((await runHere(['doctor'], { ...settings(), ENCRYPTION_KEY })).stdout)?.[1];
    expect(await keyOf(key)).toBe('ok');
    expect(await keyOf('cd'.repeat(32))).toBe('fail');
  });

  it('when the bucket cannot store images', async () => {
    database = await createTestDatabase();
    const s3 = {
      STORAGE: 's3',
      S3_BUCKET: 'media',
      S3_ENDPOINT: 'http://127.0.0.1:1',
      S3_ACCESS_KEY_ID: 'a',
      S3_SECRET_ACCESS_KEY: 'b',
    };
    const { code, stderr } = await runHere(['start'], { ...settings(), ...s3 });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^S3_BUCKET: images cannot be stored in "media" \([^\n]+\): check the S3_\* settings\n$/);
  });
});

describe('the lock of a data folder', () => {
  const file = () => join(folder, 'start.lock');

  it('is held by one start at a time and names its URL', async () => {
    const lock = await DataLock.take(folder);
    lock.tell('http://localhost:3000');
    await expect(DataLock.take(folder)).rejects.toThrow(`Already running at http://localhost:3000, process ${process.pid}.`);
    expect(launcherOf(folder)).toMatchObject({ pid: process.pid, url: 'http://localhost:3000' });
    lock.release();
    expect(readdirSync(folder)).toEqual([]);
    (await DataLock.take(folder)).release();
  });

  it.each([
    ['a process that has ended', { pid: 2 ** 22 + 1, born: '1', url: null }],
    ['a process whose id was reused', { pid: process.pid, born: '1', url: null }],
    ['an interrupted write', null],
  ])('is ignored when left by %s: one of 20 concurrent starts takes it', async (_, left) => {
    writeFileSync(file(), left ? JSON.stringify(left) : '{"pid":');
    expect(launcherOf(folder)).toBeNull();
    const takes = await Promise.allSettled(Array.from({ length: 20 }, () => DataLock.take(folder)));
    expect(takes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(readdirSync(folder)).toEqual(['start.lock']);
  });
});

describe('a checkout that cannot be built', () => {
  /** What a build needs besides the sources. */
  const CONFIGURATION = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json'];

  const build = () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/run.js', 'start'], { cwd: folder, encoding: 'utf8' });
    return [status, stderr];
  };

  it('says in one line what is missing', () => {
    cpSync(join(ROOT, 'scripts'), join(folder, 'scripts'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    expect(build()).toEqual([1, expect.stringMatching(/^The build failed: ENOENT[^\n]+'\n$/)]);
    for (const name of CONFIGURATION) cpSync(join(ROOT, name), join(folder, name));
    expect(build()).toEqual([1, 'The build failed: the compiler is not installed, run "npm ci" first\n']);
  });

  /** Copies the scripts and settings of this checkout and links its packages. @returns the path of its main.ts */
  function checkOut(): string {
    for (const name of ['scripts', 'package.json', ...CONFIGURATION]) {
      cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    }
    mkdirSync(join(folder, 'node_modules'));
    for (const name of readdirSync(join(ROOT, 'node_modules'))) {
      if (!name.startsWith('.')) symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
    }
    mkdirSync(join(folder, 'apps', 'api', 'src'), { recursive: true });
    return join(folder, 'apps', 'api', 'src', 'main.ts');
  }

  it("shows the compiler's errors, then one line, and leaves no partial build", () => {
    writeFileSync(checkOut(), 'export const port: number = "none";\n');
    const [status, said] = build();
    expect(status).toBe(1);
    expect(said).toMatch(/main\.ts[^]*TS2322[^]*\nThe build failed: see the output above\n$/);
    expect(existsSync(join(folder, 'dist', '.stamp'))).toBe(false);
    expect(existsSync(join(folder, 'node_modules', '.build-lock'))).toBe(false);
  });

  it('says only that the build was interrupted', async () => {
    writeFileSync(checkOut(), 'export const port = 3000;\n');
    // A compiler that is still running when the signal arrives.
    rmSync(join(folder, 'node_modules', '@nestjs'));
    mkdirSync(join(folder, 'node_modules', '@nestjs', 'cli', 'bin'), { recursive: true });
    writeFileSync(join(folder, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js'), `console.error('at work'); setInterval(() => {}, 1000);`);
    const child = spawn(process.execPath, ['scripts/run.js', 'start'], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    const ended = once(child, 'close');
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.endsWith('at work\n')) child.kill('SIGINT');
    });
    expect(await ended).toEqual([1, null]);
    expect(said).toBe('Building …\nat work\nThe build was interrupted\n');
    expect(existsSync(join(folder, 'node_modules', '.build-lock'))).toBe(false);
  });

  it('says that nothing is built, whichever of its processes is started', () => {
    for (const name of ['scripts', 'package.json']) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
    for (const name of ['start:prod', 'start:worker', 'start:portal']) {
      const { status, stderr } = spawnSync('sh', ['-c', scripts[name]!], { cwd: folder, encoding: 'utf8' });
      expect([name, status, stderr]).toEqual([name, 1, 'The service has not been built: run "npm ci && npm run build" first.\n']);
    }
  });
});
