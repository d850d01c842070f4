import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { createServer as createWebServer } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseFault } from '@app/database';
import { allCommands, runHere } from '../support/process/commands.js';
import { createTestDatabase } from '../support/database/database.js';
import { OldPooler } from '../support/database/old-pooler.js';
import { urlWith } from '../support/database/url-with.js';
import { type Link, PostgresProxy } from '../support/database/proxy.js';
import { ApiProcess, buildOnce } from '../support/http/api-process.js';
import { runCli } from '../support/process/cli.js';
import { WorkerProcess } from '../support/worker/worker-process.js';
import { fixture, inTest } from '../support/process/fixture.js';

const SECRET = 'never-to-be-shown';

/** Traces of a stack or of an error class. */
const STACK = /\n\s+at |Error:|node_modules/;

/** A PostgreSQL that reports version 14. */
class OldServer extends PostgresProxy {
  protected override carry({ client, upstream }: Link): void {
    client.pipe(upstream);
    upstream.on('data', (bytes) => {
      client.write(bytes.toString('latin1').replace(/1[5-9](00\d\d)/, '14$1'), 'latin1');
    });
  }
}

/** Lends each client a session of its own, but does not tell it which process serves it, like every pooler. */
class SessionPooler extends PostgresProxy {
  protected override carry({ client, upstream }: Link): void {
    client.pipe(upstream);
    let told = false;
    upstream.on('data', (bytes) => {
      const text = bytes.toString('latin1');
      const changed = told ? text : text.replace(/(?<=K\0\0\0\f)[^]{4}/, '\x7f\0\0\0');
      told ||= changed !== text;
      client.write(changed, 'latin1');
    });
  }
}

await buildOnce();
const database = await fixture(createTestDatabase());

