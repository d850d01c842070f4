import type pg from 'pg';
import { recountLists } from '@app/database';
import { waitsFor } from '../support/database/lock-waits.js';
import { Random } from '../support/data/random.js';
import { SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

const MOST = 60;

let school: string;
let other: string;

const schema = await fixture(SchemaFixture.create());

beforeEach(async () => {
  [school, other] = [await schema.organization(), await schema.organization()];
});

/** Counts the lists independently of the migration's SQL, to reveal mistakes in it. */
const TRUTH = `
  SELECT organization_id AS o, 'members:' || role || ':' || status AS list, count(*) AS n FROM members GROUP BY 1, 2
  UNION ALL SELECT organization_id, 'tutor_profiles:published', count(*) FROM tutor_profiles WHERE is_published GROUP BY 1
  UNION ALL SELECT organization_id, 'tutor_profiles:unpublished', count(*) FROM tutor_profiles WHERE NOT is_published
    GROUP BY 1
  UNION ALL SELECT organization_id, 'parents:enrolled:' || status, count(*) FROM parents WHERE enrolled_at IS NOT NULL GROUP BY 1, 2
  UNION ALL SELECT organization_id, 'members:teaching:' || coalesce(teaching_mode, 'unsaid'), count(*)
    FROM members JOIN tutor_profiles USING (organization_id, user_id) WHERE role <> 'student' AND status = 'accepted' GROUP BY 1, 2
  UNION ALL SELECT organization_id, 'invoices:owed', sum(amount_due_cents) - sum(amount_paid_cents) FROM invoices WHERE status = 'open' GROUP BY 1
  UNION ALL SELECT organization_id, 'mileage_trips:logged', count(*) FROM mileage_trips WHERE status = 'logged' GROUP BY 1
  UNION ALL SELECT organization_id, 'expense_claims:logged', count(*) FROM expense_claims WHERE status = 'logged' GROUP BY 1`;

/** Finds wrong counters. One statement, so that counters and rows come from one snapshot. */
const DIFFERENCES = `
  SELECT * FROM (SELECT organization_id AS o, list, sum(delta) AS n FROM list_counts GROUP BY 1, 2 HAVING sum(delta) <> 0) c
  FULL JOIN (${TRUTH}) t USING (o, list) WHERE c.n IS DISTINCT FROM t.n`;

const SELF = 'current_organization_id()';

/** SQL for the id of the login with this name: a hash of its organization and name. */
const person = (name: string): string => `md5(${SELF} || '${name}')::uuid`;

function member(name: string, role: string): string {
  return `INSERT INTO members (id, organization_id, user_id, role) VALUES (gen_random_uuid(), ${SELF}, ${person(name)}, '${role}')`;
}

function profile(name: string, published: boolean): string {
  return `INSERT INTO tutor_profiles (organization_id, user_id, is_published) VALUES (${SELF}, ${person(name)}, ${published})`;
}

function invoice(name: string, due: number): string {
  return `INSERT INTO invoices (id, organization_id, invoice_number, student_id, status, amount_due_cents, currency)
    VALUES (gen_random_uuid(), ${SELF}, gen_random_uuid(), ${person(name)}, 'open', ${due}, 'AUD')`;
}

function claim(table: 'mileage_trips' | 'expense_claims', day: string, value: string, name: string): string {
  return `INSERT INTO ${table} (id, organization_id, tutor_id, ${day}, ${value}) VALUES (gen_random_uuid(), ${SELF}, ${person(name)}, now(), 5)`;
}

function parent(name: string, enrolled: boolean): string {
  return `INSERT INTO parents (organization_id, user_id, enrolled_at) VALUES (${SELF}, ${person(name)}, ${enrolled ? 'now()' : 'NULL'})`;
}

const differences = () => schema.all(DIFFERENCES);

/** An organization's nonzero counters. */
async function counters(organization: string): Promise<Record<string, number>> {
  const rows = await schema.as(organization, 'SELECT list, sum(delta)::int AS n FROM list_counts GROUP BY 1 HAVING sum(delta) <> 0 ORDER BY 1');
  return Object.fromEntries(rows.map(({ list, n }) => [list as string, n as number]));
}

/** Adds logins whose ids {@link person} computes. */
async function addPeople(organization: string, ...names: string[]): Promise<void> {
  await schema.as(
    organization,
    `INSERT INTO users (id, email, email_normalized, first_name, last_name)
     SELECT md5($1 || n)::uuid, n || '@' || $1, n || '@' || $1, 'Ada', n FROM unnest($2::text[]) n ON CONFLICT DO NOTHING`,
    [organization, names],
  );
}

/** Tables whose triggers maintain the counters. */
const COUNTED = ['members', 'tutor_profiles', 'parents', 'invoices', 'mileage_trips', 'expense_claims'];

describe('list counts', () => {
  /** Inserts rows of every counted kind and changes them in every way, one statement each. */
  const HISTORY = [
    member('a', 'student'),
    member('b', 'tutor'),
    member('c', 'owner'),
    `UPDATE members SET role = 'admin' WHERE role = 'owner'`,
    `UPDATE members SET status = 'archived' WHERE role = 'tutor'`,
    `UPDATE members SET status = 'accepted' WHERE role = 'tutor'`,
    profile('b', true),
    'UPDATE tutor_profiles SET is_published = false',
    `UPDATE tutor_profiles SET teaching_mode = 'both'`,
    'DELETE FROM tutor_profiles',
    invoice('a', 500),
    'UPDATE invoices SET amount_paid_cents = 200',
    'DELETE FROM invoices',
    claim('mileage_trips', 'trip_date', 'distance_km', 'b'),
    claim('mileage_trips', 'trip_date', 'distance_km', 'c'),
    `UPDATE mileage_trips SET status = 'approved', amount_cents = 1 WHERE tutor_id = ${person('c')}`,
    'DELETE FROM mileage_trips',
    claim('expense_claims', 'expense_date', 'amount_cents', 'b'),
    claim('expense_claims', 'expense_date', 'amount_cents', 'c'),
    `UPDATE expense_claims SET status = 'rejected' WHERE tutor_id = ${person('c')}`,
    'DELETE FROM expense_claims',
    parent('p', true),
    parent('q', true),
    `UPDATE parents SET enrolled_at = NULL WHERE user_id = ${person('p')}`,
    `DELETE FROM parents WHERE enrolled_at IS NOT NULL`,
    `DELETE FROM members WHERE role = 'student'`,
  ];

  async function history(organization: string): Promise<void> {
    await addPeople(organization, 'a', 'b', 'c', 'p', 'q');
    for (const sql of HISTORY) await schema.as(organization, sql);
  }

  it('follow every change of a row', async () => {
    await addPeople(school, 'a', 'b', 'c', 'p', 'q');
    for (const sql of HISTORY) {
      await schema.as(school, sql);
      expect(await differences(), sql).toEqual([]);
    }
    expect(await counters(school)).toEqual({ 'members:admin:accepted': 1, 'members:tutor:accepted': 1 });
    expect(await counters(other)).toEqual({});
  });

  it('follow statements that change many rows and organizations, upserts, and rows that move to another organization', async () => {
    for (const organization of [school, other]) await addPeople(organization, 'a', 'b', 'c');
    await schema.all(
      `INSERT INTO members (id, organization_id, user_id, role)
      SELECT gen_random_uuid(), o, md5(o || n)::uuid, 'student' FROM unnest($1::uuid[]) o, unnest('{a,b,c}'::text[]) n`,
      [[school, other]],
    );
    expect([await counters(school), await counters(other)]).toEqual([{ 'members:student:accepted': 3 }, { 'members:student:accepted': 3 }]);
    const upsert = `${member('a', 'tutor')} ON CONFLICT (organization_id, user_id) DO UPDATE SET role = excluded.role`;
    await schema.as(school, upsert);
    expect(await counters(school)).toEqual({ 'members:student:accepted': 2, 'members:tutor:accepted': 1 });
    await schema.all('UPDATE members SET organization_id = $1 WHERE organization_id = $2', [school, other]);
    expect(await counters(other)).toEqual({});
    expect(await differences()).toEqual([]);
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
    expect(await differences()).toEqual([]);
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
      expect(await differences()).toEqual([]);
    }
    expect(await recountLists(schema.urls.ownerUrl)).toEqual([]);
  });
});

