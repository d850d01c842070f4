import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findPostgresBinaries, type EmbeddedPostgres } from '../../apps/cli/src/postgres/embedded-postgres.js';
import { embeddedServers, pidOf, query, settings } from '../support/process/embedded-postgres.js';

const { makeFolder, start, usedDir } = embeddedServers();
const isRoot = process.getuid?.() === 0;
/** A process id that no process has: above the kernel's maximum. */
const DEAD_PID = 2 ** 22 + 1;

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

describe('startEmbeddedPostgres', () => {
  it('keeps the data across a restart, and can be stopped twice', async () => {
    const dataDir = usedDir();
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
    const server = await start({ dataDir: usedDir() });
    const client = new pg.Client({ connectionString: server.applicationUrl });
    const lost = new Promise((resolve) => client.on('error', resolve));
    await client.connect();
    await server.stop();
    await lost;
    expect(existsSync(join(server.dataDirectory, 'postmaster.pid'))).toBe(false);
    await client.end();
  });

  it('uses a running server and leaves it running, unless told to adopt it', async () => {
    const dataDir = usedDir();
    const first = await start({ dataDir });
    const second = await start({ dataDir });
    expect(second).toMatchObject({ startedHere: false, adminUrl: first.adminUrl, applicationUrl: first.applicationUrl });
    await second.stop();
    expect(await query(first.ownerUrl, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);

    const third = await start({ dataDir, adopt: true });
    expect(third).toMatchObject({ startedHere: true, adminUrl: first.adminUrl });
    const pid = await pidOf(third);
    await third.stop();
    await gone(pid);
  });

  it('starts after a kill -9 of the server', async () => {
    const dataDir = usedDir();
    const first = await start({ dataDir });
    await query(first.ownerUrl, `CREATE TABLE survivor AS SELECT 'kept' AS text`);
    await query(first.adminUrl, 'CHECKPOINT');
    await kill(first);
    expect(existsSync(join(first.dataDirectory, 'postmaster.pid'))).toBe(true);

    const second = await start({ dataDir });
    expect(second.startedHere).toBe(true);
    expect(await query(second.ownerUrl, 'SELECT text FROM survivor')).toEqual([{ text: 'kept' }]);
  });

  it('waits until the last process of a killed server has ended', async () => {
    const first = await start({ dataDir: usedDir() });
    const client = new pg.Client({ connectionString: first.adminUrl });
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const worker = rows[0]!.pid;
    // While stopped, it does not notice that its server is gone.
    process.kill(worker, 'SIGSTOP');
    await kill(first);
    const starting = start({ dataDir: usedDir() });
    expect(await Promise.race([starting.then(() => 'started'), sleep(1_000, 'waiting')])).toBe('waiting');
    process.kill(worker, 'SIGCONT');

    const second = await starting;
    expect(second.startedHere).toBe(true);
    expect(await isGone(worker)).toBe(true);
    await client.end();
  });

  it('starts if the process id in postmaster.pid belongs to another program, or the file is empty', async () => {
    const dataDir = usedDir();
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

  it("does not mistake another folder's server for its own", async () => {
    const [first, second] = [await start({ dataDir: usedDir() }), await start({ dataDir: await makeFolder() })];
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

  it('starts one server for three concurrent callers, in an empty folder and after a stop', async () => {
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

  it('names both versions if the data has another major version', async () => {
    const { majorVersion, version } = await findPostgresBinaries();
    const dataDir = await makeFolder();
    await mkdir(join(dataDir, 'postgres'));
    await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), `${majorVersion - 1}\n`);
    const escaped = version.replaceAll('.', '\\.');
    await expect(start({ dataDir })).rejects.toThrow(new RegExp(`created by PostgreSQL ${majorVersion - 1}, but .* is PostgreSQL ${escaped}`));
    await rm(join(dataDir, 'postgres', 'PG_VERSION'));
    await writeFile(join(dataDir, 'postgres', 'holiday.jpg'), '');
    await expect(start({ dataDir })).rejects.toThrow(/not a PostgreSQL data folder/);
  });

  it('shows the server log if the server does not start, and leaves nothing running', async () => {
    const dataDir = usedDir();
    await expect(start({ dataDir, settings: { ...settings, no_such_setting: '1' } })).rejects.toThrow(
      /unrecognized configuration parameter "no_such_setting"/,
    );
    expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false);
    expect((await start({ dataDir })).startedHere).toBe(true);
  });

  it.runIf(isRoot)('as root: stores the data elsewhere if the account cannot enter the folder', async () => {
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
