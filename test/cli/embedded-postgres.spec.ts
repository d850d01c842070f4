import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  rmdir,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import {
  findPostgresBinaries,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from '../../apps/cli/src/postgres/embedded-postgres.js';

const isRoot = process.getuid?.() === 0;
const settings = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' };

/** A process id that no process has: beyond the largest one that the kernels hand out. */
const DEAD_PID = 2 ** 22 + 1;

/** For the tests that do not need an empty folder: creating one takes most of the time of a test. */
let usedDir: string;
const folders: string[] = [];
const servers: EmbeddedPostgres[] = [];

async function createFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'embedded-postgres-')));
  // mkdtemp closes the folder to other accounts, which is a case of its own when this runs as root.
  await chmod(folder, 0o755);
  return folder;
}

async function makeFolder(): Promise<string> {
  const folder = await createFolder();
  folders.push(folder);
  return folder;
}

async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function start(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ settings, ...options });
  servers.push(server);
  return server;
}

async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, ssl: false });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** As an earlier version left its data: no passwords, everybody on this machine is let in. */
async function trustEverybody(server: EmbeddedPostgres, dataDir: string): Promise<void> {
  for (const role of ['tutoring_owner', 'tutoring_app'])
    await query(server.adminUrl, `ALTER ROLE ${role} PASSWORD NULL`);
  await query(server.adminUrl, 'DROP OWNED BY tutoring_worker');
  await query(Object.assign(new URL(server.adminUrl), { pathname: '/tutoring' }).href, 'DROP OWNED BY tutoring_worker');
  await query(server.adminUrl, 'DROP ROLE tutoring_worker');
  await writeFile(
    join(server.dataDirectory, 'pg_hba.conf'),
    'host all all 127.0.0.1/32 trust\nhost all all ::1/128 trust\n',
  );
  await query(server.adminUrl, 'SELECT pg_reload_conf()');
  const open = Object.assign(new URL(server.adminUrl), { password: '' }).href;
  await expect.poll(() => query(open, 'ALTER ROLE postgres PASSWORD NULL').catch(() => null)).toEqual([]);
  await rm(join(dataDir, 'database-secret'));
}

async function pidOf(server: EmbeddedPostgres): Promise<number> {
  return Number.parseInt(await readFile(join(server.dataDirectory, 'postmaster.pid'), 'utf8'), 10);
}

async function isGone(pid: number): Promise<boolean> {
  // In a container without an init process a killed server stays a zombie: that counts as gone.
  if (/^\d+ \(.*\) Z/s.test(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''))) return true;
  try {
    return !process.kill(pid, 0);
  } catch {
    return true;
  }
}

async function gone(pid: number): Promise<void> {
  await expect.poll(() => isGone(pid)).toBe(true);
}

async function kill(server: EmbeddedPostgres): Promise<void> {
  const pid = await pidOf(server);
  process.kill(pid, 'SIGKILL');
  await gone(pid);
}

beforeAll(async () => {
  usedDir = await createFolder();
});

afterAll(() => removeFolder(usedDir));

afterEach(async () => {
  const started = servers.splice(0);
  for (const server of started) await server.stop();
  for (const { dataDirectory } of started) {
    if (!dataDirectory.startsWith('/var/lib/tutoring-api/')) continue;
    await removeFolder(dirname(dataDirectory));
    // Only when nobody else keeps data there.
    await rmdir('/var/lib/tutoring-api').catch(() => undefined);
  }
  for (const folder of folders.splice(0)) await removeFolder(folder);
});

