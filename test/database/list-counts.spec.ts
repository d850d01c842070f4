import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrate, recountLists, revertLast } from '@app/database';
import { createEmptyDatabase } from '../support/database/database.js';
import { waitsFor } from '../support/database/lock-waits.js';
import { Random } from '../support/data/random.js';
import { ownersPool, SchemaFixture } from '../support/database/schema-fixture.js';

/** The counted lists, counted: apart from the migration's own words, so that a wrong one shows. */
const TRUTH = `
  SELECT organization_id AS o, 'members:' || role AS list, count(*) AS n FROM members GROUP BY 1, 2
  UNION ALL SELECT organization_id, 'tutor_profiles:published', count(*) FROM tutor_profiles WHERE is_published GROUP BY 1
  UNION ALL SELECT organization_id, 'tutor_profiles:unpublished', count(*) FROM tutor_profiles WHERE NOT is_published
    GROUP BY 1
  UNION ALL SELECT organization_id, 'parents:enrolled', count(*) FROM parents WHERE enrolled_at IS NOT NULL GROUP BY 1`;

/** One statement, so one snapshot of counters and rows. */
const DIFFERENCES = `
  SELECT * FROM (SELECT organization_id AS o, list, sum(delta) AS n FROM list_counts GROUP BY 1, 2 HAVING sum(delta) <> 0) c
  FULL JOIN (${TRUTH}) t USING (o, list) WHERE c.n IS DISTINCT FROM t.n`;

const COUNTED = ['members', 'tutor_profiles', 'parents'];
const MOST = 60;

