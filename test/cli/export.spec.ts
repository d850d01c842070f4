import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Scope, SCOPES } from '@app/access';
import { loadEnv } from '@app/config';
import { exportOrganization, exportSheets, type Manifest } from '@app/exports';
import { importExport, manifestOf } from '../../apps/cli/src/import/exported.js';
import { createFixtures, type OrganizationFixture } from '../support/data/fixtures.js';
import { shownTo } from '../support/events/shown.js';
import { TestApi } from '../support/http/api.js';
import { allWrites } from '../support/http/all-writes.js';
import { documentOf, filtersOf, keyedReads, nameOf, sampleOf, validPath } from '../support/http/routes.js';
import { results, runCli } from '../support/process/cli.js';
import { fixture } from '../support/process/fixture.js';

const base = await mkdtemp(join(tmpdir(), 'tutoring-export-'));
afterAll(() => rm(base, { recursive: true, force: true }));

/** What belongs to the installation. */
const LEFT_ALONE = /^GET \/v1\/(me|ping|request-log|org\/join-link|events|exports|webhook-)/;

// One key, so that cursors are signed alike.
const settingsOf = (place: string) => ({ DATA_DIR: join(base, place), ENCRYPTION_KEY: '5e'.repeat(32) });
const envOf = ({ database }: TestApi, place: string) => loadEnv({ DATABASE_URL: database.applicationUrl, ...settingsOf(place) }, {});
const exported = (api: TestApi, place: string, organizationId: string, folder: string) =>
  exportOrganization({ env: envOf(api, place), url: api.database.ownerUrl, as: 'owner', organizationId, folder: join(base, folder) });
const arrive = async (api: TestApi, place: string, folder: string) => {
  const manifest = await manifestOf(join(base, folder));
  return importExport(manifest!, { env: envOf(api, place), url: api.database.ownerUrl, folder: join(base, folder) });
};

const here = await fixture(TestApi.start(settingsOf('here')));
const there = await fixture(TestApi.start(settingsOf('there')));
const fixtures = await createFixtures(here);
const { a: school, b: other } = fixtures;
const keyOf = (api: TestApi) => api.key(school.id, { scopes: Object.keys(SCOPES) as Scope[] });

/** Codes by which people join are links, which stay where they were made. */
const linkless = (text: string) => text.replace(/("join_code":)"[^"]*"/g, '$1null');
const withoutLinks = (records: Awaited<ReturnType<typeof shownTo>>) =>
  new Map([...records].map(([name, fields]) => [name, { ...fields, ...(fields.join_code && { join_code: 'null' }) }]));

/** The answers to all GETs, with each filter and both orders of pages, and to that of every file. */
async function answers(api: TestApi, key: string, { id }: OrganizationFixture): Promise<Map<string, string>> {
  const document = await documentOf(here);
  const files = await here.make.query<{ id: string }>('SELECT id FROM files WHERE organization_id = $1 AND upload_id IS NOT NULL', [id]);
  const paths = keyedReads(here)
    .filter((route) => !LEFT_ALONE.test(nameOf(route)))
    .flatMap((route) => {
      const filters = [...filtersOf(document, route)].map(([name, schema]) => `?${name}=${sampleOf(name, schema, school)}`);
      return ['', ...filters, ...(filters.length > 0 ? ['?cursor=start&limit=2'] : [])].map((query) => validPath(route, school, query));
    });
  const all = new Map<string, string>();
  for (const path of [...paths, ...files.map(({ id }) => `/v1/files/${id}/content`)]) {
    const { status, headers, text } = await api.get(path, key);
    // Rows of the fixtures were not written by the service, which writes JSON without spaces.
    const body = headers['content-type']?.includes('json') ? JSON.stringify(JSON.parse(text)) : text;
    all.set(path, `${status} ${linkless(body)}`);
  }
  return all;
}

