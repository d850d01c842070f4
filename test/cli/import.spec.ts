import { randomUUID as id } from 'node:crypto';
import { appendFile, open } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import pg from 'pg';
import { importFolder, type ImportProgress } from '../../apps/cli/src/import/importer.js';
import { homeworkRow, resultRow } from '../support/database/schema-fixture.js';
import { ImportFixture, without } from '../support/data/import-fixture.js';
import { waitsFor } from '../support/database/lock-waits.js';
import { fixture } from '../support/process/fixture.js';

const imports = await fixture(ImportFixture.open());

describe('an import', () => {
  beforeEach(() => imports.renew());

  it('follows the same rules as every write', async () => {
    const parent = imports.school.userRow('parent');
    const conversation = imports.school.conversation();
    const homework = without(homeworkRow(imports.school.tutor.id as string), 'organization_id');
    const files = imports.school.with({
      users: [parent],
      parents: [{ user_id: parent.id }],
      parent_students: [{ parent_id: parent.id, student_id: imports.school.student.id, linked_at: '2026-02-01' }],
      student_groups: [
        { id: id(), name: 'Ours' },
        { id: id(), name: 'The tutor’s', owned: false, tutor_id: imports.school.tutor.id },
      ],
      homework: [homework],
      session_feedback: [{ id: id(), tutor_id: imports.school.tutor.id, rating: 5, comment: 'Good' }],
      results: [resultRow(imports.school.student.id as string)],
      ...conversation,
    });
    expect(await imports.load(files)).toMatchObject({ users: { read: 3, inserted: 3, unchanged: 0 }, homework: { inserted: 1 } });

    const seen = (table: string) => imports.rows(`SELECT * FROM ${table}`);
    expect(await seen('parents')).toMatchObject([{ enrolled_at: new Date('2026-02-01'), status: 'accepted' }]);
    expect(await seen('homework')).toMatchObject([{ organization_id: imports.organization, files: [] }]);
    expect(await seen('session_feedback')).toMatchObject([{ organization_id: imports.organization, has_comment: true }]);
    expect(await seen('organization_results')).toHaveLength(1);
    expect(await seen('conversations')).toMatchObject([{ last_message_at: new Date('2026-03-02T09:00:00Z') }]);
    const groups = await imports.rows('SELECT * FROM student_groups ORDER BY name');
    expect(groups).toMatchObject([
      { organization_id: imports.organization, owner_organization_id: imports.organization },
      { organization_id: imports.organization, owner_organization_id: null },
    ]);
  });

  it('leaves existing rows unchanged, even those that nobody sees', async () => {
    const idle = imports.school.userRow('idle');
    const alone = imports.school.conversation();
    for (const seat of alone.conversation_participants!) seat.left_at = '2026-03-03';
    const files = imports.school.with({
      users: [idle],
      members: [imports.school.memberRow(idle, 'student')],
      subjects: [{ id: id(), name: 'Physics' }],
      session_feedback: [{ id: id(), tutor_id: imports.school.tutor.id, rating: 3, legacy: true }],
      results: [resultRow(idle.id as string)],
      ...alone,
    });
    const first = await imports.load(files);
    files.subjects![0]!.name = 'Chemistry';
    for (const [table, counts] of Object.entries(await imports.load(files))) {
      const differing = table === 'subjects' ? { differing: 1 } : {};
      expect(counts, table).toEqual({ read: first[table]!.read, inserted: 0, unchanged: first[table]!.read, ...differing });
    }
    expect(await imports.rows('SELECT name FROM subjects')).toEqual([{ name: 'Physics' }]);
    expect(await imports.rows('SELECT FROM conversations')).toEqual([]);
  });

  it('reuses a login of another organization without changing it', async () => {
    await imports.load(imports.school.files);
    const second = await imports.database.organization();
    const changed = { ...imports.school.tutor, email: (imports.school.tutor.email as string).toUpperCase(), last_name: 'Changed' };
    const files = { users: [changed], members: [imports.school.memberRow(imports.school.tutor, 'tutor')] };
    expect(await imports.load(files, second)).toMatchObject({ users: { inserted: 0, unchanged: 1 }, members: { inserted: 1 } });
    expect(await imports.database.all('SELECT email, last_name FROM users WHERE id = $1', [imports.school.tutor.id])).toEqual([
      { email: imports.school.tutor.email, last_name: 'Nguyen' },
    ]);
  });

  it('fills omitted fields with their defaults', async () => {
    const post = { id: id(), brand: 'primary', title: 'News', slug: 'news' };
    await imports.load({ blog_posts: [post] });
    const [row] = await imports.rows('SELECT *, created_at > now() - interval $$1 minute$$ AS fresh FROM blog_posts');
    expect(row).toMatchObject({ status: 'draft', tags: [], publish_to_website: true, excerpt: null, fresh: true });
  });

  it('reads dates, times, arrays and JSON as the API does', async () => {
    const files = imports.school.with({
      homework: [{ ...homeworkRow(imports.school.tutor.id as string), due_date: '2026-05-01T19:30+10:00', files: [{ a: 'ünïcode "\\ \n' }] }],
      adjustments: [{ id: id(), tutor_id: imports.school.tutor.id, period_start: '2026-05-01', period_end: '2026-05-31', amount_cents: -250 }],
      blog_posts: [{ id: id(), brand: 'primary', title: 'x', slug: 'x', tags: ['a,b', '"c"', '{d}', 'NULL', 'é'] }],
      mileage_trips: [{ id: id(), tutor_id: imports.school.tutor.id, trip_date: '2026-05-01', distance_km: 4.25 }],
    });
    await imports.load(files);
    const [homework] = await imports.rows('SELECT due_date, files FROM homework');
    expect(homework).toEqual({ due_date: new Date('2026-05-01T09:30:00Z'), files: [{ a: 'ünïcode "\\ \n' }] });
    const [adjustment] = await imports.rows('SELECT period_end::text, amount_cents FROM adjustments');
    expect(adjustment).toEqual({ period_end: '2026-05-31', amount_cents: '-250' });
    expect(await imports.rows('SELECT tags FROM blog_posts')).toEqual([{ tags: ['a,b', '"c"', '{d}', 'NULL', 'é'] }]);
    expect(await imports.rows('SELECT distance_km FROM mileage_trips')).toEqual([{ distance_km: 4.25 }]);
  });

  it('accepts a byte order mark, CRLF, blank lines and a missing final newline', async () => {
    const subject = (name: string) => JSON.stringify({ id: id(), name });
    const text = `\uFEFF${subject('Physics')}\r\n\r\n  \n${subject('Zoë’s Chemistry')}\r\n${subject('Biology')}`;
    expect(await imports.load({ subjects: text, classrooms: '' })).toEqual({
      subjects: { read: 3, inserted: 3, unchanged: 0 },
      classrooms: { read: 0, inserted: 0, unchanged: 0 },
    });
    const rows = await imports.rows('SELECT name FROM subjects ORDER BY name');
    expect(rows.map((row) => row.name)).toEqual(['Biology', 'Physics', 'Zoë’s Chemistry']);
  });

  it('reports its progress', async () => {
    const told: ImportProgress[] = [];
    const folder = await imports.write(imports.school.files);
    const onProgress = (progress: ImportProgress) => told.push(progress);
    await importFolder({ url: imports.database.urls.ownerUrl, organizationId: imports.organization, folder, onProgress });
    const tables = ['users', 'members', 'sessions'];
    expect(told.map(({ phase, table, done }) => [phase, table, done])).toEqual([
      ...tables.map((table) => ['reading', table, true]),
      ...tables.map((table) => ['writing', table, true]),
    ]);
    expect(told[0]!.lines).toBe(2);
  });

  it('keeps the statistics of large tables, which autovacuum would take for empty', async () => {
    const subjects = Array.from({ length: 6_000 }, (_, n) => ({ id: id(), name: `Subject ${n}` }));
    const homework = without(homeworkRow(imports.school.tutor.id as string), 'organization_id');
    const folder = await imports.write(imports.school.with({ subjects, homework: [homework] }));
    const admin = new pg.Client({ connectionString: imports.database.urls.adminUrl });
    await admin.connect();
    try {
      await admin.query('BEGIN; LOCK TABLE homework IN SHARE MODE');
      const url = imports.database.urls.ownerUrl;
      const importing = importFolder({ url, organizationId: imports.organization, folder });
      await vi.waitFor(async () => expect((await admin.query(waitsFor('homework'))).rowCount).toBe(1));
      // As autovacuum does: not while another transaction holds the table's lock.
      await admin.query('ANALYZE (SKIP_LOCKED) subjects');
      const statistics = `SELECT reltuples FROM pg_class WHERE oid = 'subjects'::regclass`;
      const { rows } = await admin.query<{ reltuples: number }>(statistics);
      expect(rows[0]!.reltuples).toBeGreaterThanOrEqual(6_000);
      await admin.query('COMMIT');
      await importing;
    } finally {
      await admin.end();
    }
  });

  it('reads 100,000 lines in little memory', async () => {
    const folder = await imports.write(imports.school.files);
    const file = await open(join(folder, 'homework.ndjson'), 'w');
    const row = { ...homeworkRow(imports.school.tutor.id as string), student_id: imports.school.student.id, description: 'x'.repeat(500) };
    for (let place = 0; place < 100_000; place += 5_000) {
      await file.appendFile(Array.from({ length: 5_000 }, () => `${JSON.stringify({ ...row, id: id() })}\n`).join(''));
    }
    await file.close();
    // The last line is invalid, so all lines are read and none is written.
    await appendFile(join(folder, 'homework.ndjson'), '{}\n');
    const before = used();
    let most = 0;
    let calls = 0;
    const onProgress = () => {
      // Collecting the garbage of this process takes long.
      if (calls++ % 4 === 0) most = Math.max(most, used());
    };
    const started = Date.now();
    const options = { url: imports.database.urls.ownerUrl, organizationId: imports.organization, folder, onProgress };
    await expect(importFolder(options)).rejects.toThrow('homework.ndjson:100001: id: is missing');
    expect((most - before) / 1024 / 1024).toBeLessThan(50);
    expect(calls).toBeGreaterThan(4);
    expect(calls).toBeLessThan(6 + (Date.now() - started) / 200);
  });
});

/** Bytes in use. Unlike the size of this process, it does not depend on what else ran in it. */
function used(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