describe('startEmbeddedPostgres', { timeout: 60_000 }, () => {
  it('creates the database with roles that cannot bypass row level security', async () => {
    const dataDir = join(await makeFolder(), 'not', 'there', 'yet');
    const log: string[] = [];
    const server = await start({ dataDir, log: (line) => log.push(line) });

    expect(server.startedHere).toBe(true);
    expect(server.dataDirectory).toBe(join(dataDir, 'postgres'));
    expect(log).toEqual([expect.stringMatching(/^PostgreSQL \d+.* started on 127\.0\.0\.1:\d+\.$/)]);

    const roles = await query(
      server.adminUrl,
      `SELECT rolname, rolcanlogin AS login, rolcreatedb AS createdb,
              rolsuper OR rolbypassrls OR rolcreaterole OR rolreplication AS more
       FROM pg_roles WHERE rolname LIKE 'tutoring%' ORDER BY rolname`,
    );
    expect(roles).toEqual([
      { rolname: 'tutoring_app', login: true, createdb: false, more: false },
      { rolname: 'tutoring_owner', login: true, createdb: false, more: false },
      { rolname: 'tutoring_portal', login: true, createdb: false, more: false },
      { rolname: 'tutoring_worker', login: true, createdb: false, more: false },
    ]);
    const [database] = await query(
      server.adminUrl,
      `SELECT pg_encoding_to_char(encoding) AS encoding, datacl::text AS rights FROM pg_database WHERE datname = 'tutoring'`,
    );
    // No entry without a role name: PUBLIC has no rights.
    const processes = ['app', 'worker', 'portal'].map((name) => `tutoring_${name}=c/tutoring_owner`);
    const rights = `{tutoring_owner=CTc/tutoring_owner,${processes.join(',')}}`;
    expect(database).toEqual({ encoding: 'UTF8', rights });

    await query(server.ownerUrl, 'CREATE TABLE lesson (tenant int); INSERT INTO lesson VALUES (1), (2)');
    await query(
      server.ownerUrl,
      `ALTER TABLE lesson ENABLE ROW LEVEL SECURITY; ALTER TABLE lesson FORCE ROW LEVEL SECURITY;
       CREATE POLICY one ON lesson USING (tenant = 1); GRANT SELECT ON lesson TO tutoring_app`,
    );
    const rows = [{ current_user: 'tutoring_app', tenant: 1 }];
    expect(await query(server.applicationUrl, 'SELECT current_user, tenant FROM lesson')).toEqual(rows);
    expect(await query(server.ownerUrl, 'SELECT tenant FROM lesson')).toEqual([{ tenant: 1 }]);
    await expect(query(server.applicationUrl, 'CREATE TABLE mine (id int)')).rejects.toThrow(/permission denied/);
    await expect(query(server.applicationUrl, 'CREATE DATABASE mine')).rejects.toThrow(/permission denied/);
  });

  it('listens on the loopback interface only and applies the given settings', async () => {
    const server = await start({
      dataDir: usedDir,
      settings: { ...settings, application_name: "it's $HOME", listen_addresses: '*' },
    });

    const values = await query(
      server.adminUrl,
      `SELECT name, reset_val FROM pg_settings WHERE name IN ('application_name', 'fsync', 'listen_addresses',
         'max_connections', 'TimeZone', 'unix_socket_directories') ORDER BY lower(name)`,
    );
    expect(values.map(({ name, reset_val }) => `${name}=${reset_val}`)).toEqual([
      "application_name=it's $HOME",
      'fsync=off',
      'listen_addresses=127.0.0.1',
      'max_connections=200',
      'TimeZone=UTC',
      'unix_socket_directories=',
    ]);
    const rules = await query(server.adminUrl, 'SELECT type, address, auth_method FROM pg_hba_file_rules');
    expect(rules).toEqual([{ type: 'host', address: '127.0.0.1', auth_method: 'scram-sha-256' }]);
  });

  it('asks everybody for a password: each role has its own, which only the data folder tells', async () => {
    const dataDir = await makeFolder();
    const server = await start({ dataDir });
    const urls = [server.adminUrl, server.ownerUrl, server.applicationUrl, server.workerUrl, server.portalUrl];
    const passwords = urls.map((url) => new URL(url).password);
    expect(new Set(passwords).size).toBe(5);
    for (const url of urls) {
      expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      for (const password of ['', 'postgres', ...passwords.filter((other) => other !== new URL(url).password)]) {
        const wrong = Object.assign(new URL(url), { password }).href;
        await expect(query(wrong, 'SELECT 1'), wrong).rejects.toThrow(/password/);
      }
    }
    const stored = await query(
      server.adminUrl,
      `SELECT rolpassword LIKE 'SCRAM-SHA-256$%' AS scram FROM pg_authid WHERE rolcanlogin`,
    );
    expect(stored.map(({ scram }) => scram as boolean)).toEqual([true, true, true, true, true]);
    const secret = await stat(join(dataDir, 'database-secret'));
    expect(secret.mode & 0o777).toBe(0o600);
    const text = await readFile(join(dataDir, 'database-secret'), 'utf8');
    for (const url of urls) expect(text).not.toContain(new URL(url).password);
  });

  it('closes the data folder to others, whatever the umask', async () => {
    const dataDir = join(await makeFolder(), 'data');
    const before = process.umask(0);
    try {
      const server = await start({ dataDir });
      // Root's server passes through the folder as another account, and can list nothing.
      expect((await stat(dataDir)).mode & 0o777).toBe(isRoot ? 0o711 : 0o700);
      expect((await stat(server.dataDirectory)).mode & 0o777).toBe(0o700);
      for (const name of await readdir(server.dataDirectory, { recursive: true })) {
        const info = await stat(join(server.dataDirectory, name)).catch(() => undefined);
        expect((info?.mode ?? 0) & 0o077, name).toBe(0);
      }
    } finally {
      process.umask(before);
    }
  });

  it.each(['stopped', 'running'])(
    'sets passwords on data of a version that knew none, with its server %s',
    async (state) => {
      const dataDir = await makeFolder();
      const first = await start({ dataDir });
      await query(first.ownerUrl, `CREATE TABLE note AS SELECT 'kept' AS text`);
      await trustEverybody(first, dataDir);
      const open = Object.assign(new URL(first.adminUrl), { password: '' }).href;
      expect(await query(open, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      if (state === 'stopped') await first.stop();

      const second = await start({ dataDir, adopt: true });
      expect(await query(second.ownerUrl, 'SELECT text FROM note')).toEqual([{ text: 'kept' }]);
      for (const url of [second.adminUrl, second.ownerUrl, second.applicationUrl, second.workerUrl, second.portalUrl]) {
        expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
        const without = Object.assign(new URL(url), { password: '' }).href;
        await expect(query(without, 'SELECT 1')).rejects.toThrow(/password/);
      }
    },
  );

  it('sets new passwords when the secret was lost', async () => {
    const dataDir = await makeFolder();
    const first = await start({ dataDir });
    await query(first.ownerUrl, `CREATE TABLE note AS SELECT 'kept' AS text`);
    await first.stop();
    await rm(join(dataDir, 'database-secret'));
    const second = await start({ dataDir });
    expect(new URL(second.adminUrl).password).not.toBe(new URL(first.adminUrl).password);
    expect(await query(second.ownerUrl, 'SELECT text FROM note')).toEqual([{ text: 'kept' }]);
  });

  it('keeps the data over a restart, and stopping twice does no harm', async () => {
    const dataDir = usedDir;
    const first = await start({ dataDir });
    await query(first.ownerUrl, `CREATE TABLE note AS SELECT 'kept' AS text`);
    const pid = await pidOf(first);
    await Promise.all([first.stop(), first.stop()]);
    await first.stop();
    await gone(pid);

    const second = await start({ dataDir });
    expect(second.startedHere).toBe(true);
    expect(await query(second.ownerUrl, 'SELECT text FROM note')).toEqual([{ text: 'kept' }]);
    // The handle of a server that is gone must not stop the one that came after it.
    await first.stop();
    expect(await query(second.ownerUrl, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('stops while a client is connected', async () => {
    const server = await start({ dataDir: usedDir });
    const client = new pg.Client({ connectionString: server.applicationUrl });
    const lost = new Promise((resolve) => client.on('error', resolve));
    await client.connect();
    await server.stop();
    await lost;
    expect(existsSync(join(server.dataDirectory, 'postmaster.pid'))).toBe(false);
    await client.end();
  });

  it('uses a running server and leaves it running, unless told to adopt it', async () => {
    const dataDir = usedDir;
    const first = await start({ dataDir });
    const second = await start({ dataDir });
    expect(second).toMatchObject({
      startedHere: false,
      adminUrl: first.adminUrl,
      applicationUrl: first.applicationUrl,
    });
    await second.stop();
    expect(await query(first.ownerUrl, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);

    const third = await start({ dataDir, adopt: true });
    expect(third).toMatchObject({ startedHere: true, adminUrl: first.adminUrl });
    const pid = await pidOf(third);
    await third.stop();
    await gone(pid);
  });

  it('restores roles that somebody gave more rights', async () => {
    const dataDir = usedDir;
    const first = await start({ dataDir });
    await query(first.adminUrl, 'ALTER ROLE tutoring_app SUPERUSER BYPASSRLS CREATEDB CREATEROLE');
    await start({ dataDir });
    const [role] = await query(
      first.adminUrl,
      `SELECT rolsuper OR rolbypassrls OR rolcreatedb OR rolcreaterole AS any FROM pg_roles WHERE rolname = 'tutoring_app'`,
    );
    expect(role).toEqual({ any: false });
  });

  it('starts after a kill -9 of the server', async () => {
    const dataDir = usedDir;
    const first = await start({ dataDir });
    await query(first.ownerUrl, `CREATE TABLE survivor AS SELECT 'kept' AS text`);
    await query(first.adminUrl, 'CHECKPOINT');
    await kill(first);
    expect(existsSync(join(first.dataDirectory, 'postmaster.pid'))).toBe(true);

    const second = await start({ dataDir });
    expect(second.startedHere).toBe(true);
    expect(await query(second.ownerUrl, 'SELECT text FROM survivor')).toEqual([{ text: 'kept' }]);
  });

  it('waits for a process of the killed server that is still at work on the data', async () => {
    const first = await start({ dataDir: usedDir });
    const client = new pg.Client({ connectionString: first.adminUrl });
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const worker = rows[0]!.pid;
    // Stopped, it does not notice that its server is gone.
    process.kill(worker, 'SIGSTOP');
    await kill(first);
    const starting = start({ dataDir: usedDir });
    expect(await Promise.race([starting.then(() => 'started'), sleep(1_000, 'waiting')])).toBe('waiting');
    process.kill(worker, 'SIGCONT');

    const second = await starting;
    expect(second.startedHere).toBe(true);
    expect(await isGone(worker)).toBe(true);
    await client.end();
  });

  it('starts when the process id in postmaster.pid went to another program, or the file is empty', async () => {
    const dataDir = usedDir;
    const first = await start({ dataDir });
    const file = join(first.dataDirectory, 'postmaster.pid');
    const text = await readFile(file, 'utf8');
    await kill(first);
    await writeFile(file, text.replace(/^\d+/, String(process.pid)));
    const second = await start({ dataDir });
    expect(second.startedHere).toBe(true);
    await second.stop();

    await writeFile(file, '');
    await utimes(file, new Date(0), new Date(0));
    const third = await start({ dataDir });
    expect(third.startedHere).toBe(true);
  });

  it('does not mistake the server of another folder for its own', async () => {
    const [first, second] = [await start({ dataDir: usedDir }), await start({ dataDir: await makeFolder() })];
    const file = join(first.dataDirectory, 'postmaster.pid');
    const text = await readFile(file, 'utf8');
    await kill(first);
    const lines = text.split('\n');
    lines[3] = new URL(second.adminUrl).port;
    await writeFile(file, lines.join('\n'));

    const again = await start({ dataDir: dirname(first.dataDirectory) });
    expect(again.startedHere).toBe(true);
    const [row] = await query(again.adminUrl, `SELECT current_setting('data_directory') AS directory`);
    expect(row).toEqual({ directory: first.dataDirectory });
  });

  it('lets two processes start at the same moment, on an empty folder and on a stopped one', async () => {
    const dataDir = await makeFolder();
    for (let round = 0; round < 2; round += 1) {
      const both = await Promise.all([start({ dataDir }), start({ dataDir }), start({ dataDir })]);
      expect(new Set(both.map(({ adminUrl }) => adminUrl)).size).toBe(1);
      expect(both.filter(({ startedHere }) => startedHere)).toHaveLength(1);
      expect(await readdir(dataDir)).toEqual(['database-secret', 'postgres']);
      for (const server of both) await server.stop();
    }
  });

  it('recovers from an initdb that was killed midway', async () => {
    const dataDir = await makeFolder();
    const unfinished = join(dataDir, `postgres.init-${DEAD_PID}-0`);
    await mkdir(join(unfinished, 'base'), { recursive: true });
    await writeFile(join(unfinished, 'PG_VERSION'), '17\n');
    const ownedByLivingProcess = join(dataDir, `postgres.init-${process.pid}-0`);
    await mkdir(ownedByLivingProcess);

    const server = await start({ dataDir });
    expect(server.startedHere).toBe(true);
    expect((await readdir(dataDir)).sort()).toEqual(['database-secret', 'postgres', `postgres.init-${process.pid}-0`]);
  });

  it('names both versions when the data is of another major version', async () => {
    const { majorVersion, version } = await findPostgresBinaries();
    const dataDir = await makeFolder();
    await mkdir(join(dataDir, 'postgres'));
    await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), `${majorVersion - 1}\n`);
    const escaped = version.replaceAll('.', '\\.');
    await expect(start({ dataDir })).rejects.toThrow(
      new RegExp(`made by PostgreSQL ${majorVersion - 1}, but .* is PostgreSQL ${escaped}`),
    );
    await rm(join(dataDir, 'postgres', 'PG_VERSION'));
    await writeFile(join(dataDir, 'postgres', 'holiday.jpg'), '');
    await expect(start({ dataDir })).rejects.toThrow(/not a PostgreSQL data folder/);
  });

  it('tells the server log when the server does not start, and leaves nothing running', async () => {
    const dataDir = usedDir;
    await expect(start({ dataDir, settings: { ...settings, no_such_setting: '1' } })).rejects.toThrow(
      /unrecognized configuration parameter "no_such_setting"/,
    );
    expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false);
    expect((await start({ dataDir })).startedHere).toBe(true);
  });

  it.runIf(isRoot)('as root: runs the server under an ordinary account', async () => {
    const server = await start({ dataDir: usedDir });
    expect((await stat(server.dataDirectory)).uid).not.toBe(0);
    expect((await stat(`/proc/${await pidOf(server)}`)).uid).not.toBe(0);
  });

  it.runIf(isRoot)('as root: keeps the data elsewhere when the account cannot enter the folder', async () => {
    const closed = await makeFolder();
    await chmod(closed, 0o700);
    const dataDir = join(closed, randomBytes(4).toString('hex'));
    const log: string[] = [];
    const first = await start({ dataDir, log: (line) => log.push(line) });
    expect(first.dataDirectory).toMatch(/^\/var\/lib\/tutoring-api\/[0-9a-f]{12}\/postgres$/);
    expect(log.filter((line) => line.includes(`data in ${first.dataDirectory}`))).toHaveLength(1);
    await query(first.ownerUrl, `CREATE TABLE note AS SELECT 'kept' AS text`);
    await first.stop();

    const second = await start({ dataDir });
    expect(second.dataDirectory).toBe(first.dataDirectory);
    expect(await query(second.ownerUrl, 'SELECT text FROM note')).toEqual([{ text: 'kept' }]);
  });
});
