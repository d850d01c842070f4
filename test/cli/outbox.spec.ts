import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildOnce } from '../support/http/api-process.js';
import { type CliResult, results, runCli } from '../support/process/cli.js';
import { runHere } from '../support/process/commands.js';
import { OutboxFixture } from '../support/worker/worker.js';

// Each command is a process of its own.
vi.setConfig({ testTimeout: 120_000 });

const SECRET = 'never-to-be-shown';

describe('the outbox and hook commands', () => {
  let room: OutboxFixture;
  let slug: string;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tutoring-hooks-'));
    await buildOnce();
    room = await OutboxFixture.open();
    slug = (await room.make.query<{ slug: string }>('SELECT slug FROM organizations'))[0]!.slug;
  });
  afterEach(() => room.clear());
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await room.stop();
  });

  const settings = () => ({ ...room.settings, MIGRATION_DATABASE_URL: room.database.ownerUrl });
  const cli = (...args: string[]): Promise<CliResult> => runHere(args, settings());

  it('outbox list and show hide addresses and links unless asked to reveal them', async () => {
    await room.queue(['ada@example.org'], { payload: { joinUrl: 'https://app.example/join/the-token' } });
    await room.rebuild();
    await room.make.query(`UPDATE outbox SET status = 'dead', attempts = 8, last_error = 'smtp_451' WHERE topic = 'email'`);
    const listed = await cli('--json', 'outbox', 'list');
    expect(results(listed.stdout)).toMatchObject([
      { topic: 'rebuild', status: 'queued', recipient: `organization:${room.organizationId}`, attempts: 0 },
      { topic: 'email', status: 'dead', recipient: 'a…@example.org', attempts: 8, last_error: 'smtp_451' },
    ]);
    const dead = await cli('outbox', 'list', '--status', 'dead');
    expect(dead.stdout.trim().split('\n')).toHaveLength(2);
    expect(dead.stdout).toMatch(/^ID +STATUS +TRIES +KIND +ORGANIZATION +TO +CREATED \(UTC\)/);
    expect((await cli('outbox', 'list')).stdout).toContain(`organization:${slug} `);
    expect((await cli('outbox', 'list')).stdout).not.toContain(`organization:${room.organizationId}`);
    expect(dead.stdout).toMatch(new RegExp(`dead +8 +organization_invite +${slug} +a…@example\\.org +.* smtp_451`));
    const id = results(listed.stdout)[1]!.id as string;
    const rebuild = await cli('outbox', 'show', results(listed.stdout)[0]!.id as string);
    expect(rebuild.stdout).toMatch(new RegExp(`^recipient +organization:${slug}$`, 'm'));
    const shown = await cli('outbox', 'show', id);
    expect(shown.stdout).toMatch(/last_error +smtp_451: The mail server replied/);
    for (const { stdout, stderr } of [listed, dead, shown]) expect(stdout + stderr).not.toMatch(/ada@|the-token/);
    expect((await cli('outbox', 'show', id, '--reveal')).stdout).toMatch(
      /recipient +ada@example\.org[^]*join_url +https:\/\/app\.example\/join\/the-token/,
    );
    expect((await cli('outbox', 'list', '--status', 'sent')).stdout).toBe('There are no sent messages.\n');
    expect(await cli('outbox', 'list', '--status', 'lost')).toMatchObject({ code: 1 });
  });

  it('outbox retry queues a dead message again, and explains a refusal', async () => {
    await room.queue(['ada@example.org']);
    const { id } = (await room.rows())[0]!;
    expect(await cli('outbox', 'retry', id)).toMatchObject({ code: 1, stderr: expect.stringContaining('is queued') as string });
    await room.make.query(`UPDATE outbox SET status = 'dead', attempts = 8, due_at = '2100-01-01'`);
    expect(await cli('outbox', 'retry', id)).toMatchObject({ code: 0, stdout: `Message ${id} is queued again\n` });
    expect(await room.rows()).toMatchObject([{ status: 'queued', attempts: 0 }]);
    for (const stranger of ['no-id', '0199a6ba-3f00-7000-8000-000000000000']) {
      expect(await cli('outbox', 'retry', stranger)).toMatchObject({
        code: 1,
        stderr: `There is no message ${stranger}: see "outbox list"\n`,
      });
    }
  });

  it('outbox unsuppress allows mail to an address again', async () => {
    await room.make.query(`SELECT refuse_address('ada@example.org', $1)`, [room.organizationId]);
    expect(await cli('outbox', 'unsuppress', 'Ada@Example.org')).toMatchObject({ code: 0 });
    expect(await cli('outbox', 'unsuppress', 'Ada@Example.org')).toMatchObject({ code: 1 });
    await room.queue(['ada@example.org']);
    expect(await room.tally()).toEqual({ queued: 1 });
  });

  it('hook set encrypts the secret and shows a generated one once', async () => {
    const set = await cli('--json', 'hook', 'set', '--org', slug, '--url', 'https://site.example/hook');
    const target = `organization:${room.organizationId}`;
    expect(results(set.stdout)).toEqual([{ target, url: 'https://site.example/…', secret: expect.stringMatching(/^[0-9a-f]{64}$/) as string }]);
    const stored = async () => (await room.make.query<{ secret: Buffer }>('SELECT secret FROM rebuild_hooks'))[0]!.secret;
    expect(room.vault.open('hook secrets', await stored())).toBe(results(set.stdout)[0]!.secret);
    const own = 'a secret of our own';
    const file = join(folder, 'secret');
    writeFileSync(file, `${own}\n`);
    expect((await cli('hook', 'set', '--org', slug, '--url', 'https://site.example/2', '--secret-file', file)).stdout).not.toContain(own);
    expect(room.vault.open('hook secrets', await stored())).toBe(own);
    const piped = ['hook', 'set', '--brand', 'primary', '--url', 'http://brand.example/', '--secret-stdin'];
    expect(await runCli(piped, settings(), 'short')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('A secret needs at least 16 characters') as string,
    });
    expect(await runCli(piped, settings(), own)).toMatchObject({ code: 0 });
    const [brand] = await room.make.query<{ secret: Buffer }>(`SELECT secret FROM rebuild_hooks WHERE target = 'brand:primary'`);
    expect(room.vault.open('hook secrets', brand!.secret)).toBe(own);
    expect(results((await cli('--json', 'hook', 'list')).stdout)).toMatchObject([
      { target: 'brand:primary', organization: null, url: 'http://brand.example' },
      { target, organization: slug, url: 'https://site.example/…' },
    ]);
    const shown = (await cli('hook', 'list')).stdout;
    expect(shown).toMatch(/^SITE +URL +CREATED \(UTC\)\n/);
    expect(shown).toMatch(new RegExp(`^organization:${slug} +https://site\\.example/… +\\d{4}-`, 'm'));
    // With some hosting services, the path is the only secret.
    expect(shown + set.stdout).not.toMatch(new RegExp(`${own}|example/[^…]`));
    expect(await cli('hook', 'remove', '--brand', 'primary')).toMatchObject({ code: 0 });
    expect(await cli('hook', 'remove', '--brand', 'primary')).toMatchObject({ code: 1 });
  });

  it('hook test queues one test in ten seconds, and reports a missing hook', async () => {
    const test = () => cli('hook', 'test', '--org', slug);
    expect(await test()).toMatchObject({ code: 1, stderr: 'No build hook is set. Set one with "hook set"\n' });
    await cli('hook', 'set', '--org', slug, '--url', 'https://site.example/hook');
    expect(await test()).toMatchObject({ code: 0, stdout: expect.stringContaining('Queued a test') as string });
    // Keeps both tests within ten seconds of the database's clock, even on a slow machine.
    await room.make.query(`UPDATE outbox SET created_at = now() + interval '1 hour' WHERE kind = 'test'`);
    expect(await test()).toMatchObject({ code: 1, stderr: 'The last test was less than ten seconds ago. Wait a moment, then try again\n' });
  });

  it.each([
    [['--url', 'https://x.example'], 'Specify either --org or --brand'],
    [['--org', 'a', '--brand', 'b', '--url', 'https://x.example'], 'Specify either --org or --brand'],
    [['--org', 'nobody', '--url', 'https://x.example'], 'There is no organization "nobody"'],
    [['--brand', 'third', '--url', 'https://x.example'], 'There is no brand "third". The brands are: primary, secondary'],
    [['--brand', 'primary', '--url', 'ftp://x.example'], 'Enter an http(s) URL.'],
    [['--brand', 'primary', '--url', 'https://x.example', '--secret', SECRET], 'Use --secret-file or --secret-stdin'],
    [['--brand', 'primary', '--url', 'https://x.example', '--secret-file', '/nowhere'], 'cannot be read (ENOENT)'],
    [['--brand', 'primary', '--url', `https://user:${SECRET}@x.example`], 'must not contain a user name or password'],
    [['--brand', 'primary', '--url', `https://${SECRET}@x.example/`], 'must not contain a user name or password'],
    [['--brand', 'primary', '--url', `https://user:${SECRET}@x:y`], 'Enter an http(s) URL.'],
  ])('hook set refuses %j', async (args, complaint) => {
    const { code, stderr } = await cli('hook', 'set', ...args);
    expect(code).toBe(1);
    expect(stderr).toContain(complaint);
    expect(stderr).not.toContain(SECRET);
    expect(await room.make.query('SELECT FROM rebuild_hooks')).toHaveLength(0);
  });
});