describe('a database that cannot be used', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tutoring-faults-'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  /** The URLs of all roles, each changed. */
  const all = (change: (url: string) => string): Record<string, string> => ({
    DATABASE_URL: change(database.applicationUrl),
    WORKER_DATABASE_URL: change(database.workerUrl),
    PORTAL_DATABASE_URL: change(database.portalUrl),
    MIGRATION_DATABASE_URL: change(database.ownerUrl),
    ADMIN_DATABASE_URL: change(database.adminUrl),
    DATA_DIR: folder,
    PORT: '0',
  });

  /** How each fault is caused, and what the operator reads. */
  const faults: [string, Partial<URL>, RegExp][] = [
    ['a wrong password', { password: SECRET }, /does not know "\w+" with this password: run "npm run cli -- roles" first/],
    ['an unknown user', { username: 'nobody' }, /does not know "nobody" with this password: run "npm run cli -- roles" first/],
    ['an unknown host', { hostname: 'nowhere.invalid' }, /the host name "nowhere.invalid" cannot be resolved/],
    ['a port where nothing listens', { port: '1' }, /:1 cannot be reached \(nothing is listening there\)/],
    ['a database that does not exist', { pathname: '/absent' }, /"absent" does not exist .* create it/],
    ['TLS that the server does not speak', { search: 'sslmode=verify-full' }, /with these TLS settings .*sslmode/],
  ];

  it.each(faults)('%s is reported in one line, with the variable and the remedy', async (_, parts, message) => {
    const change = (url: string) => urlWith(url, parts);
    const { code, stdout, stderr } = await runHere(['org', 'list'], all(change));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^MIGRATION_DATABASE_URL: the database [^\n]+: [^\n]+\n$/);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(STACK);
    for (const url of [database.ownerUrl, change(database.ownerUrl)]) {
      expect(stderr).not.toContain(new URL(url).password || SECRET);
    }
  });

  it('is reported alike by every command', async () => {
    const settings = all((url) => urlWith(url, { password: SECRET }));
    for (const { name, args } of allCommands().filter((leaf) => leaf.name !== 'start')) {
      const { code, stdout, stderr } = await runHere([...args, ...(name === 'migrate' ? ['--revert', '--yes'] : [])], settings);
      expect([name, code]).toEqual([name, 1]);
      expect([name, stdout + stderr]).toEqual([
        name,
        expect.stringMatching(/\b(DATABASE_URL|MIGRATION_DATABASE_URL|ADMIN_DATABASE_URL): the database .* with this password/),
      ]);
      expect([name, stdout + stderr]).not.toEqual([name, expect.stringMatching(STACK)]);
      expect(stdout + stderr).not.toContain(SECRET);
      if (name !== 'doctor') expect([name, stderr.trim().split('\n')]).toEqual([name, [expect.any(String)]]);
    }
  });

  it('is refused by every command if there is a pooler before it, even one that keeps sessions apart', async () => {
    const pooler = await inTest(SessionPooler.open(database.ownerUrl));
    const settings = all((url) => urlWith(url, { port: new URL(pooler.url).port }));
    for (const { name, args } of allCommands().filter((leaf) => leaf.name !== 'start')) {
      const { code, stdout, stderr } = await runHere([...args, ...(name === 'migrate' ? ['--revert', '--yes'] : [])], settings);
      const refusal = 'is behind a connection pooler: commands hold locks of their session, so give them the address of PostgreSQL itself\n';
      const said = expect.stringMatching(new RegExp(`^.*(ADMIN|MIGRATION)_DATABASE_URL: the database at \\S+ ${refusal}`, 'm')) as string;
      expect([name, code, name === 'doctor' ? stdout : stderr]).toEqual([name, 1, said]);
      if (name === 'doctor') expect(stdout).toMatch(/^fail {2}role of the owner: .*\n(.*\n)*ok {4}functions/m);
    }
  });

  it('is refused by every process if there is a pooler before it that mixes up their statements', async () => {
    const pooler = await inTest(OldPooler.open(database.applicationUrl));
    const refusal =
      /DATABASE_URL: the database at \S+ is behind a connection pooler that does not keep the prepared statements of its clients apart: use pgbouncer 1\.21 or later .+$/m;
    // Whoever comes second finds the name of the first one's statement.
    for (const role of ['api', 'worker', 'api'] as const) {
      const settings = { DATABASE_URL: pooler.url, DATA_DIR: folder, ENCRYPTION_KEY: '0'.repeat(64) };
      const start = role === 'api' ? ApiProcess.start(settings) : WorkerProcess.start(settings);
      await expect(start).rejects.toThrow(refusal);
    }
    const { stdout } = await runHere(['doctor'], { ...all((url) => url), DATABASE_URL: pooler.url });
    expect(stdout).toMatch(refusal);
  });

  it('is reported as unreachable before any complaint about roles that share its URL', async () => {
    const { code, stderr } = await runHere(['migrate'], {
      DATABASE_URL: urlWith(database.ownerUrl, { port: '1' }),
      DATA_DIR: folder,
      NODE_ENV: 'production',
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^DATABASE_URL: the database [^\n]+ cannot be reached \(nothing is listening there\)[^\n]*\n$/);
  });

  it('is reported with MIGRATION_DATABASE_URL as the remedy if the role lacks the rights of the owner', async () => {
    const settings = { DATABASE_URL: database.applicationUrl, DATA_DIR: folder };
    const { code, stderr } = await runHere(['org', 'create', '--name', 'x', '--slug', 'x'], settings);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^DATABASE_URL: .* denied "tutoring_app" a privilege .*MIGRATION_DATABASE_URL\n$/);
  });

  it('is refused if its version is too old', async () => {
    const proxy = await OldServer.open(database.ownerUrl);
    try {
      const settings = { ...all((url) => url), MIGRATION_DATABASE_URL: proxy.url };
      const { code, stderr } = await runHere(['migrate'], settings);
      expect(code).toBe(1);
      expect(stderr).toBe('MIGRATION_DATABASE_URL: the database is PostgreSQL 14: use PostgreSQL 15 or later\n');
    } finally {
      await proxy.close();
    }
  });

  it('is reported as unreachable if it is not PostgreSQL', async () => {
    const web = createWebServer((_, response) => response.end()).listen(0, '127.0.0.1');
    await new Promise((resolve) => web.once('listening', resolve));
    const port = String((web.address() as AddressInfo).port);
    try {
      const { code, stderr } = await runHere(
        ['org', 'list'],
        all((url) => urlWith(url, { port })),
      );
      expect(code).toBe(1);
      expect(stderr).toMatch(/^MIGRATION_DATABASE_URL: the database at 127\.0\.0\.1:\d+ cannot be reached [^\n]+\n$/);
    } finally {
      web.closeAllConnections();
      web.close();
    }
  });

  it('is passing if trying again may help', () => {
    const codes = { ECONNREFUSED: true, ENOTFOUND: true, '57P03': true, '28P01': false, '3D000': false };
    for (const [code, passing] of Object.entries(codes)) {
      const fault = DatabaseFault.of(Object.assign(new Error(), { code }), 'postgres://ada@db.example/school');
      expect([code, fault?.passing]).toEqual([code, passing]);
    }
  });

  // In a process of its own: no database of the server can be dropped until it ends or the server times out.
  it('does not keep a command running when the driver leaves its connection open, as without a password', async () => {
    const { hostname, port } = new URL(database.ownerUrl);
    // The server never closes its side.
    const server = createServer((client) => {
      const upstream = connect(Number(port), hostname);
      client.on('error', () => undefined).on('close', () => upstream.destroy()).pipe(upstream); // prettier-ignore
      upstream.on('error', () => undefined).pipe(client, { end: false });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const at = String((server.address() as AddressInfo).port);
    try {
      const DATABASE_URL = urlWith(database.ownerUrl, { port: at, password: '' });
      const { code, stdout, stderr } = await runCli(['org', 'list'], { DATABASE_URL, DATA_DIR: folder });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^DATABASE_URL: the database at \S+ does not know "\w+" with this password: [^\n]+\n$/);
    } finally {
      server.close();
    }
  });

  it('stops the API and the worker at once, with the same line', async () => {
    const DATABASE_URL = urlWith(database.applicationUrl, { password: SECRET });
    const starts = [
      ApiProcess.start({ DATABASE_URL, DATA_DIR: folder }),
      WorkerProcess.start({ DATABASE_URL, DATA_DIR: folder, ENCRYPTION_KEY: '0'.repeat(64) }),
    ];
    for (const ended of await Promise.allSettled(starts)) {
      const said = String((ended as PromiseRejectedResult).reason);
      expect(said).toMatch(/\nDATABASE_URL: the database at \S+ does not know "tutoring_app" with this password: [^\n]+\n$/);
      expect(said).not.toContain(SECRET);
    }
  });
});
