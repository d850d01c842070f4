import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DemoOptions, type DemoOrganization, sizeOf, writeDemo } from '../../apps/cli/src/demo/demo.js';
import { importFolder, type ImportReport } from '../../apps/cli/src/import/importer.js';
import { PAST } from '../../apps/cli/src/import/row-rules.js';
import { TABLES } from '../../apps/cli/src/import/tables.js';
import { type Row, SchemaFixture } from '../support/database/schema-fixture.js';

// A Wednesday evening in Melbourne: today has sessions on both sides of now.
const NOW = new Date('2026-05-06T05:00:00Z');

describe('demo', () => {
  const folders: string[] = [];
  let fixture: SchemaFixture;
  let organizations: (DemoOrganization & { id: string })[];
  const reports: ImportReport[] = [];

  async function write(options: Partial<DemoOptions> = {}): Promise<DemoOrganization[]> {
    const folder = await mkdtemp(join(tmpdir(), 'tutoring-demo-'));
    folders.push(folder);
    return writeDemo({ folder, ...sizeOf('small'), seed: 7, now: NOW, ...options });
  }

  function load(id: string, folder: string): Promise<ImportReport> {
    return importFolder({ url: fixture.urls.ownerUrl, organizationId: id, folder });
  }

  /** What the organization's callers of the API could see. */
  function seen(place: number, sql: string): Promise<Row[]> {
    return fixture.as(organizations[place]!.id, sql);
  }

  beforeAll(async () => {
    fixture = await SchemaFixture.create();
    organizations = [];
    for (const written of await write()) {
      const id = await fixture.organization();
      await fixture.as(id, 'UPDATE organizations SET time_zone = $1', [written.timeZone]);
      organizations.push({ ...written, id });
      reports.push(await load(id, written.folder));
    }
  });

  afterAll(async () => {
    await fixture.stop();
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
  });

  it('imports every row', async () => {
    for (const [place, { folder }] of organizations.entries()) {
      for (const table of TABLES) {
        const lines = (await readFile(join(folder, `${table}.ndjson`), 'utf8')).trim().split('\n').length;
        // The tutor who works in both already exists when the second organization is imported.
        const unchanged = place === 1 && table === 'users' ? 1 : 0;
        expect(reports[place]!.tables[table], table).toEqual({ read: lines, inserted: lines - unchanged, unchanged });
      }
    }
  });

  it('is the same for the same seed and time, and differs for another seed', async () => {
    const digest = async (options: Partial<DemoOptions> = {}) => {
      const written = await write({ students: 40, homework: 60, ...options });
      const hash = createHash('sha256').update(await readFile(join(written[0]!.folder, '..', 'organizations.json')));
      for (const { folder } of written) {
        for (const file of (await readdir(folder)).sort()) hash.update(file).update(await readFile(join(folder, file)));
      }
      return hash.digest('hex');
    };
    const first = await digest();
    expect(await digest()).toBe(first);
    expect(await digest({ seed: 8 })).not.toBe(first);
  });

  it('has every value of every enumerated column', async () => {
    const sets = await fixture.all(`SELECT k.conrelid::regclass::text AS table, a.attname AS column,
        ARRAY(SELECT (regexp_matches(pg_get_constraintdef(k.oid), '''([a-z_]+)''', 'g'))[1]) AS values
      FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
      WHERE k.contype = 'c' AND cardinality(k.conkey) = 1 AND pg_get_constraintdef(k.oid) LIKE '% = ANY (ARRAY[%' AND k.connamespace = 'public'::regnamespace`);
    expect(sets.length).toBeGreaterThan(20);
    for (const { table, column, values } of sets.filter((set) => TABLES.includes(set.table as string))) {
      const found = await fixture.all(`SELECT DISTINCT ${String(column)} AS value FROM ${String(table)}`);
      expect(
        found.map((row) => row.value),
        `${String(table)}.${String(column)} lacks a value in the demo: give some rows of apps/cli/src/demo each value`,
      ).toEqual(expect.arrayContaining(values as string[]));
    }
  });

  it('has only addresses that reach nobody', async () => {
    const addresses = await fixture.all('SELECT email FROM users');
    expect(addresses.length).toBeGreaterThan(100);
    for (const { email } of addresses) expect(email).toMatch(/@example\.(com|org)$|@placeholder\.invalid$/);
    for (const { ownerEmail, id } of organizations) {
      const owner = `SELECT m.role FROM users u JOIN members m ON m.user_id = u.id WHERE u.email = $1`;
      expect(await fixture.as(id, owner, [ownerEmail])).toEqual([{ role: 'owner' }]);
    }
  });

  it.each(
    Object.entries({
      'somebody who works in both organizations': `SELECT user_id FROM members GROUP BY user_id HAVING count(DISTINCT organization_id) = 2`,
      'an owner who teaches': `SELECT FROM members JOIN tutor_profiles USING (organization_id, user_id) WHERE role = 'owner'`,
      'a pending member with supplied names': `SELECT FROM members WHERE status = 'pending' AND supplied_last_name <> ''`,
      'a placeholder parent': `SELECT FROM users JOIN parents ON user_id = id WHERE placeholder_email AND email LIKE id || '@%'`,
      'a parent without a link': `SELECT FROM parents WHERE enrolled_at IS NULL`,
      'siblings with two parents': `SELECT a.parent_id FROM parent_students a JOIN parent_students b ON b.parent_id = a.parent_id
      AND b.student_id <> a.student_id JOIN parent_students c ON c.student_id = a.student_id AND c.parent_id <> a.parent_id`,
      'a group of a tutor in one organization only': `SELECT FROM student_groups WHERE owner_organization_id IS NULL
      AND organization_id IS NOT NULL`,
      'a group that nobody sees': `SELECT FROM student_groups WHERE organization_id IS NULL`,
      'homework that nobody sees': `SELECT FROM homework WHERE organization_id IS NULL`,
      'an archived subject and classroom': `SELECT FROM subjects, classrooms WHERE subjects.is_archived AND classrooms.is_archived`,
      'feedback that its author keeps private': `SELECT FROM session_feedback WHERE NOT is_public AND NOT legacy`,
      'an expense with a receipt': `SELECT FROM expense_claims WHERE receipt_photo_url IS NOT NULL`,
      'a message of the inbox in each state': `SELECT FROM inbox_messages HAVING count(DISTINCT status) = 3`,
      'homework with a file': `SELECT FROM homework WHERE jsonb_array_length(files) > 0`,
      'a term of weekly lessons at the same time of day': `SELECT s.series_id FROM sessions s
      JOIN organizations o ON o.id = s.organization_id WHERE s.series_id IS NOT NULL
      GROUP BY 1 HAVING count(*) = 10 AND count(DISTINCT (s.starts_at AT TIME ZONE o.time_zone)::time) = 1
      AND bool_or(s.status = 'completed') AND bool_or(s.status = 'scheduled')`,
      'a series whose rest is cancelled': `SELECT series_id FROM sessions GROUP BY 1 HAVING bool_or(status = 'completed')
      AND bool_or(status = 'cancelled' AND cancellation_reason IS NOT NULL)`,
      'a pending series': `SELECT series_id FROM sessions GROUP BY 1 HAVING bool_and(status = 'pending')`,
      'a session that overlaps another': `SELECT FROM sessions WHERE overlap_allowed`,
      'weekly hours until midnight in another time zone': `SELECT FROM availabilities
      WHERE end_time = '24:00' AND timezone = 'Australia/Perth'`,
      'time off ahead': `SELECT FROM time_off WHERE starts_on > '2026-05-06'`,
      'legacy feedback': `SELECT FROM session_feedback WHERE legacy AND organization_id IS NULL`,
      'results that nobody sees': `SELECT FROM results r WHERE NOT EXISTS (SELECT FROM organization_results o WHERE o.result_id = r.id)`,
      'every mode of a result in every status': `SELECT FROM results HAVING count(DISTINCT (mode, status)) = 16`,
      'a conversation that ends with a private message': `SELECT FROM conversations c JOIN messages m ON m.conversation_id = c.id
      WHERE m.visibility <> 'everyone' AND m.created_at > c.last_message_at`,
      'a conversation that everybody has left': `SELECT FROM conversations c WHERE NOT EXISTS (
      SELECT FROM organization_conversations o WHERE o.conversation_id = c.id)`,
      'a conversation that somebody has left': `SELECT FROM conversation_participants p JOIN organization_conversations o
      USING (conversation_id) WHERE p.left_at IS NOT NULL`,
      'a voided adjustment': `SELECT FROM adjustments WHERE voided AND voided_at IS NOT NULL`,
      'a deduction': `SELECT FROM adjustments WHERE amount_cents < 0`,
      'a post of each brand': `SELECT FROM blog_posts HAVING count(DISTINCT brand) = 2`,
      'a pinned post': `SELECT FROM blog_posts WHERE is_pinned`,
      'an invoice with a negative line': `SELECT FROM invoice_lines WHERE amount_cents < 0`,
    }),
  )('has %s', async (_, sql) => {
    expect(await fixture.all(sql)).not.toEqual([]);
  });

  it('has lessons, payments and posts around today, and no rows from the future', async () => {
    for (const place of [0, 1]) {
      const { timeZone } = organizations[place]!;
      const today = `(starts_at AT TIME ZONE '${timeZone}')::date = ('${NOW.toISOString()}'::timestamptz AT TIME ZONE '${timeZone}')::date`;
      const states = await seen(place, `SELECT DISTINCT status FROM sessions WHERE ${today} ORDER BY status`);
      expect(states.map((row) => row.status)).toEqual(['cancelled', 'scheduled']);
      const week = `date_trunc('week', '${NOW.toISOString()}'::timestamptz, '${timeZone}')`;
      expect(await seen(place, `SELECT FROM payments WHERE status = 'succeeded' AND created_at >= ${week}`)).not.toEqual([]);
      expect(await seen(place, `SELECT FROM blog_posts WHERE scheduled_at > '${NOW.toISOString()}'`)).toHaveLength(2);
      // No row was created in the future.
      const tables = await fixture.all(`SELECT table_name AS name FROM information_schema.columns
        WHERE table_schema = 'public' AND column_name = 'created_at' AND table_name <> 'api_keys'`);
      for (const { name } of tables.filter((table) => TABLES.includes(table.name as string))) {
        const late = await seen(place, `SELECT FROM ${String(name)} WHERE created_at > '${NOW.toISOString()}'`);
        expect(late, String(name)).toEqual([]);
      }
    }
  });

  it('has no time from the future, at whatever time of the day it is made', async () => {
    for (let hour = 0; hour < 24; hour += 8) {
      const now = new Date(NOW.getTime() + hour * 3_600_000 + 60_000);
      for (const { folder } of await write({ now, students: 400, homework: 0 })) {
        for (const [table, columns] of Object.entries(PAST)) {
          const lines = (await readFile(join(folder, `${table}.ndjson`), 'utf8')).trim().split('\n');
          const rows = lines.map((line) => JSON.parse(line) as Record<string, string | null>);
          for (const column of columns) {
            expect(
              rows.filter((row) => row[column] && new Date(row[column]) > now),
              `${table}.${column}`,
            ).toEqual([]);
          }
        }
      }
    }
  });

  it("has no result of somebody else's homework", async () => {
    const others = `SELECT r.id FROM results r JOIN homework h ON h.id = r.homework_assignment_id WHERE h.student_id <> r.student_id`;
    expect(await fixture.all(others)).toEqual([]);
  });

  it('uses the configured brands', async () => {
    const [first] = await write({ brands: ['maths', 'music'], students: 10, homework: 0 });
    const posts = (await readFile(join(first!.folder, 'blog_posts.ndjson'), 'utf8')).trim().split('\n');
    expect(new Set(posts.map((line) => (JSON.parse(line) as { brand: string }).brand))).toEqual(new Set(['maths', 'music']));
  });

  it('changes no existing row when imported again, at another time', async () => {
    for (const { id, folder } of organizations) {
      for (const [table, { inserted }] of Object.entries((await load(id, folder)).tables)) {
        expect(inserted, table).toBe(0);
      }
    }
    const tomorrow = await write({ now: new Date(NOW.getTime() + 86_400_000) });
    for (const [place, { id }] of organizations.entries()) {
      const { tables } = await load(id, tomorrow[place]!.folder);
      expect(Object.values(tables).map(({ inserted }) => inserted)).toEqual(TABLES.map(() => 0));
    }
  });

  it('can be as small as ten students', async () => {
    const tiny = await SchemaFixture.create();
    try {
      for (const { folder } of await write({ students: 10, homework: 0 })) {
        const organizationId = await tiny.organization();
        const { tables } = await importFolder({ url: tiny.urls.ownerUrl, organizationId, folder });
        expect(tables.members!.inserted).toBeGreaterThan(5);
      }
    } finally {
      await tiny.stop();
    }
  });

  it('accepts named and numeric sizes', () => {
    expect(sizeOf('small')).toEqual({ students: 60, homework: 600 });
    expect(sizeOf('large')).toEqual({ students: 100_000, homework: 1_000_000 });
    expect(sizeOf('250')).toEqual({ students: 250, homework: 2_500 });
    for (const text of ['huge', '', '-5', '1e3', '9', '1000001']) expect(() => sizeOf(text), text).toThrow(RangeError);
  });
});