describe('list counts', () => {
  let fixture: SchemaFixture;
  let school: string;
  let other: string;

  beforeAll(async () => {
    fixture = await SchemaFixture.create();
  }, 60_000);

  afterAll(() => fixture.destroy());

  beforeEach(async () => {
    [school, other] = [await fixture.organization(), await fixture.organization()];
  });

  const differences = () => fixture.all(DIFFERENCES);

  async function counters(organization: string): Promise<Record<string, number>> {
    const rows = await fixture.as(
      organization,
      'SELECT list, sum(delta)::int AS n FROM list_counts GROUP BY 1 HAVING sum(delta) <> 0 ORDER BY 1',
    );
    return Object.fromEntries(rows.map(({ list, n }) => [list as string, n as number]));
  }

  /** Rows of every counted kind, and then everything that can become of them, in one statement each. */
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
    await withPeople(organization, 'a', 'b', 'c', 'p', 'q');
    for (const sql of HISTORY) await fixture.as(organization, sql);
  }

  it('follow every change of a row', async () => {
    await withPeople(school, 'a', 'b', 'c', 'p', 'q');
    for (const sql of HISTORY) {
      await fixture.as(school, sql);
      expect(await differences(), sql).toEqual([]);
    }
    expect(await counters(school)).toEqual({ 'members:admin': 1, 'members:tutor': 1 });
    expect(await counters(other)).toEqual({});
  });

  it('follow statements of many rows and organizations, upserts and rows that move', async () => {
    for (const organization of [school, other]) await withPeople(organization, 'a', 'b', 'c');
    await fixture.all(
      `INSERT INTO members (id, organization_id, user_id, role)
      SELECT gen_random_uuid(), o, md5(o || n)::uuid, 'student' FROM unnest($1::uuid[]) o, unnest('{a,b,c}'::text[]) n`,
      [[school, other]],
    );
    expect([await counters(school), await counters(other)]).toEqual([
      { 'members:student': 3 },
      { 'members:student': 3 },
    ]);
    const upsert = `${member('a', 'tutor')} ON CONFLICT (organization_id, user_id) DO UPDATE SET role = excluded.role`;
    await fixture.as(school, upsert);
    expect(await counters(school)).toEqual({ 'members:student': 2, 'members:tutor': 1 });
    await fixture.all('UPDATE members SET organization_id = $1 WHERE organization_id = $2', [school, other]);
    expect(await counters(other)).toEqual({});
    expect(await differences()).toEqual([]);
  });

  it('change with their transaction: not before its commit, and not with what was rolled back', async () => {
    await withPeople(school, 'a', 'b', 'c');
    const client = await fixture.begin(school);
    await client.query(member('a', 'student'));
    await client.query('SAVEPOINT s');
    await client.query(member('b', 'student'));
    await client.query('ROLLBACK TO SAVEPOINT s');
    await client.query(member('c', 'student'));
    expect(await counters(school)).toEqual({});
    await fixture.end(client);
    expect(await counters(school)).toEqual({ 'members:student': 2 });
    const undone = await fixture.begin(school);
    await undone.query('DELETE FROM members');
    await fixture.end(undone, 'ROLLBACK');
    expect(await counters(school)).toEqual({ 'members:student': 2 });
  });

  it('let no writer wait for another', async () => {
    await withPeople(school, 'a', 'b', 'c');
    const open: pg.PoolClient[] = [];
    try {
      for (const name of ['a', 'b', 'c']) {
        const client = await fixture.begin(school);
        open.push(client);
        await client.query(`SET LOCAL lock_timeout = '1s'`);
        await client.query(member(name, 'student'));
        // Another statement of this transaction adds to the row that it has already.
        await client.query(`UPDATE members SET role = 'tutor'`);
      }
    } finally {
      for (const client of open) await fixture.end(client);
    }
    expect(await counters(school)).toEqual({ 'members:tutor': 3 });
    expect(await differences()).toEqual([]);
    // A row for each that wrote at the same time; those that come one after the other share one.
    const slots = () => fixture.as(school, 'SELECT list, count(*)::int AS n FROM list_counts GROUP BY 1 ORDER BY 1');
    const before = await slots();
    await fixture.as(school, `UPDATE members SET role = 'student'`);
    await fixture.as(school, `UPDATE members SET role = 'tutor'`);
    expect(await slots()).toEqual(before);
  });

  it('are for the application to read only', async () => {
    await history(school);
    for (const connectionString of Object.values(fixture.urls.processUrls)) {
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

  it('are exact in every snapshot while many change rows at once', async () => {
    const random = new Random(1);
    const names = Array.from({ length: MOST }, (_, index) => `n${index}`);
    for (const organization of [school, other]) await withPeople(organization, ...names);
    const state = { writing: true };
    const writers = Array.from({ length: 8 }, (_, index) => writer(new Random(random.integer(1e9) + index), names));
    const done = Promise.all(writers).finally(() => {
      state.writing = false;
    });
    let snapshots = 0;
    while (state.writing) {
      expect(await differences()).toEqual([]);
      snapshots++;
    }
    const committed = (await done).reduce((sum, count) => sum + count, 0);
    expect(await differences()).toEqual([]);
    expect(committed).toBeGreaterThan(200);
    expect(snapshots).toBeGreaterThan(20);
    const [most] = await fixture.all(
      'SELECT max(n)::int AS n FROM (SELECT count(*) AS n FROM list_counts GROUP BY organization_id, list) c',
    );
    expect(most!.n).toBeLessThanOrEqual(8);
  }, 60_000);

  /** @returns how many transactions it committed; deadlocks over the rows themselves are rolled back */
  async function writer(random: Random, names: string[]): Promise<number> {
    let committed = 0;
    for (let turn = 0; turn < 60; turn++) {
      const client = await fixture.begin(random.pick([school, other]));
      try {
        for (let step = random.integer(4); step >= 0; step--) {
          const saved = random.chance(0.3);
          if (saved) await client.query('SAVEPOINT s');
          await client.query(randomWrite(random, names));
          if (saved && random.chance(0.5)) await client.query('ROLLBACK TO SAVEPOINT s');
        }
        const keep = random.chance(0.8);
        await fixture.end(client, keep ? 'COMMIT' : 'ROLLBACK');
        if (keep) committed++;
      } catch (error) {
        await fixture.end(client, 'ROLLBACK');
        // Foreign keys: a profile of a member who was deleted meanwhile.
        if (!['40P01', '23503'].includes((error as { code: string }).code)) throw error;
      }
    }
    return committed;
  }

  it('are exact after TRUNCATE', async () => {
    await history(school);
    const client = await fixture.owner.connect();
    try {
      await client.query('BEGIN');
      await client.query('TRUNCATE members, parents CASCADE');
      expect((await client.query(DIFFERENCES)).rows).toEqual([]);
      await client.query('ROLLBACK');
    } finally {
      client.release();
    }
    expect(await differences()).toEqual([]);
  });

  it('would be found wrong, and put right, if any trigger were missing', async () => {
    const triggers = await fixture.all(`SELECT t.tgname AS name, t.tgrelid::regclass::text AS table FROM pg_trigger t
      WHERE t.tgfoid = 'count_in_lists'::regproc AND t.tgname <> 'count_on_truncate'`);
    expect(triggers).toHaveLength(COUNTED.length * 3);
    for (const { name, table } of triggers) {
      const organization = await fixture.organization();
      await fixture.all(`ALTER TABLE ${table as string} DISABLE TRIGGER ${name as string}`);
      await history(organization);
      await fixture.all(`ALTER TABLE ${table as string} ENABLE TRIGGER ${name as string}`);
      const wrong = await fixture.as(null, 'SELECT DISTINCT organization_id AS id FROM wrong_list_counts(100)');
      expect(wrong, `${table as string}.${name as string}`).toEqual([{ id: organization }]);
      expect(await recountLists(fixture.urls.ownerUrl)).toEqual([organization]);
      expect(await differences()).toEqual([]);
    }
    expect(await recountLists(fixture.urls.ownerUrl)).toEqual([]);
  }, 60_000);

  it('count what was there before them', async () => {
    const database = await createEmptyDatabase();
    const owner = ownersPool(database.ownerUrl);
    const urls = database.processUrls;
    try {
      await migrate(database.ownerUrl, urls);
      let reverted: string | null;
      do reverted = await revertLast(database.ownerUrl, urls);
      while (!reverted!.startsWith('ListCounts'));
      await owner.query(`SELECT set_config('app.organization_id', gen_random_uuid()::text, false)`);
      await owner.query(`INSERT INTO organizations (id, name, slug) VALUES (${SELF}, 'School', 'school')`);
      for (const name of ['a', 'b', 'c', 'p', 'q']) {
        await owner.query(`INSERT INTO users (id, email, email_normalized, first_name, last_name)
          VALUES (${person(name)}, '${name}', '${name}', 'Ada', 'Lovelace')`);
      }
      for (const sql of HISTORY) await owner.query(sql);
      await migrate(database.ownerUrl, urls);
      expect((await owner.query('SELECT FROM list_counts')).rowCount).toBe(2);
      expect((await owner.query(DIFFERENCES)).rows).toEqual([]);
    } finally {
      await owner.end();
      await database.drop();
    }
  }, 60_000);

  it('are recounted exactly while others write', async () => {
    await withPeople(school, 'a', 'b', 'c', 'd');
    await fixture.as(school, member('a', 'student'));
    await fixture.all('UPDATE list_counts SET delta = 7 WHERE organization_id = $1', [school]);
    const before = await fixture.begin(school);
    await before.query(member('b', 'student'));
    const recounted = recountLists(fixture.urls.ownerUrl);
    await lockWaited(1);
    const after = await fixture.begin(school);
    const inserted = after.query(member('c', 'student'));
    await lockWaited(2);
    await fixture.end(before);
    expect(await recounted).toEqual([school]);
    await inserted;
    await fixture.end(after);
    expect(await counters(school)).toEqual({ 'members:student': 3 });
    expect(await differences()).toEqual([]);
  });

  async function lockWaited(count: number): Promise<void> {
    await expect.poll(() => fixture.all(waitsFor('list_counts'))).toHaveLength(count);
  }

  /** Logins whose ids are hashes of their organization and name, so that statements can say who is meant. */
  async function withPeople(organization: string, ...names: string[]): Promise<void> {
    await fixture.as(
      organization,
      `INSERT INTO users (id, email, email_normalized, first_name, last_name)
       SELECT md5($1 || n)::uuid, n || '@' || $1, n || '@' || $1, 'Ada', n FROM unnest($2::text[]) n ON CONFLICT DO NOTHING`,
      [organization, names],
    );
  }
});

const SELF = 'current_organization_id()';
const person = (name: string): string => `md5(${SELF} || '${name}')::uuid`;

function member(name: string, role: string): string {
  return `INSERT INTO members (id, organization_id, user_id, role) VALUES (gen_random_uuid(), ${SELF}, ${person(name)}, '${role}')`;
}

function profile(name: string, published: boolean): string {
  return `INSERT INTO tutor_profiles (organization_id, user_id, is_published) VALUES (${SELF}, ${person(name)}, ${published})`;
}

function parent(name: string, enrolled: boolean): string {
  return `INSERT INTO parents (organization_id, user_id, enrolled_at) VALUES (${SELF}, ${person(name)}, ${enrolled ? 'now()' : 'NULL'})`;
}

/** Anything that may happen to a few people: provisioning, roles, archiving, profiles, links, departures. */
function randomWrite(random: Random, names: string[]): string {
  const name = random.pick(names);
  const some = `user_id IN (SELECT md5(${SELF} || 'n' || n)::uuid FROM generate_series(${random.integer(MOST)}, ${random.integer(MOST)}) n)`;
  const one = `user_id = ${person(name)}`;
  const role = random.pick(['owner', 'admin', 'tutor', 'student']);
  return random.pick([
    `${member(name, role)} ON CONFLICT (organization_id, user_id) DO UPDATE SET role = excluded.role, status = 'accepted'`,
    `INSERT INTO members (id, organization_id, user_id, role)
       SELECT gen_random_uuid(), ${SELF}, id, '${role}' FROM users WHERE id = ${person(name)} ON CONFLICT DO NOTHING`,
    `UPDATE members SET role = '${role}' WHERE ${some}`,
    `UPDATE members SET status = 'archived', archived_at = now() WHERE ${one}`,
    `DELETE FROM members WHERE ${one} AND NOT EXISTS (SELECT FROM tutor_profiles t WHERE t.user_id = members.user_id)`,
    `INSERT INTO tutor_profiles (organization_id, user_id, is_published)
       SELECT organization_id, user_id, ${random.chance(0.5)} FROM members WHERE ${some} ON CONFLICT DO NOTHING`,
    `UPDATE tutor_profiles SET is_published = NOT is_published WHERE ${some}`,
    `DELETE FROM tutor_profiles WHERE ${one}`,
    `${parent(name, random.chance(0.5))} ON CONFLICT DO NOTHING`,
    `UPDATE parents SET enrolled_at = CASE WHEN enrolled_at IS NULL THEN now() END WHERE ${some}`,
    `DELETE FROM parents WHERE ${one}`,
  ]);
}
