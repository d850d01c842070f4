import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { inject } from 'vitest';
import { SCOPES } from '@app/access';
import { allCommands, runHere } from '../support/process/commands.js';
import { createTestDatabase, urlsOf } from '../support/database/database.js';
import { CLI, results, runCli } from '../support/process/cli.js';
import { fixture } from '../support/process/fixture.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const database = await fixture(createTestDatabase());

describe('the command line', () => {
  const cli = (...args: string[]) => runHere(args, urlsOf(database));

  beforeAll(async () => {
    await cli('org', 'create', '--name', 'First', '--slug', 'first');
  });

  it('creates an organization with its time zone and currency', async () => {
    const made = await cli(...'--json org create --name Riverside --slug riverside --timezone Europe/Paris --currency EUR'.split(' '));
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(results(made.stdout)).toEqual([{ id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string, slug: 'riverside' }]);
  });

  it('changes an organization, its currency while there is no money', async () => {
    await cli('org', 'create', '--name', 'Moving', '--slug', 'moving');
    const update = (...args: string[]) => cli('--json', 'org', 'update', '--org', 'moving', ...args);
    const made = await update('--name', 'Moved', '--timezone', 'Europe/Paris', '--currency', 'EUR', '--terms-days', '7', '--app-url', 'https://app.example.org');
    const fields = ['name', 'time_zone', 'currency', 'app_url', 'payment_terms_days'];
    expect(results(made.stdout)).toEqual([{ organization: 'moving', changed: fields }]);
    expect(results((await update('--name', 'Moved')).stdout)).toEqual([{ organization: 'moving', changed: [] }]);
    const owner = new pg.Client({ connectionString: urlsOf(database).MIGRATION_DATABASE_URL });
    await owner.connect();
    try {
      await owner.query(`SET app.maintenance = on`);
      const { rows } = await owner.query<{ id: string }>(`SELECT id, name, time_zone, currency, app_url, payment_terms_days FROM organizations WHERE slug = 'moving'`);
      expect(rows).toMatchObject([{ name: 'Moved', time_zone: 'Europe/Paris', currency: 'EUR', app_url: 'https://app.example.org/', payment_terms_days: 7 }]);
      const audited = await owner.query(`SELECT details FROM audit_log WHERE organization_id = $1 AND operation = 'change settings' AND result = 'done'`, [rows[0]!.id]);
      expect(audited.rows).toEqual([{ details: { fields } }]);
      await owner.query(`WITH person AS (INSERT INTO users (id, email, email_normalized, first_name, last_name)
          VALUES (gen_random_uuid(), 'm@example.org', 'm@example.org', 'M', 'N') RETURNING id),
        member AS (INSERT INTO members (id, organization_id, user_id, role) SELECT gen_random_uuid(), $1, id, 'tutor' FROM person RETURNING user_id)
        INSERT INTO adjustments (id, organization_id, tutor_id, period_start, period_end, amount_cents)
        SELECT gen_random_uuid(), $1, user_id, '2026-05-01', '2026-05-01', 1 FROM member`, [rows[0]!.id]);
    } finally {
      await owner.end();
    }
    expect(await update('--currency', 'USD')).toMatchObject({ code: 1, stderr: expect.stringContaining('There is money already') as string });
    expect(await update('--currency', 'EUR', '--name', 'Again')).toMatchObject({ code: 0 });
  }); // prettier-ignore

  it.each([
    [['org', 'update', '--org', 'first'], 'Say what to change'],
    [['org', 'update', '--org', 'nowhere', '--name', 'x'], 'There is no organization "nowhere"'],
    [['org', 'update', '--org', 'first', '--terms-days', '1.5'], 'Enter 0 to 365 days'],
    [['org', 'update', '--org', 'first', '--terms-days', '366'], 'Enter 0 to 365 days'],
    [['org', 'update', '--org', 'first', '--app-url', 'http://app.example.org'], 'Enter an address that begins with https://'],
    [['org', 'update', '--org', 'first', '--timezone', 'Mars/Base'], 'Choose an IANA time zone'],
    [['org', 'create', '--name', 'Again', '--slug', 'first'], 'The organization "first" already exists'],
    [['org', 'create', '--name', 'Bad', '--slug', 'Not A Slug'], '"Not A Slug" is not a valid slug'],
    [['org', 'create', '--name', 'Bad', '--slug', 'bad', '--timezone', 'Mars/Base'], 'Choose an IANA time zone'],
    [['org', 'create', '--name', 'Bad', '--slug', 'bad', '--timezone', '+05:30'], 'Choose an IANA time zone'],
    ...['dollars', 'JPY', 'KWD', 'CLF', 'ZZZ', 'XXX', 'XAU', 'DEM', 'aud'].map(
      (code) =>
        [['org', 'create', '--name', 'Bad', '--slug', 'bad', '--currency', code], 'Choose the ISO 4217 code of a currency with hundredths'] as [
          string[],
          string,
        ],
    ),
    [['org', 'create', '--slug', 'bad'], "required option '--name <name>' not specified"],
    [['owner', 'create', '--org', 'first', '--email', 'nobody'], '"nobody" is not a valid email address'],
    [['owner', 'create', '--org', 'nowhere', '--email', 'a@example.org'], 'There is no organization "nowhere"'],
    [['key', 'create', '--org', 'nowhere', '--name', 'x'], 'There is no organization "nowhere"'],
    [['key', 'create', '--org', 'first', '--name', ''], 'Enter a name of 1 to 100 characters'],
    [['key', 'create', '--org', 'first', '--name', 'x', '--scopes', 'read,admin'], 'There is no scope "admin"'],
    ...['2020-01-01T00:00', '2020-01-01T10:00+10'].map((time): [string[], string] => [
      ['key', 'create', '--org', 'first', '--name', 'x', '--expires', time],
      'That time has already passed',
    ]),
    [['key', 'create', '--org', 'first', '--name', 'x', '--expires', '2020-01-01'], 'Choose today or a later date'],
    ...['tomorrow', '2099-02-30', '2099-01-31T24:00', '2099-W05-1', '20990131', '0000-01-01'].map((time): [string[], string] => [
      ['key', 'create', '--org', 'first', '--name', 'x', '--expires', time],
      'Must be an ISO 8601 date',
    ]),
    ...['', '  ', '\u200b', 'two\nlines', 'a\u0001b', 'n'.repeat(201)].map((name): [string[], string] => [
      ['org', 'create', '--name', name, '--slug', 'bad'],
      'Enter a name on one line, up to 200 characters',
    ]),
    [['key', 'list', '--org', 'nowhere'], 'There is no organization "nowhere"'],
    [['key', 'revoke', 'nonsense'], 'There is no key nonsense'],
    [['key', 'replace', 'nonsense'], 'There is no key nonsense'],
    [['key', 'replace', 'x', '--overlap', '2h'], 'Allowed choices are now, 1h, 24h, 7d, 30d'],
    [['key', 'revoke', '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30'], 'There is no key 0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30'],
    [['import', '/nowhere', '--org', 'nowhere'], 'There is no organization "nowhere"'],
    [['demo', '--size', 'huge'], "option '--size <size>' argument 'huge' is invalid"],
    [['demo', '--seed', 'x'], 'Must be a whole number'],
    [['dance'], "unknown command 'dance'"],
    [['demos'], "unknown command 'demos' (Did you mean demo?). Add --help for usage."],
    [['key', 'list', '--org', 'first', '--all'], "unknown option '--all'. Add --help for usage."],
  ])('%j fails with one clear line and exit code 1', async (args, message) => {
    const { code, stdout, stderr } = await cli(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^(?!.*Error:).+\n$/);
  });

  it('lists organizations by their slugs', async () => {
    const listed = await cli('org', 'list');
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    const [heading, ...lines] = listed.stdout.trim().split('\n');
    expect(heading).toMatch(/^SLUG +NAME +TIME ZONE +CURRENCY +CREATED \(UTC\) +ID$/);
    expect(lines).toContainEqual(expect.stringMatching(/^first +First +Australia\/Melbourne +AUD +\d{4}-\d\d-\d\d \d\d:\d\d +[0-9a-f-]{36}$/));
    expect(results((await cli('--json', 'org', 'list')).stdout)).toContainEqual(
      expect.objectContaining({ slug: 'first', name: 'First', time_zone: 'Australia/Melbourne' }),
    );
  });

  it('prints its version', async () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(await cli('--version')).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
  });

  it('key create explains the scopes, and shows the URL of the service', async () => {
    const help = await cli('key', 'create', '--help');
    for (const [scope, text] of Object.entries(SCOPES)) expect(help.stdout).toMatch(new RegExp(`^  ${scope} +${text}$`, 'm'));
    const args = ['key', 'create', '--org', 'first', '--name', 'x'];
    const { stdout } = await runHere(args, { ...urlsOf(database), PUBLIC_URL: 'https://api.example.org' });
    expect(stdout).toMatch(/curl -H 'Authorization: Token token=\w+' https:\/\/api\.example\.org\/v1\/me\n/);
  });

  it('every command has help for itself and its options, and is in docs/command-line.md', async () => {
    const page = readFileSync(join(ROOT, 'docs/command-line.md'), 'utf8');
    for (const { name, command, args } of allCommands()) {
      const path = args.slice(0, name.split(' ').length);
      expect([name, command.description()]).toEqual([name, expect.stringMatching(/.{10}/)]);
      for (const { flags, description, hidden } of command.options) {
        expect([name, flags, description]).toEqual([name, flags, hidden ? '' : expect.stringMatching(/.{5}/)]);
      }
      const help = await runHere([...path, '--help'], {});
      expect([name, help.code, help.stderr]).toEqual([name, 0, '']);
      // Commander prints a default value as JSON unless it is described.
      expect(help.stdout).not.toMatch(/default: [[{]/);
      expect([name, page]).toEqual([name, expect.stringMatching(new RegExp(`\`(${name}|npm ${name})[ \`]`))]);
    }
  });

  it('reads .env before anything else; the environment takes precedence', async () => {
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

  it('ignores a closed pipe, and fails if its output cannot be written', async () => {
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
    // The command behind the closed pipe ran to its end.
    const { stdout } = await cli('--json', 'key', 'list', '--org', 'first');
    expect(results(stdout).map(({ name }) => name)).toContain('piped');
    const full = shell('"$1" "$2" org list >/dev/full');
    expect([full.status, full.stderr]).toEqual([1, 'The output could not be written (ENOSPC)\n']);
  });

  it('mails a new owner a link to set a password, or prints it if there is no mail server', async () => {
    const settings = { ...urlsOf(database), ENCRYPTION_KEY: 'ab'.repeat(32), APP_URL: 'https://portal.example.org' };
    const create = (email: string, more: Record<string, string> = {}) =>
      runHere(['owner', 'create', '--org', 'first', '--email', email], { ...settings, ...more });
    const printed = await create('printed@example.org');
    expect(printed.stdout).toMatch(/link to set a password.*:\nhttps:\/\/portal\.example\.org\/password\/[\w-]{43}\n$/);
    const mailed = await create('mailed@example.org', { SMTP_URL: 'smtp://127.0.0.1:1' });
    expect(mailed.stdout).toContain('They have been emailed a link to set a password.');
    expect(mailed.stdout).not.toContain('/password/');
    const admin = new pg.Client({ connectionString: database.adminUrl });
    await admin.connect();
    const { rows } = await admin.query<object>(`SELECT kind, recipient FROM outbox ORDER BY kind`);
    await admin.end();
    expect(rows).toContainEqual({ kind: 'owner_welcome', recipient: 'mailed@example.org' });
    // Every owner learns of another one.
    expect(rows).toContainEqual({ kind: 'manager_added', recipient: 'printed@example.org' });
    expect(rows).not.toContainEqual({ kind: 'manager_added', recipient: 'mailed@example.org' });
  });

  it('every command says which settings it reads, and in production makes no link to localhost', async () => {
    const settings = { ...urlsOf(database), ENCRYPTION_KEY: 'ab'.repeat(32), NODE_ENV: 'production' };
    const refused = allCommands().map(({ name, command }) => {
      let help = '';
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      const [, read] = /^Reads: (MIGRATION_DATABASE_URL.*)\.$/m.exec(help) ?? [];
      return [name, ['APP_URL', 'PUBLIC_URL'].filter((setting) => read!.split(', ').includes(setting))] as const;
    });
    const args = Object.fromEntries(allCommands().map((leaf) => [leaf.name, leaf.args]));
    for (const [name, links] of refused.filter(([, { length }]) => length > 0)) {
      const { code, stdout, stderr } = await runHere(args[name]!, settings);
      expect([name, code, stdout]).toEqual([name, 1, '']);
      for (const link of links) expect([name, stderr]).toEqual([name, expect.stringMatching(`${link} is not set: .* localhost\n$`)]);
    }
    expect(Object.fromEntries(refused.filter(([, { length }]) => length > 0))).toEqual({
      'owner create': ['APP_URL'],
      'owner promote': ['APP_URL'],
      'member remove': ['APP_URL'],
      'key create': ['PUBLIC_URL'],
      'key replace': ['PUBLIC_URL'],
      move: ['PUBLIC_URL'],
    });
  });

  it('creates an owner once, whatever the case of the address', async () => {
    const [first, again] = [
      await cli('--json', 'owner', 'create', '--org', 'first', '--email', 'Kim.Lee@example.org'),
      await cli('--json', 'owner', 'create', '--org', 'first', '--email', ' kim.lee@EXAMPLE.org'),
    ].map(({ stdout }) => results(stdout)[0]!);
    expect(first).toMatchObject({ created: true });
    expect(again).toMatchObject({ user_id: first!.user_id, created: false });
  });

  it('makes a second owner and removes people, but not the last owner who can sign in', async () => {
    await cli('org', 'create', '--name', 'Leaving', '--slug', 'leaving');
    const [first, second] = ['first.owner@example.org', 'second.owner@example.org'];
    for (const email of [first, second]) await cli('owner', 'create', '--org', 'leaving', '--email', email);
    const client = new pg.Client({ connectionString: database.adminUrl });
    await client.connect();
    await client.query(`INSERT INTO credentials (user_id, password_hash) SELECT id, 'x' FROM users WHERE email_normalized = ANY ($1)`, [
      [first, second],
    ]);
    await client.query(`UPDATE members SET role = 'tutor' WHERE user_id IN (SELECT id FROM users WHERE email_normalized = $1)`, [second]);
    const remove = (email: string) => cli('--json', 'member', 'remove', '--org', 'leaving', '--email', email);
    expect(await remove(first)).toMatchObject({ code: 1, stderr: expect.stringContaining('the last owner') as string });
    const promote = () => cli('--json', 'owner', 'promote', '--org', 'leaving', '--email', second);
    expect([results((await promote()).stdout), results((await promote()).stdout)]).toEqual([
      [{ email: second, changed: true }],
      [{ email: second, changed: false }],
    ]);
    expect(results((await remove(first)).stdout)).toMatchObject([{ changed: true, keys: 0 }]);
    expect(results((await remove(first)).stdout)).toMatchObject([{ changed: false }]);
    expect((await remove('nobody@example.org')).stderr).toContain('Nobody in this organization has the address');
    // An owner who has left comes back by the operator's word.
    const create = async () => results((await cli('--json', 'owner', 'create', '--org', 'leaving', '--email', first)).stdout);
    expect([await create(), await create()]).toMatchObject([[{ created: true }], [{ created: false }]]);
    const { rows } = await client.query<object>(
      `SELECT m.status, (SELECT count(*)::int FROM audit_log a WHERE a.operation = 'add owner' AND a.person_id = u.id) AS audited
       FROM users u JOIN members m ON m.user_id = u.id WHERE u.email_normalized = $1`,
      [first],
    );
    await client.end();
    expect(rows).toEqual([{ status: 'accepted', audited: 2 }]);
  });

  it('writes by rules under the role of the portal, and refuses to without its URL', async () => {
    await cli('org', 'create', '--name', 'Roles', '--slug', 'roles');
    for (const name of ['one', 'two']) await cli('owner', 'create', '--org', 'roles', '--email', `${name}@roles.example`);
    const client = new pg.Client({ connectionString: database.adminUrl });
    await client.connect();
    await client.query(`UPDATE members SET role = 'tutor' WHERE user_id IN (SELECT id FROM users WHERE email LIKE '%@roles.example')`);
    await client.end();
    const writers: Record<string, string[]> = {};
    let command = '';
    const query = Reflect.get(pg.Client.prototype, 'query') as (...args: unknown[]) => unknown;
    vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
      const { text = '' } = args[0] as { text?: string };
      if (/\b(INSERT INTO|UPDATE|DELETE FROM) \w/.test(text)) (writers[command] ??= []).push(this.user!);
      return query.apply(this, args) as never;
    });
    const run = async (name: string, rest: string) => {
      command = name;
      const { MIGRATION_DATABASE_URL, DATABASE_URL } = urlsOf(database);
      const args = `--json ${name} ${rest}`.split(' ');
      const refused = await runHere(args, { MIGRATION_DATABASE_URL, DATABASE_URL });
      expect([name, refused.code, refused.stderr]).toEqual([name, 1, expect.stringMatching(/^PORTAL_DATABASE_URL is not set: .*\n$/)]);
      const { code, stdout, stderr } = await cli(...args);
      expect([name, code, stderr]).toEqual([name, 0, '']);
      return results(stdout)[0]!;
    };
    const { id } = await run('key create', '--org roles --name x');
    const { id: next } = await run('key replace', id as string);
    await run('key revoke', next as string);
    await run('owner promote', '--org roles --email one@roles.example');
    await run('member remove', '--org roles --email two@roles.example');
    vi.restoreAllMocks();
    const portal = decodeURIComponent(new URL(database.portalUrl).username);
    const commands = ['key create', 'key replace', 'key revoke', 'owner promote', 'member remove'];
    const found = Object.entries(writers).map(([name, roles]) => [name, [...new Set(roles)]]);
    expect(found).toEqual(commands.map((name) => [name, [portal]]));
  });

  it('creates a key whose text is shown once, lists it and revokes it', async () => {
    const created = results((await cli('--json', 'key', 'create', '--org', 'first', '--name', 'sync', '--scopes', 'read,write')).stdout)[0]!;
    expect(created).toMatchObject({ key: expect.stringMatching(/^tk_live_[0-9a-f]{64}$/) as string, scopes: ['read', 'write'], expires_at: null });
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

  it('replaces a key: the new one is shown once, the old one works until the overlap ends', async () => {
    const make = async (...args: string[]) => results((await cli('--json', 'key', ...args)).stdout)[0]!;
    const old = await make('create', '--org', 'first', '--name', 'nightly', '--scopes', 'read,write');
    const made = await make('replace', old.id as string, '--overlap', '7d');
    expect(made).toMatchObject({ key: expect.stringMatching(/^tk_live_[0-9a-f]{64}$/) as string, replaces: old.id, expires_at: null });
    const listed = results((await cli('--json', 'key', 'list', '--org', 'first')).stdout);
    const [before, after] = [old, made].map(({ id }) => listed.find((entry) => entry.id === id)!);
    expect(after).toMatchObject({ name: 'nightly', scopes: ['read', 'write'], status: 'active', expires_at: null });
    expect(before).toMatchObject({ status: 'active', expires_at: expect.any(String) as string });
    await make('revoke', old.id as string);
    expect((await cli('key', 'replace', old.id as string)).stderr).toContain('expired or been revoked');
  });

  it('creates a read-only key by default, with an optional expiry', async () => {
    const { stdout } = await cli(...'--json key create --org first --name short --expires 2099-01-31T12:00'.split(' '));
    expect(results(stdout)[0]).toMatchObject({ scopes: ['read'], expires_at: '2099-01-31T12:00:00.000Z' });
  });

  it('imports a folder, and names the lines that are wrong', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tutoring-import-'));
    try {
      writeFileSync(join(folder, 'subjects.ndjson'), '{"id":"0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f31","name":"Chemistry"}\n');
      const good = await cli('--json', 'import', folder, '--org', 'first');
      expect(results(good.stdout)[0]).toMatchObject({ organization: 'first', tables: { subjects: { inserted: 1, unchanged: 0 } } });
      writeFileSync(join(folder, 'subjects.ndjson'), '{"id":"0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f32"}\n');
      const bad = await cli('import', folder, '--org', 'first');
      expect(bad.code).toBe(1);
      expect(bad.stderr).toMatch(/^subjects\.ndjson:1: name: /m);
      // What an update would do, and what it refuses, is told before it is done.
      const known = { id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f31', name: 'Biology', is_archived: true };
      const fresh = { id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f33', name: 'Physics' };
      const write = (...rows: object[]) => writeFileSync(join(folder, 'subjects.ndjson'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      write(known, fresh);
      const plain = await cli('import', folder, '--org', 'first', '--dry-run');
      expect(plain.stdout).toBe(
        '  subjects                   1 inserted, 1 unchanged (1 differ)\n  Rows that are there stay as they are: --update changes them.\nNothing was written.\n',
      );
      const update = [`import ${folder} --org first --update`.split(' '), ['--dry-run']] as const;
      expect(await cli(...update.flat())).toMatchObject({
        code: 0,
        stdout: '  subjects                   1 inserted, 1 changed (is_archived 1, name 1), 0 unchanged\nNothing was written.\n',
      });
      const told = results((await cli('--json', ...update.flat())).stdout)[0];
      expect(told).toMatchObject({ dry_run: true, tables: { subjects: { read: 2, inserted: 1, changed: 1, fields: { is_archived: 1, name: 1 } } } });
      write({ ...known, name: 5, code: 6 }, { ...fresh, name: '' }, { id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f34', name: 'Art' });
      const refused = await cli(...update.flat());
      expect(refused.code).toBe(1);
      expect(refused.stderr).toMatch(
        /^ {2}subjects {19}2 refused\nsubjects\.ndjson:1: name: .*\nsubjects\.ndjson:1: code: .*\nsubjects\.ndjson:2: name: /m,
      );
      write(known, fresh);
      expect((await cli(...update[0])).stdout).toBe('  subjects                   1 inserted, 1 changed (is_archived 1, name 1), 0 unchanged\n');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
