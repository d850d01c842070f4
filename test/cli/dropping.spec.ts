import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadEnv } from '@app/config';
import { withIndexes } from '../../apps/cli/src/dropping.js';
import { drop } from '../../apps/cli/src/moving/homes.js';
import { withClient } from '../../apps/cli/src/postgres/client.js';
import { TestApi } from '../support/http/api.js';
import { fixture } from '../support/process/fixture.js';

const folder = await mkdtemp(join(tmpdir(), 'tutoring-drop-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const api = await fixture(TestApi.start({ DATA_DIR: folder }));
const { make, database } = api;
const env = loadEnv({ DATABASE_URL: database.applicationUrl, MIGRATION_DATABASE_URL: database.ownerUrl, DATA_DIR: folder }, {});

const read = async (table: string) => {
  const [row] = await make.query<{ n: number }>(
    `SELECT pg_stat_force_next_flush(), (heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::int AS n
     FROM pg_statio_user_tables WHERE relname = $1`,
    [table],
  );
  return row!.n;
};
const indexes = () => make.query(`SELECT indexname FROM pg_indexes WHERE indexname LIKE 'dropping%'`);

it('reads no more for each row of an organization, however many there are', async () => {
  const { id: school } = await make.organization();
  const [tutor, student] = [await make.tutor(school), await make.student(school)];
  const copies = (table: string, of: { id: string }, rows: number) =>
    make.query(
      `INSERT INTO ${table} SELECT (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid()))).*
       FROM ${table} t, generate_series(1, ${rows}) WHERE t.id = $1`,
      [of.id],
    );
  await copies('payments', await make.payment(school, { studentId: student.id }), 8_000);
  await copies('sessions', await make.session(school, { tutorId: tutor.id }), 2_000);
  await make.query('VACUUM ANALYZE payments, sessions');
  // What an interrupted command left is in nobody's way.
  const [reference] = await make.query<{ name: string }>(
    `SELECT 'dropping_' || oid AS name FROM pg_constraint WHERE conname = 'payments_organization_id_session_id_fkey'`,
  );
  await make.query(`CREATE INDEX ${reference!.name} ON payments (session_id, organization_id)`);
  const before = await read('payments');
  await drop(env, school);
  expect((await read('payments')) - before).toBeLessThan(100_000);
  expect(await make.query('SELECT FROM payments UNION ALL SELECT FROM sessions')).toEqual([]);
  expect(await indexes()).toEqual([]);
}, 120_000);

it('is not begun beside another one, whose indexes it would take away', async () => {
  const { id: school } = await make.organization();
  await withClient(database.ownerUrl, (client) =>
    withIndexes(client, async () => {
      await expect(drop(env, school)).rejects.toThrow('Another organization is being removed.');
    }),
  );
  await drop(env, school);
});