describe('an export', () => {
  let manifest: Manifest;

  beforeAll(async () => {
    const key = await keyOf(here);
    for (const { method, path, type, body, replay } of await allWrites(here, fixtures)) {
      if (replay || /offboard|^DELETE/.test(`${method} ${path}`)) continue;
      const headers = { Authorization: `Token token=${key}`, 'Content-Type': type };
      const { port } = here.server.address() as { port: number };
      await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body: body ?? null });
    }
    manifest = await exported(here, 'here', school.id, 'first');
  });

  it('makes an empty installation answer every GET as this one does', async () => {
    // The operator's, of each installation.
    const places = await here.make.query<Record<string, string>>('SELECT postcode, suburb, lat, lng FROM places');
    for (const { postcode, suburb, lat, lng } of places)
      await there.make.query('INSERT INTO places (postcode, suburb, lat, lng) VALUES ($1, $2, $3, $4)', [postcode, suburb, lat, lng]);
    const { tables } = await arrive(there, 'there', 'first');
    for (const { table, rows } of manifest.tables.filter(({ imported }) => imported))
      expect(tables[table]).toEqual({ read: rows, inserted: rows, unchanged: 0 });
    expect(withoutLinks(await shownTo(there, school.id))).toEqual(withoutLinks(await shownTo(here, school.id)));
    const before = await answers(here, await keyOf(here), school);
    const after = await answers(there, await keyOf(there), school);
    const different = [...before].filter(([path, answer]) => after.get(path) !== answer);
    expect(different.map(([path, answer]) => ({ path, answer, there: after.get(path) }))).toEqual([]);
    expect(before.size).toBeGreaterThan(200);
  });

  it('holds no paper: the same bytes are made from what has arrived', async () => {
    const [issued] = await here.make.query<{ id: string }>('SELECT id FROM invoices WHERE organization_id = $1 AND snapshot IS NOT NULL', [
      school.id,
    ]);
    const papers = await Promise.all(
      [here, there].map(async (api) => {
        const { headers } = await api.get(`/v1/invoices/${issued!.id}/pdf`, await keyOf(api));
        const { port } = api.server.address() as { port: number };
        return Buffer.from(await (await fetch(`http://127.0.0.1:${port}${headers.location}`)).arrayBuffer());
      }),
    );
    expect([papers[0]!.subarray(0, 5).toString(), papers[0]!.equals(papers[1]!)]).toEqual(['%PDF-', true]);
  });

  it('of what has arrived is the same again', async () => {
    const again = await exported(there, 'there', school.id, 'again');
    const rows = async (folder: string, path: string) => {
      const lines = (await readFile(join(base, folder, path), 'utf8')).split('\n');
      return lines.filter(Boolean).map((line) => JSON.parse(line) as unknown);
    };
    for (const { path } of again.tables.filter(({ imported }) => imported))
      expect(await rows('again', path), path).toEqual(await rows('first', path));
    expect(again.files).toEqual(manifest.files);
    expect(again.files.length).toBeGreaterThan(0);
  });

  it('has no secret, and nothing of another organization', async () => {
    const files = await readdir(join(base, 'first'), { recursive: true, withFileTypes: true });
    for (const file of files.filter((one) => one.isFile())) {
      const text = await readFile(join(file.parentPath, file.name), 'utf8');
      expect(text, file.name).not.toMatch(/"(secret|secret_hash|proof_hash|key_hash|password_hash|sealed|payload)"/);
      const foreign = [...other.ids].filter((id) => !school.ids.has(id) && !fixtures.shared.has(id) && text.includes(id));
      expect(foreign, file.name).toEqual([]);
    }
  });

  it('is refused where the organization is, and if a file is not as it was written', async () => {
    await expect(arrive(there, 'there', 'first')).rejects.toThrow('is here already');
    await writeFile(join(base, 'again', 'subjects.ndjson'), '{}\n');
    await expect(arrive(there, 'there', 'again')).rejects.toThrow('subjects.ndjson: is not as it was exported');
  });

  it('is two commands, and a login that is there already keeps its name, and is asked', async () => {
    const [folder, { slug }] = [join(base, 'other'), other.organization];
    const run = (api: TestApi, place: string, args: string[]) =>
      runCli(['--json', ...args], { DATABASE_URL: api.database.applicationUrl, MIGRATION_DATABASE_URL: api.database.ownerUrl, ...settingsOf(place) });
    const written = await run(here, 'here', ['export', folder, '--org', slug]);
    expect(results(written.stdout)).toMatchObject([{ organization: slug, folder }]);
    const tried = await run(there, 'there', ['import', folder, '--dry-run']);
    expect(results(tried.stdout)).toMatchObject([{ organization: slug, dry_run: true }]);
    const { stderr, stdout } = await run(there, 'there', ['import', folder]);
    expect(stderr).toBe('');
    expect(results(stdout)).toMatchObject([{ organization: slug, dry_run: false, tables: { users: { unchanged: fixtures.shared.size } } }]);
    const statuses = `SELECT organization_id, status FROM members WHERE user_id = ANY ($1) ORDER BY organization_id = $2, status`;
    expect(await there.make.query(statuses, [[...fixtures.shared], other.id])).toMatchObject([
      ...[...fixtures.shared].map(() => ({ organization_id: school.id, status: 'accepted' })),
      ...[...fixtures.shared].map(() => ({ organization_id: other.id, status: 'pending' })),
    ]);
  });

  it('for spreadsheets has headings in plain words, names instead of ids, and no formula of others', async () => {
    const { id } = school;
    await here.make.student(id, { user: { firstName: '=1+1', lastName: 'Ng' } });
    const files = await exportSheets({ url: here.database.ownerUrl, organizationId: id, folder: join(base, 'sheets') });
    expect(Object.values(files).every((rows) => rows > 0)).toBe(true);
    const students = await readFile(join(base, 'sheets', 'teacher', 'students.csv'), 'utf8');
    expect(students.split('\r\n')[0]).toBe('\ufeffName,Email,Phone,Status,Since,Parents');
    expect(students).toContain("'=1+1 Ng");
    const invoices = await readFile(join(base, 'sheets', 'bookkeeper', 'invoices.csv'), 'utf8');
    expect(invoices).toMatch(/,\d+\.\d\d,\d+\.\d\d,AUD\r\n/);
    const people = await here.make.query<{ id: string }>('SELECT user_id AS id FROM members WHERE organization_id = $1', [id]);
    const cells = new Set([students, invoices].flatMap((text) => text.split(/[,\r\n]+/)));
    expect(people.filter((one) => cells.has(one.id))).toEqual([]);
  });
});