describe('list counts under concurrent writes', () => {
  it('do not make writers wait for each other', async () => {
    await addPeople(school, 'a', 'b', 'c');
    const open: pg.PoolClient[] = [];
    try {
      for (const name of ['a', 'b', 'c']) {
        const client = await schema.begin(school);
        open.push(client);
        await client.query(`SET LOCAL lock_timeout = '1s'`);
        await client.query(member(name, 'student'));
        // A second statement adds to the row that the transaction already has.
        await client.query(`UPDATE members SET role = 'tutor'`);
      }
    } finally {
      for (const client of open) await schema.end(client);
    }
    expect(await counters(school)).toEqual({ 'members:tutor:accepted': 3 });
    expect(await differences()).toEqual([]);
    // Concurrent writers each add a row; later ones reuse it.
    const slots = () => schema.as(school, 'SELECT list, count(*)::int AS n FROM list_counts GROUP BY 1 ORDER BY 1');
    const before = await slots();
    await schema.as(school, `UPDATE members SET role = 'student'`);
    await schema.as(school, `UPDATE members SET role = 'tutor'`);
    expect(await slots()).toEqual(before);
  });

  it('are exact in every snapshot while many writers change rows', async () => {
    const random = new Random(1);
    const names = Array.from({ length: MOST }, (_, index) => `n${index}`);
    for (const organization of [school, other]) await addPeople(organization, ...names);
    const state = { writing: true, snapshots: 0 };
    // They go on until enough snapshots were taken meanwhile, which takes longer than their turns on some machines.
    const more = (turn: number) => turn < 60 || (state.snapshots <= 20 && turn < 600);
    const writers = Array.from({ length: 8 }, (_, index) => writer(new Random(random.integer(1e9) + index), names, more));
    const done = Promise.all(writers).finally(() => {
      state.writing = false;
    });
    while (state.writing) {
      expect(await differences()).toEqual([]);
      state.snapshots++;
    }
    const committed = (await done).reduce((sum, count) => sum + count, 0);
    expect(await differences()).toEqual([]);
    expect(committed).toBeGreaterThan(200);
    expect(state.snapshots).toBeGreaterThan(20);
    const [most] = await schema.all('SELECT max(n)::int AS n FROM (SELECT count(*) AS n FROM list_counts GROUP BY organization_id, list) c');
    expect(most!.n).toBeLessThanOrEqual(8);
  });

  /** Rolls back on a deadlock. @returns the number of committed transactions */
  async function writer(random: Random, names: string[], more: (turn: number) => boolean): Promise<number> {
    let committed = 0;
    for (let turn = 0; more(turn); turn++) {
      const client = await schema.begin(random.pick([school, other]));
      try {
        for (let step = random.integer(4); step >= 0; step--) {
          const saved = random.chance(0.3);
          if (saved) await client.query('SAVEPOINT s');
          await client.query(randomWrite(random, names));
          if (saved && random.chance(0.5)) await client.query('ROLLBACK TO SAVEPOINT s');
        }
        const keep = random.chance(0.8);
        await schema.end(client, keep ? 'COMMIT' : 'ROLLBACK');
        if (keep) committed++;
      } catch (error) {
        await schema.end(client, 'ROLLBACK');
        // 23503: the profile of a member who has been deleted in the meantime.
        if (!['40P01', '23503'].includes((error as { code: string }).code)) throw error;
      }
    }
    return committed;
  }

  it('are exact after a recount while others write', async () => {
    await addPeople(school, 'a', 'b', 'c', 'd');
    await schema.as(school, member('a', 'student'));
    await schema.all('UPDATE list_counts SET delta = 7 WHERE organization_id = $1', [school]);
    const before = await schema.begin(school);
    await before.query(member('b', 'student'));
    const recounted = recountLists(schema.urls.ownerUrl);
    await lockWaited(1);
    const after = await schema.begin(school);
    const inserted = after.query(member('c', 'student'));
    await lockWaited(2);
    await schema.end(before);
    expect(await recounted).toEqual([school]);
    await inserted;
    await schema.end(after);
    expect(await counters(school)).toEqual({ 'members:student:accepted': 3 });
    expect(await differences()).toEqual([]);
  });

  async function lockWaited(count: number): Promise<void> {
    await expect.poll(() => schema.all(waitsFor('list_counts'))).toHaveLength(count);
  }
});

/** A random change to a few people: provisioning, role, archiving, profile, enrolment or deletion. */
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
    `UPDATE tutor_profiles SET teaching_mode = '${random.pick(['online', 'both'])}' WHERE ${some}`,
    `DELETE FROM tutor_profiles WHERE ${one}`,
    `${parent(name, random.chance(0.5))} ON CONFLICT DO NOTHING`,
    `UPDATE parents SET enrolled_at = CASE WHEN enrolled_at IS NULL THEN now() END WHERE ${some}`,
    `DELETE FROM parents WHERE ${one}`,
  ]);
}
