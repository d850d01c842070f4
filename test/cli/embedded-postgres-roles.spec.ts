import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { embeddedServers, pidOf, query, settings } from '../support/process/embedded-postgres.js';

const { makeFolder, start, usedDir } = embeddedServers();
const isRoot = process.getuid?.() === 0;

describe('the roles and rights of an embedded PostgreSQL', () => {
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
    const server = await start({ dataDir: usedDir(), settings: { ...settings, application_name: "it's $HOME", listen_addresses: '*' } });

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

  it('requires a different password for each role, and stores none in clear text', async () => {
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
    const stored = await query(server.adminUrl, `SELECT rolpassword LIKE 'SCRAM-SHA-256$%' AS scram FROM pg_authid WHERE rolcanlogin`);
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
      // Started by root, the server runs as another account, which may enter the folder but not list it.
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

  it('sets new passwords if the secret was lost', async () => {
    const dataDir = await makeFolder();
    const first = await start({ dataDir });
    await query(first.ownerUrl, `CREATE TABLE note AS SELECT 'kept' AS text`);
    await first.stop();
    await rm(join(dataDir, 'database-secret'));
    const second = await start({ dataDir });
    expect(new URL(second.adminUrl).password).not.toBe(new URL(first.adminUrl).password);
    expect(await query(second.ownerUrl, 'SELECT text FROM note')).toEqual([{ text: 'kept' }]);
  });

  it.runIf(isRoot)('as root: runs the server under an ordinary account', async () => {
    const server = await start({ dataDir: usedDir() });
    expect((await stat(server.dataDirectory)).uid).not.toBe(0);
    expect((await stat(`/proc/${await pidOf(server)}`)).uid).not.toBe(0);
  });
});
