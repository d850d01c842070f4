import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { Test } from '@nestjs/testing';
import pg from 'pg';
import yauzl from 'yauzl';
import { loadEnv } from '@app/config';
import { manifestOf } from '../../../apps/cli/src/import/exported.js';
import { ExportsService } from '../../../apps/worker/src/exports/exports.service.js';
import { WorkerModule } from '../../../apps/worker/src/worker.module.js';
import { PrivateStorage } from '@app/storage';
import { createOrganizationFixture } from '../../support/data/fixtures.js';
import { TestApi } from '../../support/http/api.js';
import { type Someone, TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';
import { logTo } from '../../support/process/log-to.js';

const folder = await mkdtemp(join(tmpdir(), 'tutoring-exports-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const settings = { DATA_DIR: folder, ENCRYPTION_KEY: '5e'.repeat(32), SMTP_URL: 'smtp://127.0.0.1:1' };

const api = await fixture(TestApi.start(settings));
const { port } = api.server.address() as AddressInfo;
const origin = `http://127.0.0.1:${port}`;
const portal = await fixture(TestPortal.start({ ...settings, PUBLIC_URL: origin }, api.database));
const env = loadEnv({ ...settings, DATABASE_URL: api.database.applicationUrl, WORKER_DATABASE_URL: api.database.workerUrl }, {});
const worker = await fixture(Test.createTestingModule({ imports: [WorkerModule.forRoot(env, logTo([]))] }).compile());
const { make } = api;
const prepare = () => worker.get(ExportsService).runOnce();

const EXPORTS = '/v1/exports';

let school: string;
let owner: Someone;
let base: string;

beforeEach(async () => {
  const { id, organization } = await createOrganizationFixture(api, make);
  school = id;
  owner = await portal.someone('owner', { organization });
  base = `/o/${organization.slug}/exports`;
});

const headersOf = async (scope: 'read' | 'exports:write') => ({ Authorization: `Token token=${await api.key(school, { scopes: [scope] })}` });
const stateOf = async (id: string) => (await make.query<{ status: string }>('SELECT status FROM exports WHERE id = $1', [id]))[0]!.status;
const files = () => readdir(join(folder, 'private', school, 'exports')).catch(() => []);
const notices = () =>
  make.query(
    `SELECT DISTINCT n.kind FROM outbox, jsonb_object_keys(gathered_kinds) n (kind) WHERE organization_id = $1 AND n.kind LIKE 'export%' ORDER BY 1`,
    [school],
  );

/** An export that an owner has asked for, and that is ready. @returns its id */
async function readyExport(): Promise<string> {
  await portal.post(base, {}, owner.cookie).expect(303);
  await prepare();
  const [row] = await make.query<{ id: string }>(`SELECT id FROM exports WHERE organization_id = $1 AND status = 'ready'`, [school]);
  return row!.id;
}

/** The address of the file at the API, where the portal leads. */
const linkOf = async (id: string, { cookie } = owner) => (await portal.get(`${base}/${id}/file`, cookie).expect(303)).headers.location!;

/** Unpacks an archive. */
async function unpack(bytes: Buffer, into: string): Promise<void> {
  const zip = await promisify<Buffer, yauzl.Options, yauzl.ZipFile>(yauzl.fromBuffer)(bytes, { lazyEntries: true });
  for await (const entry of zip.eachEntry()) {
    const target = join(into, entry.fileName);
    await mkdir(dirname(target), { recursive: true });
    await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(target));
  }
}

it('a key asks, an owner confirms, the worker prepares, and an owner fetches it once', async () => {
  const headers = await headersOf('exports:write');
  const ask = () => fetch(origin + EXPORTS, { method: 'POST', headers });
  const asked = await ask();
  const { id, status } = (await asked.json()) as { id: string; status: string };
  expect([asked.status, status]).toEqual([201, 'asked']);
  expect(await (await ask()).json()).toMatchObject({ id, status: 'asked' });
  expect(await prepare()).toEqual({ prepared: 0 });

  await portal.post(`${base}/${id}/prepare`, {}, owner.cookie).expect(303);
  expect(await prepare()).toEqual({ prepared: 1 });
  expect(await notices()).toMatchObject([{ kind: 'export_asked' }, { kind: 'export_ready' }]);
  const record = await fetch(`${origin}${EXPORTS}/${id}`, { headers: await headersOf('read') });
  expect(await record.json()).toMatchObject({ status: 'ready' });

  const link = await linkOf(id);
  const fetched = await fetch(link);
  expect(fetched.headers.get('cache-control')).toBe('private, no-store');
  await unpack(Buffer.from(await fetched.arrayBuffer()), join(folder, id));
  const manifest = await manifestOf(join(folder, id));
  const [members] = await make.query<{ rows: number }>('SELECT count(*)::integer AS rows FROM members WHERE organization_id = $1', [school]);
  expect(manifest!.tables.find(({ table }) => table === 'members')).toMatchObject(members!);
  await expect.poll(() => stateOf(id)).toBe('downloaded');
  expect((await fetch(link)).status).toBe(404);
  await prepare();
  expect(await files()).toEqual([]);
});

it('a download that breaks off goes on, and counts once all of it has been sent', async () => {
  const id = await readyExport();
  const part = async (range: string) => {
    const answer = await fetch(await linkOf(id), { headers: { Range: `bytes=${range}` } });
    await answer.arrayBuffer();
    return answer.status;
  };
  expect(await part('-10')).toBe(206);
  expect(await part('0-999')).toBe(206);
  expect(await stateOf(id)).toBe('ready');
  await expect.poll(() => make.query('SELECT sent::integer FROM exports WHERE id = $1', [id])).toEqual([{ sent: 1000 }]);
  expect(await part('1000-')).toBe(206);
  await expect.poll(() => stateOf(id)).toBe('downloaded');
});

it('is for owners alone, also the link', async () => {
  const admin = await portal.someone('admin', { organization: owner.organization });
  await portal.post(base, {}, admin.cookie).expect(404);
  const id = await readyExport();
  const link = await linkOf(id);
  for (const path of [`${base}/${id}/prepare`, `${base}/${id}/call-off`]) await portal.post(path, {}, admin.cookie).expect(404);
  await portal.get(`${base}/${id}/file`, admin.cookie).expect(404);
  expect((await portal.get(base, admin.cookie).expect(200)).text).toContain('Only owners can');
  await make.query(`UPDATE members SET role = 'admin' WHERE user_id = $1`, [owner.user.id]);
  expect((await fetch(link)).status).toBe(404);
});

it('ends when it is called off, and when nobody has confirmed or fetched it for a week', async () => {
  const called = await readyExport();
  await portal.post(`${base}/${called}/call-off`, {}, owner.cookie).expect(303);
  const late = await readyExport();
  expect(await files()).toEqual([`${late}-1`]);
  await make.query(`UPDATE exports SET expires_at = now() - interval '1 second' WHERE id = $1`, [late]);
  await prepare();
  expect([await stateOf(called), await stateOf(late), await files()]).toEqual(['called_off', 'expired', []]);
});

it('is called off while it is being prepared, by a worker that fails or one that works, and the next one can be asked for', async () => {
  const [row] = await make.query<{ id: string }>(
    `INSERT INTO exports (id, organization_id, status, confirmed_at, leased_until, tries) SELECT gen_random_uuid(), $1, 'preparing', now(), now(), 3 RETURNING id`,
    [school],
  );
  expect((await portal.get(base, owner.cookie).expect(200)).text).toContain(`${row!.id}/call-off`);
  await portal.post(`${base}/${row!.id}/call-off`, {}, owner.cookie).expect(303);
  expect(await prepare()).toEqual({ prepared: 0 });

  await portal.post(base, {}, owner.cookie).expect(303);
  const put = vi.spyOn(worker.get(PrivateStorage), 'put').mockImplementationOnce(async () => {
    const [{ id } = { id: '' }] = await make.query<{ id: string }>(`SELECT id FROM exports WHERE organization_id = $1 AND status = 'preparing'`, [
      school,
    ]);
    await portal.post(`${base}/${id}/call-off`, {}, owner.cookie).expect(303);
    throw new Error('The disk is full');
  });
  expect(await prepare()).toEqual({ prepared: 0 });
  put.mockRestore();
  const last = await readyExport();
  expect([await stateOf(row!.id), await stateOf(last), await files()]).toEqual(['called_off', 'ready', [`${last}-1`]]);
});

it('the worker reads nothing of an organization while no export is being prepared', async () => {
  const client = new pg.Client({ connectionString: api.database.workerUrl });
  await client.connect();
  await client.query('BEGIN');
  await client.query(`SELECT set_config('app.organization_id', $1, true)`, [school]);
  await expect(client.query(`SELECT open_export('members')`)).rejects.toThrow('No export is being prepared');
  await client.end();
});

it('one whose worker was killed is prepared by the next, once it has been silent for too long', async () => {
  await portal.post(base, {}, owner.cookie).expect(303);
  await make.query(
    `UPDATE exports SET status = 'preparing', leased_until = now() + interval '1 minute' WHERE organization_id = $1 AND status = 'waiting'`,
    [school],
  );
  expect(await prepare()).toEqual({ prepared: 0 });
  await make.query(`UPDATE exports SET leased_until = now() WHERE organization_id = $1`, [school]);
  expect(await prepare()).toEqual({ prepared: 1 });
});
