import { PassThrough } from 'node:stream';
import pg from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { migrations } from '../../libs/database/src/migrations/index.js';
import { runHere } from '../support/process/commands.js';
import { createEmptyDatabase, createTestDatabase, urlsOf } from '../support/database/database.js';
import { results, runCli } from '../support/process/cli.js';
import { fixture } from '../support/process/fixture.js';

describe('migrate', () => {
  it('migrates an empty database once, even if run concurrently', async () => {
    const empty = await createEmptyDatabase();
    const urls = urlsOf(empty);
    try {
      const both = await Promise.all([runCli(['--json', 'migrate'], urls), runCli(['--json', 'migrate'], urls)]);
      expect(both.map(({ code }) => code)).toEqual([0, 0]);
      const lines = both.map(({ stdout }) => results(stdout)[0]);
      expect(lines).toContainEqual({ applied: [expect.stringMatching(/^Schema_/)], replaced: [] });
      expect(lines).toContainEqual({ applied: [], replaced: [] });
    } finally {
      await empty.drop();
    }
  });

  it('--revert asks for confirmation and takes anything but yes as no', async () => {
    const migrated = await createTestDatabase();
    /** Runs it at a terminal with this input; null closes the terminal (Ctrl-D). */
    const answer = async (typed: string | null) => {
      const terminal = Object.assign(new PassThrough(), { isTTY: true });
      const stdin = vi.spyOn(process, 'stdin', 'get').mockReturnValue(terminal as never);
      try {
        terminal.end(typed === null ? '' : `${typed}\n`);
        return await runHere(['migrate', '--revert'], urlsOf(migrated));
      } finally {
        stdin.mockRestore();
      }
    };
    class Later1999999999999 implements MigrationInterface {
      up = (runner: QueryRunner) => runner.query('CREATE TABLE later ()');
      down = (runner: QueryRunner) => runner.query('DROP TABLE later');
    }
    migrations.push(Later1999999999999);
    try {
      const asked = await runHere(['migrate', '--revert'], urlsOf(migrated));
      expect(asked).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/--yes/) as string });
      for (const yes of ['y', ' YES ']) {
        expect((await runHere(['migrate'], urlsOf(migrated))).stdout).toBe('Applied Later1999999999999\n');
        for (const no of ['', 'n', 'yesterday', null]) {
          const { code, stdout, stderr } = await answer(no);
          expect([no, code, stdout]).toEqual([no, 1, '']);
          expect(stderr).toMatch(/Continue\? \[y\/N\] [^]*Nothing was changed\.\n$/);
        }
        expect(await answer(yes)).toMatchObject({ code: 0, stdout: 'Reverted Later1999999999999\n' });
      }
    } finally {
      migrations.pop();
    }
    const [reverted] = results((await runHere(['--json', 'migrate', '--revert', '--yes'], urlsOf(migrated))).stdout);
    expect(reverted).toEqual({ reverted: null });
    await migrated.drop();
  });
});

const database = await fixture(createTestDatabase());

describe('roles', () => {
  it('creates the four roles and the database as a superuser; the owner, who is none, can do the rest', async () => {
    const admin = new pg.Client({ connectionString: database.adminUrl });
    await admin.connect();
    const name = `spec_made_${process.pid}`;
    const at = (role: string, password: string) =>
      Object.assign(new URL(database.ownerUrl), { username: `${name}_${role}`, password, pathname: `/${name}` }).href;
    const urls = {
      DATABASE_URL: at('app', 'it’s "quoted"'),
      WORKER_DATABASE_URL: at('worker', 'w'),
      PORTAL_DATABASE_URL: at('portal', 'p'),
      MIGRATION_DATABASE_URL: at('owner', 'o'),
    };
    try {
      const early = await runHere(['migrate'], { ...urls, MIGRATION_DATABASE_URL: database.ownerUrl });
      expect(early.stderr).toContain(`The role "${name}_app" of DATABASE_URL does not exist`);
      // The second round restores what somebody changed.
      for (let round = 0; round < 2; round++) {
        const made = await runHere(['roles'], { ...urls, ADMIN_DATABASE_URL: database.adminUrl });
        expect(made).toMatchObject({ code: 0, stderr: '' });
        expect(await runHere(['migrate'], urls)).toMatchObject({ code: 0, stderr: '' });
        const { code, stdout } = await runHere(['--json', 'doctor'], urls);
        expect(code, stdout).toBe(0);
        const roles = results(stdout).filter(({ check }) => String(check).startsWith('role'));
        expect(roles.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'ok']);
        await admin.query(`ALTER ROLE ${name}_app BYPASSRLS CREATEDB PASSWORD 'other'`);
      }
      const made = await runHere(['roles'], { ...urls, ADMIN_DATABASE_URL: database.adminUrl });
      expect(made.code).toBe(0);
      const org = await runHere(['org', 'create', '--name', 'Made', '--slug', 'made'], urls);
      expect(org).toMatchObject({ code: 0, stderr: '' });
      const without = await runHere(['key', 'create', '--org', 'made', '--name', 'x'], { DATABASE_URL: urls.DATABASE_URL });
      expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('MIGRATION_DATABASE_URL') as string });
    } finally {
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      for (const role of ['app', 'worker', 'portal', 'owner']) await admin.query(`DROP ROLE IF EXISTS ${name}_${role}`);
      await admin.end();
    }
  });

  it.each([
    ['two URLs name one role', (url: string) => ({ WORKER_DATABASE_URL: url }), 'four different users'],
    ['a password is missing', (url: string) => ({ DATABASE_URL: url.replace(/:[^:@]+@/, '@') }), 'a user, a password and'],
    ['databases differ', (url: string) => ({ DATABASE_URL: `${url}x` }), 'must name the same database'],
  ])('creates no roles if %s', async (_what, change, message) => {
    const urls = urlsOf(database);
    const settings = { ...urls, ...change(urls.DATABASE_URL), ADMIN_DATABASE_URL: database.adminUrl };
    const { code, stderr } = await runHere(['roles'], settings);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
    for (const url of Object.values(settings)) expect(stderr).not.toContain(new URL(url).password || 'nothing');
  });
});
