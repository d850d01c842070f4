import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadEnv } from '@app/config';
import { exportOrganization } from '@app/exports';
import { importExport, manifestOf } from '../../apps/cli/src/import/exported.js';
import { shownTo } from '../support/events/shown.js';
import { findOverlap } from '../support/faults/calendar-model.js';
import { findWrongMoney } from '../support/faults/money-model.js';
import { inReport, seedOf } from '../support/faults/promise.js';
import { TestApi } from '../support/http/api.js';
import { fixture } from '../support/process/fixture.js';

const SEED = seedOf();
const base = await mkdtemp(join(tmpdir(), 'tutoring-round-trip-'));
afterAll(() => rm(base, { recursive: true, force: true }));

const settingsOf = (place: string) => ({ DATA_DIR: join(base, place), ENCRYPTION_KEY: '5e'.repeat(32) });
const here = await fixture(TestApi.start(settingsOf('here')));
const there = await fixture(TestApi.start(settingsOf('there')));
const envOf = ({ database }: TestApi, place: string) => loadEnv({ DATABASE_URL: database.applicationUrl, ...settingsOf(place) }, {});

async function exported(api: TestApi, place: string, organizationId: string) {
  const folder = join(base, `${organizationId} ${place}`);
  const { tables } = await exportOrganization({ env: envOf(api, place), url: api.database.ownerUrl, as: 'owner', organizationId, folder });
  return { folder, tables: tables.filter(({ imported }) => imported) };
}

it(
  `organizations after random histories are the same in another installation, and in an export of it (seed ${SEED})`,
  { timeout: 600_000 },
  async () => {
    expect(await findWrongMoney(here, { seed: SEED, runs: inReport(30, 3) })).toBeNull();
    expect(await findOverlap(here, { seed: SEED, runs: inReport(30, 5) })).toBeNull();
    const organizations = await here.make.query<{ id: string }>('SELECT id FROM organizations');
    expect(organizations.length).toBeGreaterThan(8);
    await here.make.query(`INSERT INTO logos (organization_id, digest, png, in_use)
      SELECT id, encode(sha256(convert_to(id::text || n, 'UTF8')), 'hex'), repeat('iVBO', 20000 + n), nullif(n = 2, false) FROM organizations, generate_series(1, 2) n`);
    for (const { id } of organizations) {
      const { folder, tables } = await exported(here, 'here', id);
      await importExport((await manifestOf(folder))!, { env: envOf(there, 'there'), url: there.database.ownerUrl, folder });
      expect([id, await shownTo(there, id)]).toEqual([id, await shownTo(here, id)]);
      const again = await exported(there, 'there', id);
      for (const { path, sha256 } of again.tables.filter((one, n) => one.sha256 !== tables[n]!.sha256)) {
        const lines = async (of: string) => (await readFile(join(of, path), 'utf8')).split('\n');
        expect([id, path, sha256, await lines(again.folder)]).toEqual([id, path, sha256, await lines(folder)]);
      }
    }
  },
);
