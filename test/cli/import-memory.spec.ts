import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { allInvoices } from '../../apps/cli/src/demo/invoicing.js';
import { School } from '../../apps/cli/src/demo/school.js';
import { TEXTS } from '../../apps/cli/src/demo/texts.js';
import { ImportError, importFolder } from '../../apps/cli/src/import/importer.js';
import { ImportFixture } from '../support/data/import-fixture.js';
import { fixture } from '../support/process/fixture.js';

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;
const imports = await fixture(ImportFixture.open());

/** What ten times as many rows may add to what is kept in memory (MB). */
const MOST = 15;

/** @returns the most that the work keeps in memory, beyond what is there already (MB) */
async function kept(work: (look: () => void) => Promise<unknown>): Promise<number> {
  const used = () => (collect(), process.memoryUsage().heapUsed / 1e6);
  const before = used();
  let most = 0;
  await work(() => (most = Math.max(most, used() - before)));
  return most;
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'tutoring-memory-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** An import that is refused for its last line: everything has been read and checked by then. */
const reading = (rows: number) =>
  inFolder(async (folder) => {
    const lines = function* () {
      for (let row = 0; row < rows; row++) yield `{"id":"00000000-0000-4000-8000-${String(row).padStart(12, '0')}","topic":"Fractions ${row}"}\n`;
      yield '{}\n';
    };
    await pipeline(Readable.from(lines()), createWriteStream(join(folder, 'questions.ndjson')));
    return kept(async (look) => {
      const all = importFolder({ url: imports.database.urls.ownerUrl, organizationId: imports.organization, folder, onProgress: look });
      await expect(all).rejects.toThrow(ImportError);
    });
  });

it('an import keeps no more of many rows than of a few', async () => {
  await imports.renew();
  const few = await reading(4_000);
  expect((await reading(40_000)) - few).toBeLessThan(MOST);
});

it('neither does the demo, of invoices, which gather the lessons of a month', async () => {
  const writing = (students: number) =>
    kept((look) => {
      const school = new School({ ...TEXTS.organizations[0], brands: ['primary'] }, students, students, 1, Date.UTC(2026, 2, 2));
      let written = 0;
      for (const _ of allInvoices(school)) if (written++ % 2_000 === 0) look();
      return Promise.resolve();
    });
  const few = await writing(300);
  expect((await writing(3_000)) - few).toBeLessThan(MOST);
});

it('an import reads no more for each row, however many it has written', async () => {
  await imports.renew();
  const rows = 20_000;
  const read = async () => {
    const [row] = await imports.database.all(
      `SELECT pg_stat_force_next_flush(), coalesce(idx_tup_fetch, 0) + seq_tup_read AS n FROM pg_stat_user_tables WHERE relname = 'questions'`,
    );
    return Number(row!.n);
  };
  const before = await read();
  await inFolder(async (folder) => {
    const lines = Array.from({ length: rows }, (_, row) => `{"id":"00000000-0000-4000-9000-${String(row).padStart(12, '0')}","topic":"Fractions"}\n`);
    await pipeline(Readable.from(lines), createWriteStream(join(folder, 'questions.ndjson')));
    await importFolder({ url: imports.database.urls.ownerUrl, organizationId: imports.organization, folder });
  });
  // What it has written is looked at once, for the statistics of the planner at the most.
  expect((await read()) - before).toBeLessThan(rows * 1.5);
});
