import pg from 'pg';
import { recountLists } from '@app/database';
import {
  addPeople,
  counters,
  DIFFERENCES,
  differences,
  member,
  parent,
  person,
  profile,
} from '../support/database/list-counts.js';
import { SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

/** Tables whose triggers maintain the counters. */
const COUNTED = ['members', 'tutor_profiles', 'parents'];

const schema = await fixture(SchemaFixture.create());

describe('list counts', () => {
  let school: string;
  let other: string;

  beforeEach(async () => {
    [school, other] = [await schema.organization(), await schema.organization()];
  });

  /** Inserts rows of every counted kind and changes them in every way, one statement each. */
  const HISTORY = [
    member('a', 'student'),
    member('b', 'tutor'),
    member('c', 'owner'),
    `UPDATE members SET role = 'admin' WHERE role = 'owner'`,
    profile('b', true),
    'UPDATE tutor_profiles SET is_published = false',
    'DELETE FROM tutor_profiles',
    parent('p', true),
    parent('q', true),
    `UPDATE parents SET enrolled_at = NULL WHERE user_id = ${person('p')}`,
    `DELETE FROM parents WHERE enrolled_at IS NOT NULL`,
    `DELETE FROM members WHERE role = 'student'`,
  ];

  async function history(organization: string): Promise<void> {
    await addPeople(schema, organization, 'a', 'b', 'c', 'p', 'q');
    for (const sql of HISTORY) await schema.as(organization, sql);
  }

  it('follow every change of a row', async () => {
    await addPeople(schema, school, 'a', 'b', 'c', 'p', 'q');
    for (const sql of HISTORY) {
      await schema.as(school, sql);
      expect(await differences(schema), sql).toEqual([]);
    }
    expect(await counters(schema, school)).toEqual({ 'members:admin': 1, 'members:tutor': 1 });
    expect(await counters(schema, other)).toEqual({});
  });

  it('follow statements that change many rows and organizations, upserts, and rows that move to another organization', async () => {
    for (const organization of [school, other]) await addPeople(schema, organization, 'a', 'b', 'c');
    await schema.all(
      `INSERT INTO members (id, organization_id, user_id, role)
      SELECT gen_random_uuid(), o, md5(o || n)::uuid, 'student' FROM unnest($1::uuid[]) o, unnest('{a,b,c}'::text[]) n`,
      [[school, other]],
    );
    expect([await counters(schema, school), await counters(schema, other)]).toEqual([
      { 'members:student': 3 },
      { 'members:student': 3 },
    ]);
    const upsert = `${member('a', 'tutor')} ON CONFLICT (organization_id, user_id) DO UPDATE SET role = excluded.role`;
    await schema.as(school, upsert);
    expect(await counters(schema, school)).toEqual({ 'members:student': 2, 'members:tutor': 1 });
    await schema.all('UPDATE members SET organization_id = $1 WHERE organization_id = $2', [school, other]);
    expect(await counters(schema, other)).toEqual({});
    expect(await differences(schema)).toEqual([]);
  });

  it('change when the transaction commits, and ignore what was rolled back', async () => {
    await addPeople(schema, school, 'a', 'b', 'c');
    const client = await schema.begin(school);
    await client.query(member('a', 'student'));
    await client.query('SAVEPOINT s');
    await client.query(member('b', 'student'));
    await client.query('ROLLBACK TO SAVEPOINT s');
    await client.query(member('c', 'student'));
    expect(await counters(schema, school)).toEqual({});
    await schema.end(client);
    expect(await counters(schema, school)).toEqual({ 'members:student': 2 });
    const undone = await schema.begin(school);
    await undone.query('DELETE FROM members');
    await schema.end(undone, 'ROLLBACK');
    expect(await counters(schema, school)).toEqual({ 'members:student': 2 });
  });

  it('are read-only for every process of the application', async () => {
    await history(school);
    for (const connectionString of Object.values(schema.urls.processUrls)) {
      const client = new pg.Client({ connectionString });
      await client.connect();
      await client.query(`SELECT set_config('app.organization_id', $1, false)`, [school]);
      for (const write of [
        'UPDATE list_counts SET delta = 0',
        'DELETE FROM list_counts',
        'TRUNCATE list_counts',
        'SELECT recount_lists(current_organization_id())',
      ]) {
        await expect(client.query(write), write).rejects.toMatchObject({ code: '42501' });
      }
      await client.end();
    }
  });

  it('stay exact after TRUNCATE', async () => {
    await history(school);
    const client = await schema.owner.connect();
    try {
      await client.query('BEGIN');
      await client.query('TRUNCATE members, parents CASCADE');
      expect((await client.query(DIFFERENCES)).rows).toEqual([]);
      await client.query('ROLLBACK');
    } finally {
      client.release();
    }
    expect(await differences(schema)).toEqual([]);
  });

  it('are found wrong and repaired if any trigger was missing', async () => {
    const triggers = await schema.all(`SELECT t.tgname AS name, t.tgrelid::regclass::text AS table FROM pg_trigger t
      WHERE t.tgfoid = 'count_in_lists'::regproc AND t.tgname <> 'count_on_truncate'`);
    expect(triggers).toHaveLength(COUNTED.length * 3);
    for (const { name, table } of triggers) {
      const organization = await schema.organization();
      await schema.all(`ALTER TABLE ${table as string} DISABLE TRIGGER ${name as string}`);
      await history(organization);
      await schema.all(`ALTER TABLE ${table as string} ENABLE TRIGGER ${name as string}`);
      const wrong = await schema.as(null, 'SELECT DISTINCT organization_id AS id FROM wrong_list_counts(100)');
      expect(wrong, `${table as string}.${name as string}`).toEqual([{ id: organization }]);
      expect(await recountLists(schema.urls.ownerUrl)).toEqual([organization]);
      expect(await differences(schema)).toEqual([]);
    }
    expect(await recountLists(schema.urls.ownerUrl)).toEqual([]);
  });
});
