import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { inject } from 'vitest';
import { SCOPES } from '@app/accounts';
import { allCommands, runHere } from '../support/process/commands.js';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/database/database.js';
import { TestSmtp } from '../support/worker/smtp.js';
import { CLI, results, runCli } from '../support/process/cli.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const urlsOf = ({ applicationUrl, workerUrl, portalUrl, ownerUrl }: TestDatabase) => ({
  DATABASE_URL: applicationUrl,
  WORKER_DATABASE_URL: workerUrl,
  PORTAL_DATABASE_URL: portalUrl,
  MIGRATION_DATABASE_URL: ownerUrl,
});

describe('the command line', () => {
  let database: TestDatabase;
  const cli = (...args: string[]) => runHere(args, urlsOf(database));

  beforeAll(async () => {
    database = await createTestDatabase();
    await cli('org', 'create', '--name', 'First', '--slug', 'first');
  });
  afterAll(() => database.drop());

  it('makes an organization, with its time zone and currency', async () => {
    const made = await cli(
      '--json',
      'org',
      'create',
      '--name',
      'Riverside',
      '--slug',
      'riverside',
      '--timezone',
      'Europe/Paris',
      '--currency',
      'EUR',
    );
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(results(made.stdout)).toEqual([
      { id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string, slug: 'riverside' },
    ]);
  });

  it.each([
    [['org', 'create', '--name', 'Again', '--slug', 'first'], 'The organization "first" already exists'],
    [['org', 'create', '--name', 'Bad', '--slug', 'Not A Slug'], '"Not A Slug" is not a slug'],
    [
      ['org', 'create', '--name', 'Bad', '--slug', 'bad', '--timezone', 'Mars/Base'],
      '"Mars/Base" is not an IANA time zone',
    ],
    [
      ['org', 'create', '--name', 'Bad', '--slug', 'bad', '--currency', 'dollars'],
      '"dollars" is not an ISO 4217 currency code',
    ],
    [['org', 'create', '--slug', 'bad'], "required option '--name <name>' not specified"],
    [['owner', 'create', '--org', 'first', '--email', 'nobody'], '"nobody" is not an address that can receive mail'],
    [['owner', 'create', '--org', 'nowhere', '--email', 'a@example.org'], 'There is no organization "nowhere"'],
    [['key', 'create', '--org', 'nowhere', '--name', 'x'], 'There is no organization "nowhere"'],
    [['key', 'create', '--org', 'first', '--name', ''], "A key's name must have 1 to 100 characters"],
    [['key', 'create', '--org', 'first', '--name', 'x', '--scopes', 'read,admin'], 'There is no scope "admin"'],
    [['key', 'create', '--org', 'first', '--name', 'x', '--expires', '2020-01-01'], 'That time has already passed'],
    [['key', 'create', '--org', 'first', '--name', 'x', '--expires', 'tomorrow'], 'Give an ISO 8601 date'],
    [['key', 'list', '--org', 'nowhere'], 'There is no organization "nowhere"'],
    [['key', 'revoke', 'nonsense'], 'There is no key nonsense'],
    [['key', 'replace', 'nonsense'], 'There is no key nonsense'],
    [['key', 'replace', 'x', '--overlap', '2h'], 'Allowed choices are now, 1h, 24h, 7d, 30d'],
    [['key', 'revoke', '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30'], 'There is no key 0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30'],
    [['import', '/nowhere', '--org', 'nowhere'], 'There is no organization "nowhere"'],
    [['demo', '--size', 'huge'], "option '--size <size>' argument 'huge' is invalid"],
    [['demo', '--seed', 'x'], 'Give a whole number'],
    [['dance'], "unknown command 'dance'"],
  ])('%j: one clear line and exit code 1', async (args, message) => {
    const { code, stdout, stderr } = await cli(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/\n\s+at |Error:/);
  });

  it('lists organizations by their slugs', async () => {
    const listed = await cli('org', 'list');
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    const [heading, ...lines] = listed.stdout.trim().split('\n');
    expect(heading).toMatch(/^SLUG +NAME +TIME ZONE +CURRENCY +CREATED \(UTC\) +ID$/);
    expect(lines).toContainEqual(
      expect.stringMatching(/^first +First +Australia\/Melbourne +AUD +\d{4}-\d\d-\d\d \d\d:\d\d +[0-9a-f-]{36}$/),
    );
    expect(results((await cli('--json', 'org', 'list')).stdout)).toContainEqual(
      expect.objectContaining({ slug: 'first', name: 'First', time_zone: 'Australia/Melbourne' }),
    );
  });

  it('prints its version', async () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(await cli('--version')).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
  });

  it('key create tells its scopes, and the address where the service is', async () => {
    const help = await cli('key', 'create', '--help');
    for (const [scope, text] of Object.entries(SCOPES))
      expect(help.stdout).toMatch(new RegExp(`^  ${scope} +${text}$`, 'm'));
    const args = ['key', 'create', '--org', 'first', '--name', 'x'];
    const { stdout } = await runHere(args, { ...urlsOf(database), PUBLIC_URL: 'https://api.example.org' });
    expect(stdout).toMatch(/curl -H 'Authorization: Token token=\w+' https:\/\/api\.example\.org\/v1\/me\n/);
  });

  it('every command explains itself, its options, and stands in the README', async () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    for (const { name, command, args } of allCommands()) {
      const path = args.slice(0, name.split(' ').length);
      expect([name, command.description()]).toEqual([name, expect.stringMatching(/.{10}/)]);
      for (const { flags, description, hidden } of command.options) {
        expect([name, flags, description]).toEqual([name, flags, hidden ? '' : expect.stringMatching(/.{5}/)]);
      }
      const help = await runHere([...path, '--help'], {});
      expect([name, help.code, help.stderr]).toEqual([name, 0, '']);
      expect([name, readme]).toEqual([name, expect.stringMatching(new RegExp(`\`(${name}|npm ${name})[ \`]`))]);
    }
  });

  it('reads .env, which the environment wins over, before anything else', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tutoring-env-'));
    try {
      writeFileSync(join(folder, '.env'), 'MIGRATION_DATABASE_URL=nonsense\nPORT=nonsense\n');
      const { code, stderr } = await runCli(['org', 'list'], urlsOf(database), '', folder);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/: PORT must be a whole number[^\n]*\n$/)]);
      writeFileSync(join(folder, '.env'), `MIGRATION_DATABASE_URL='${database.ownerUrl}'\n`);
      const settings = { DATABASE_URL: database.applicationUrl };
      expect(await runCli(['org', 'list'], settings, '', folder)).toMatchObject({ code: 0, stderr: '' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('goes on when nobody reads what it prints, and fails when it cannot be written', async () => {
    const shell = (script: string) =>
      spawnSync('bash', ['--norc', '-c', script, 'bash', process.execPath, CLI], {
        cwd: inject('scratch'),
        env: { PATH: '/usr/bin:/bin', ...urlsOf(database) },
        encoding: 'utf8',
      });
    for (const command of ['org list', 'key create --org first --name piped', 'key create --help']) {
      const { stdout, stderr } = shell(`"$1" "$2" ${command} | head -c 0; echo \${PIPESTATUS[0]}`);
      expect([command, stdout, stderr]).toEqual([command, '0\n', '']);
    }
    // What a pipe did not take was done all the same.
    const { stdout } = await cli('--json', 'key', 'list', '--org', 'first');
    expect(results(stdout).map(({ name }) => name)).toContain('piped');
    const full = shell('"$1" "$2" org list >/dev/full');
    expect([full.status, full.stderr]).toEqual([1, 'The output could not be written (ENOSPC)\n']);
  });

  it('mails a new owner a link to set a password, or prints it where no mail is sent', async () => {
    const settings = { ...urlsOf(database), ENCRYPTION_KEY: 'ab'.repeat(32), APP_URL: 'https://portal.example.org' };
    const create = (email: string, more: Record<string, string> = {}) =>
      runHere(['owner', 'create', '--org', 'first', '--email', email], { ...settings, ...more });
    const printed = await create('printed@example.org');
    expect(printed.stdout).toMatch(/link to set a password.*:\nhttps:\/\/portal\.example\.org\/password\/[\w-]{43}\n$/);
    const mailed = await create('mailed@example.org', { SMTP_URL: 'smtp://127.0.0.1:1' });
    expect(mailed.stdout).toContain('A link to set a password was mailed to them.');
    expect(mailed.stdout).not.toContain('/password/');
    const admin = new pg.Client({ connectionString: database.adminUrl });
    await admin.connect();
    const { rows } = await admin.query<object>(`SELECT kind, recipient FROM outbox`);
    await admin.end();
    expect(rows).toEqual([{ kind: 'owner_welcome', recipient: 'mailed@example.org' }]);
  });

  it('makes an owner once, whatever the case of the address', async () => {
    const [first, again] = [
      await cli('--json', 'owner', 'create', '--org', 'first', '--email', 'Kim.Lee@example.org'),
      await cli('--json', 'owner', 'create', '--org', 'first', '--email', ' kim.lee@EXAMPLE.org'),
    ].map(({ stdout }) => results(stdout)[0]!);
    expect(first).toMatchObject({ created: true });
    expect(again).toMatchObject({ user_id: first!.user_id, created: false });
  });

  it('makes a key that is shown once, lists it without it, and revokes it', async () => {
    const created = results(
      (await cli('--json', 'key', 'create', '--org', 'first', '--name', 'sync', '--scopes', 'read,write')).stdout,
    )[0]!;
    expect(created).toMatchObject({
      key: expect.stringMatching(/^tk_live_[0-9a-f]{64}$/) as string,
      scopes: ['read', 'write'],
      expires_at: null,
    });
    const list = async () => {
      const { stdout } = await cli('--json', 'key', 'list', '--org', 'first');
      expect(stdout).not.toContain((created.key as string).slice(8));
      return results(stdout).find(({ id }) => id === created.id);
    };
    const key = created.key as string;
    expect(await list()).toMatchObject({
      name: 'sync',
      status: 'active',
      display: `tk_live_${key.slice(8, 12)}…${key.slice(-4)}`,
      last_used_at: null,
    });
    expect(await cli('key', 'revoke', created.id as string)).toMatchObject({ code: 0 });
    expect(await cli('key', 'revoke', created.id as string)).toMatchObject({ code: 0 });
    expect(await list()).toMatchObject({ status: 'revoked' });
  });

  it('replaces a key: the new one is shown once, the old one goes on for the overlap', async () => {
    const make = async (...args: string[]) => results((await cli('--json', 'key', ...args)).stdout)[0]!;
    const old = await make('create', '--org', 'first', '--name', 'nightly', '--scopes', 'read,write');
    const made = await make('replace', old.id as string, '--overlap', '7d');
    expect(made).toMatchObject({
      key: expect.stringMatching(/^tk_live_[0-9a-f]{64}$/) as string,
      replaces: old.id,
      expires_at: null,
    });
    const listed = results((await cli('--json', 'key', 'list', '--org', 'first')).stdout);
    const [before, after] = [old, made].map(({ id }) => listed.find((entry) => entry.id === id)!);
    expect(after).toMatchObject({ name: 'nightly', scopes: ['read', 'write'], status: 'active', expires_at: null });
    expect(before).toMatchObject({ status: 'active', expires_at: expect.any(String) as string });
    await make('revoke', old.id as string);
    expect((await cli('key', 'replace', old.id as string)).stderr).toContain('expired or was revoked');
  });

  it('a key is read-only unless told otherwise, and expires when told', async () => {
    const { stdout } = await cli(
      '--json',
      'key',
      'create',
      '--org',
      'first',
      '--name',
      'short',
      '--expires',
      '2099-01-31T12:00',
    );
    expect(results(stdout)[0]).toMatchObject({ scopes: ['read'], expires_at: '2099-01-31T12:00:00.000Z' });
  });

  it('doctor finds everything in order', async () => {
    const { code, stdout } = await cli('--json', 'doctor');
    expect(code).toBe(0);
    const byCheck = Object.fromEntries(results(stdout).map(({ check, status }) => [check as string, status]));
    expect(byCheck).toMatchObject({
      database: 'ok',
      migrations: 'ok',
      'role of the api': 'ok',
      'role of the worker': 'ok',
      'role of the owner': 'ok',
      totals: 'ok',
      copies: 'ok',
      redis: 'ok',
      mail: 'warn',
      storage: 'ok',
      worker: 'warn',
    });
  });

  it('doctor fails on a role that can do more than it should, and on a database that is not there', async () => {
    const roles = async (url: string): Promise<Record<string, string>> => {
      const { stdout } = await runHere(['--json', 'doctor'], { ...urlsOf(database), DATABASE_URL: url });
      return Object.fromEntries(
        results(stdout).map(({ check, status, message }) => [String(check), `${String(status)}: ${String(message)}`]),
      );
    };
    const asOwner = await roles(database.ownerUrl);
    expect(asOwner['role of the api']).toMatch(
      /^fail: .* owns the database .*; .* owns the schema, tables or functions/,
    );
    expect(asOwner['role of the worker']).toMatch(/^ok/);
    expect(asOwner['role of the owner']).toMatch(/^ok/);
    expect((await roles(database.adminUrl))['role of the api']).toMatch(/^fail: .*superuser/);
    expect((await roles(database.workerUrl))['role of the api']).toMatch(/^fail: .*claim_outbox/);
    const nowhere = await runHere(['doctor'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere' });
    expect(nowhere.code).toBe(1);
    expect(nowhere.stdout).toMatch(
      /^fail {2}database: DATABASE_URL: the database at 127\.0\.0\.1:1 cannot be reached/m,
    );
  });

  it('doctor finds a counter that is wrong, and recount puts it right', async () => {
    const owner = new pg.Client({ connectionString: database.ownerUrl, options: '-c app.maintenance=on' });
    await owner.connect();
    await owner
      .query(
        `INSERT INTO list_counts (organization_id, list, delta) SELECT id, 'members:student', 3 FROM organizations
         WHERE slug = 'first'`,
      )
      .finally(() => owner.end());
    const { code, stdout } = await cli('--json', 'doctor');
    expect(code).toBe(1);
    expect(results(stdout).find(({ check }) => check === 'totals')).toEqual({
      check: 'totals',
      status: 'fail',
      message: 'members:student of first counts 3 but has 0 rows: run "npm run cli -- recount"',
    });
    expect(await cli('recount')).toMatchObject({ code: 0, stdout: 'Recounted first\nAll copies are correct\n' });
    expect(await cli('recount')).toMatchObject({ code: 0, stdout: 'All totals are correct\nAll copies are correct\n' });
    expect((await cli('doctor')).code).toBe(0);
  });

  it('doctor finds a copy that is wrong, and recount puts it right', async () => {
    const owner = new pg.Client({ connectionString: database.ownerUrl, options: '-c app.maintenance=on' });
    await owner.connect();
    const id = await owner
      .query<{ id: string }>(
        `UPDATE users SET seen_by = '{}' WHERE id = (SELECT id FROM users WHERE seen_by <> '{}' LIMIT 1) RETURNING id`,
      )
      .finally(() => owner.end())
      .then(({ rows }) => rows[0]!.id);
    const { code, stdout } = await cli('--json', 'doctor');
    expect(code).toBe(1);
    expect(results(stdout).find(({ check }) => check === 'copies')).toEqual({
      check: 'copies',
      status: 'fail',
      message: `users.seen_by of ${id} is wrong: run "npm run cli -- recount"`,
    });
    expect(await cli('recount')).toMatchObject({
      code: 0,
      stdout: 'All totals are correct\nRows copied again: 1\n',
    });
    expect((await cli('doctor')).code).toBe(0);
  });

  it('doctor asks the mail server', async () => {
    const smtp = await TestSmtp.start();
    const mail = async (url: string) =>
      results(
        (await runHere(['--json', 'doctor'], { DATABASE_URL: database.applicationUrl, SMTP_URL: url })).stdout,
      ).find(({ check }) => check === 'mail');
    expect(await mail(smtp.url)).toMatchObject({ status: 'ok' });
    await smtp.stop();
    expect(await mail(smtp.url)).toMatchObject({ status: 'fail' });
    expect(await mail('file:///tmp/mail')).toMatchObject({ status: 'ok' });
  });

  it('names every fault of the configuration', async () => {
    const { code, stderr } = await runHere(['doctor'], { PORT: 'x', LOG_LEVEL: 'loud' });
    expect(code).toBe(1);
    expect(stderr).toMatch(/- PORT must be[^]*- LOG_LEVEL must be/);
  });

  it('migrates an empty database, twice without harm, and takes the last migration back', async () => {
    const empty = await createEmptyDatabase();
    const urls = urlsOf(empty);
    try {
      const both = await Promise.all([runCli(['--json', 'migrate'], urls), runCli(['--json', 'migrate'], urls)]);
      expect(both.map(({ code }) => code)).toEqual([0, 0]);
      const applied = both.map(({ stdout }) => (results(stdout)[0] as { applied: string[] }).applied);
      expect(applied.filter((names) => names.length > 0)).toHaveLength(1);
      const asked = await runHere(['migrate', '--revert'], urls);
      expect(asked).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/--yes/) as string });
      const [reverted] = results((await runHere(['--json', 'migrate', '--revert', '--yes'], urls)).stdout);
      expect(reverted).toEqual({ reverted: applied.flat().at(-1) });
      expect(results((await runHere(['--json', 'migrate'], urls)).stdout)).toEqual([
        { applied: applied.flat().slice(-1) },
      ]);
    } finally {
      await empty.drop();
    }
  });

  it('migrate --revert asks whoever sits at the terminal, and takes anything but yes for no', async () => {
    const migrated = await createTestDatabase();
    /** Runs it at a terminal at which this is typed; null closes the terminal (Ctrl-D). */
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
    try {
      for (const no of ['', 'n', 'yesterday', null]) {
        const { code, stdout, stderr } = await answer(no);
        expect([no, code, stdout]).toEqual([no, 1, '']);
        expect(stderr).toMatch(/Continue\? \[y\/N\] [^]*Nothing was changed\.\n$/);
      }
      for (const yes of ['y', ' YES ']) {
        expect(await answer(yes)).toMatchObject({
          code: 0,
          stdout: expect.stringMatching(/^Reverted \w+\n$/) as string,
        });
      }
      expect(results((await runHere(['--json', 'migrate'], urlsOf(migrated))).stdout)).toEqual([
        { applied: [expect.any(String), expect.any(String)] },
      ]);
    } finally {
      await migrated.drop();
    }
  });

  it('imports a folder, and says where it is wrong', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tutoring-import-'));
    try {
      writeFileSync(
        join(folder, 'subjects.ndjson'),
        '{"id":"0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f31","name":"Chemistry"}\n',
      );
      const good = await cli('--json', 'import', folder, '--org', 'first');
      expect(results(good.stdout)[0]).toMatchObject({
        organization: 'first',
        tables: { subjects: { inserted: 1, unchanged: 0 } },
      });
      writeFileSync(join(folder, 'subjects.ndjson'), '{"id":"0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f32"}\n');
      const bad = await cli('import', folder, '--org', 'first');
      expect(bad.code).toBe(1);
      expect(bad.stderr).toMatch(/^subjects\.ndjson:1: name: /m);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('makes the four roles and the database as a superuser; then their owner, who is none, does the rest', async () => {
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
      // Twice: the second time restores what somebody changed.
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
      const without = await runHere(['key', 'create', '--org', 'made', '--name', 'x'], {
        DATABASE_URL: urls.DATABASE_URL,
      });
      expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('MIGRATION_DATABASE_URL') as string });
    } finally {
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      for (const role of ['app', 'worker', 'portal', 'owner']) await admin.query(`DROP ROLE IF EXISTS ${name}_${role}`);
      await admin.end();
    }
  }, 120_000);

  it.each([
    ['two roles are one', (url: string) => ({ WORKER_DATABASE_URL: url }), 'four different users'],
    ['a password is missing', (url: string) => ({ DATABASE_URL: url.replace(/:[^:@]+@/, '@') }), 'user, password and'],
    ['databases differ', (url: string) => ({ DATABASE_URL: `${url}x` }), 'must name the same database'],
  ])('makes no roles when %s', async (_what, change, message) => {
    const urls = urlsOf(database);
    const settings = { ...urls, ...change(urls.DATABASE_URL), ADMIN_DATABASE_URL: database.adminUrl };
    const { code, stderr } = await runHere(['roles'], settings);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
    for (const url of Object.values(settings)) expect(stderr).not.toContain(new URL(url).password || 'nothing');
  });
});
