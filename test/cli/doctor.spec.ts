import pg from 'pg';
import { runHere } from '../support/process/commands.js';
import { createTestDatabase, urlsOf } from '../support/database/database.js';
import { urlWith } from '../support/database/url-with.js';
import { TestSmtp } from '../support/worker/smtp.js';
import { results } from '../support/process/cli.js';
import { fixture } from '../support/process/fixture.js';

const database = await fixture(createTestDatabase());

describe('doctor and recount', () => {
  const cli = (...args: string[]) => runHere(args, urlsOf(database));

  /** Runs a statement as the owner, who sees every row. */
  async function asOwner(sql: string): Promise<{ id: string }[]> {
    const owner = new pg.Client({ connectionString: database.ownerUrl, options: '-c app.maintenance=on' });
    await owner.connect();
    return (await owner.query<{ id: string }>(sql).finally(() => owner.end())).rows;
  }

  beforeAll(async () => {
    await cli('org', 'create', '--name', 'First', '--slug', 'first');
    await cli('owner', 'create', '--org', 'first', '--email', 'owner@example.org');
  });

  it('doctor passes on a sound installation', async () => {
    const { code, stdout } = await cli('--json', 'doctor');
    expect(code).toBe(0);
    const byCheck = Object.fromEntries(results(stdout).map(({ check, status }) => [check as string, status]));
    expect(byCheck).toMatchObject({
      database: 'ok',
      migrations: 'ok',
      'role of the api': 'ok',
      'role of the worker': 'ok',
      'role of the owner': 'ok',
      functions: 'ok',
      totals: 'ok',
      copies: 'ok',
      redis: 'ok',
      mail: 'warn',
      storage: 'ok',
      worker: 'warn',
    });
  });

  it('doctor fails for a role with too many rights, and for a missing database', async () => {
    const roles = async (url: string): Promise<Record<string, string>> => {
      const { stdout } = await runHere(['--json', 'doctor'], { ...urlsOf(database), DATABASE_URL: url });
      return Object.fromEntries(results(stdout).map(({ check, status, message }) => [String(check), `${String(status)}: ${String(message)}`]));
    };
    const asOwner = await roles(database.ownerUrl);
    expect(asOwner['role of the api']).toMatch(/^fail: .* owns the database .*; .* owns the schema, tables or functions/);
    expect(asOwner['role of the worker']).toMatch(/^ok/);
    expect(asOwner['role of the owner']).toMatch(/^ok/);
    expect((await roles(database.adminUrl))['role of the api']).toMatch(/^fail: .*superuser/);
    expect((await roles(database.workerUrl))['role of the api']).toMatch(/^fail: .*claim_outbox/);
    const nowhere = await runHere(['doctor'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere' });
    expect(nowhere.code).toBe(1);
    expect(nowhere.stdout).toMatch(/^fail {2}database: DATABASE_URL: the database at 127\.0\.0\.1:1 cannot be reached/m);
  });

  it('doctor counts what is wrong with a role, and lists it all with --verbose', async () => {
    const wrong = { ...urlsOf(database), DATABASE_URL: database.workerUrl };
    const listed = async (...flags: string[]) => {
      const { stdout } = await runHere(['doctor', ...flags], wrong);
      const [, count, names] = /lacks (\d+) privileges that the api needs: (.*?) \(run/.exec(stdout)!;
      return { count: Number(count), names: names!.replace(/ and \d+ more .*/, '').split('; ').length, text: names! };
    };
    const [short, whole] = [await listed(), await listed('--verbose')];
    expect(short).toMatchObject({ names: 5, text: expect.stringContaining(`and ${short.count - 5} more ("doctor --verbose" lists all)`) as string });
    expect(whole).toMatchObject({ count: short.count, names: short.count, text: expect.not.stringContaining('more') as string });
  });

  it('doctor finds a role without its settings', async () => {
    const compiling = (url: string) => urlWith(url, { search: '?options=-c%20jit%3Don' });
    const { workerUrl, ownerUrl } = database;
    const changed = { WORKER_DATABASE_URL: compiling(workerUrl), MIGRATION_DATABASE_URL: compiling(ownerUrl) };
    const { stdout } = await runHere(['doctor'], { ...urlsOf(database), ...changed });
    expect(stdout).toMatch(
      /^fail {2}role of the worker: the role of WORKER_DATABASE_URL has jit = on instead of off \(run "npm run cli -- migrate"/m,
    );
    expect(stdout).toMatch(/^warn {2}role of the owner: the role of MIGRATION_DATABASE_URL has jit = on instead of off/m);
    expect(stdout).toMatch(/^ok {4}role of the api: /m);
  });

  it('doctor finds a function of another build', async () => {
    await asOwner('ALTER FUNCTION take_login SECURITY INVOKER');
    const { code, stdout } = await cli('doctor');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^fail {2}functions: .*: take_login \(run "npm run cli -- migrate"\)$/m);
    expect((await cli('migrate')).stdout).toBe('Replaced take_login\n');
    expect((await cli('migrate')).stdout).toBe('The schema is up to date\n');
    expect((await cli('doctor')).stdout).toMatch(/^ok {4}functions: /m);
  });

  it('doctor finds a wrong counter, and recount corrects it', async () => {
    await asOwner(`INSERT INTO list_counts (organization_id, list, delta)
      SELECT id, 'members:student', 3 FROM organizations WHERE slug = 'first'`);
    const { code, stdout } = await cli('--json', 'doctor');
    expect(code).toBe(1);
    expect(results(stdout).find(({ check }) => check === 'totals')).toEqual({
      check: 'totals',
      status: 'fail',
      message: 'The total of a list is the number of its rows. 1 of first break it: members:student: run "npm run cli -- recount"',
    });
    expect(await cli('recount')).toMatchObject({ code: 0, stdout: 'Corrected the totals of first\nAll copies are correct\n' });
    expect(await cli('recount')).toMatchObject({ code: 0, stdout: 'All totals are correct\nAll copies are correct\n' });
    expect((await cli('doctor')).code).toBe(0);
  });

  it('doctor finds a wrong copy, and recount corrects it', async () => {
    const wrong = `UPDATE users SET seen_by = '{}' WHERE id = (SELECT id FROM users WHERE seen_by <> '{}' LIMIT 1) RETURNING id`;
    const [{ id } = { id: '' }] = await asOwner(wrong);
    const { code, stdout } = await cli('--json', 'doctor');
    expect(code).toBe(1);
    expect(results(stdout).find(({ check }) => check === 'copies')).toEqual({
      check: 'copies',
      status: 'fail',
      message: `A login lists the organizations that its person has accepted. 1 of first break it: ${id}: run "npm run cli -- recount"`,
    });
    expect(await cli('recount')).toMatchObject({ code: 0, stdout: 'All totals are correct\nCorrected 1 copy\n' });
    expect((await cli('doctor')).code).toBe(0);
  });

  it('doctor --deep names what does not add up, in words, with the first rows', async () => {
    expect((await cli('doctor', '--deep')).stdout).toMatch(/^ok {4}rows: all \d+ invariants hold$/m);
    const id = '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30';
    await asOwner(`INSERT INTO api_keys (id, organization_id, name, key_hash, first_four, last_four, created_by)
      SELECT '${id}', o.id, 'x', sha256('x'), 'abcd', 'abcd', u.id FROM organizations o, users u LIMIT 1`);
    await asOwner(`UPDATE members SET role = 'tutor'`);
    const { code, stdout } = await cli('doctor', '--deep');
    expect(code).toBe(1);
    expect(stdout).toContain(`fail  rows: keys of managers: Only who manages the organization has keys that work. 1 of first break it: ${id}\n`);
    expect((await cli('doctor')).code).toBe(0);
    await asOwner(`UPDATE members SET role = 'owner'`);
  });

  it('doctor checks the mail server', async () => {
    const smtp = await TestSmtp.start();
    const mail = async (url: string) =>
      results((await runHere(['--json', 'doctor'], { DATABASE_URL: database.applicationUrl, SMTP_URL: url })).stdout).find(
        ({ check }) => check === 'mail',
      );
    expect(await mail(smtp.url)).toMatchObject({ status: 'ok' });
    await smtp.stop();
    expect(await mail(smtp.url)).toMatchObject({ status: 'fail' });
    expect(await mail('file:///tmp/mail')).toMatchObject({ status: 'ok' });
  });
});
