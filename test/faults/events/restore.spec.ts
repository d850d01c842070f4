import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import supertest from 'supertest';
import { migrate } from '@app/database';
import type { TestDatabase } from '../../support/database/database.js';
import { OwnPostgres } from '../../support/database/own-postgres.js';
import { TestApi } from '../../support/http/api.js';
import { findDebianPostgres } from '../../support/process/debian-postgres.js';
import { fixture } from '../../support/process/fixture.js';

// pg_dump must not be older than the server, so both are Debian's.
const programs = findDebianPostgres();
const own = await fixture(OwnPostgres.start({}, programs));
const lived = { ...own.urls, adminUrl: own.adminUrl } as unknown as TestDatabase;
const settings = { ENCRYPTION_KEY: '7'.repeat(64) };
const folder = await mkdtemp(join(tmpdir(), 'tutoring-dump-'));
afterAll(() => rm(folder, { recursive: true }));

/** As docs/backup.md says. */
const run = (program: string, ...args: string[]) =>
  promisify(execFile)(join(programs, program), args, { env: { ...process.env, PGOPTIONS: '-c app.maintenance=on' } });

async function read(api: TestApi, key: string, cursor: string) {
  await api.make.query('SELECT number_events()');
  const response = await api.get(`/v1/events?cursor=${encodeURIComponent(cursor)}`, key);
  const { data, meta } = response.body as { data?: { resource_id: string }[]; meta?: { next_cursor: string } };
  return { status: response.status, ids: data?.map((event) => event.resource_id), next: meta?.next_cursor };
}

async function add(api: TestApi, key: string, name: string): Promise<string> {
  const request = supertest(api.server).post('/v1/subjects').set('Authorization', `Token token=${key}`);
  return ((await request.send({ name }).expect(201)).body as { id: string }).id;
}

it('a restored feed goes on from its cursors, but not from those of what the restore has undone', async () => {
  const before = await fixture(TestApi.start(settings, lived));
  const { id } = await before.make.organization();
  const key = await before.key(id, { scopes: ['read', 'settings:write'] });
  await add(before, key, 'Latin');
  const { next: good } = await read(before, key, 'now');
  // Committed, and not numbered yet.
  const greek = await add(before, key, 'Greek');
  const dump = join(folder, 'tutoring.dump');
  await run('pg_dump', '-Fc', '--enable-row-security', '-f', dump, lived.ownerUrl);
  await add(before, key, 'Hebrew');
  const { next: lost } = await read(before, key, good!);

  await before.make.query('CREATE DATABASE restored OWNER tutoring_owner');
  const at = (url: string) => Object.assign(new URL(url), { pathname: '/restored' }).href;
  const { ownerUrl, applicationUrl, workerUrl, portalUrl, adminUrl } = lived;
  const urls = {
    ownerUrl: at(ownerUrl),
    applicationUrl: at(applicationUrl),
    workerUrl: at(workerUrl),
    portalUrl: at(portalUrl),
    adminUrl: at(adminUrl),
  };
  await run('pg_restore', '--no-owner', '--no-privileges', '--exit-on-error', '-d', urls.ownerUrl, dump);
  await migrate(urls.ownerUrl, { api: urls.applicationUrl, worker: urls.workerUrl, portal: urls.portalUrl });
  const after = await fixture(TestApi.start(settings, urls as unknown as TestDatabase));
  expect(await read(after, key, good!)).toMatchObject({ status: 200, ids: [greek] });
  expect(await read(after, key, lost!)).toMatchObject({ status: 410 });
  const welsh = await add(after, key, 'Welsh');
  expect(await read(after, key, good!)).toMatchObject({ status: 200, ids: [greek, welsh] });
  expect(await read(after, key, lost!)).toMatchObject({ status: 410 });
});
