import type pg from 'pg';
import { recountLists } from '@app/database';
import { addPeople, counters, differences, member, parent, person, SELF } from '../support/database/list-counts.js';
import { waitsFor } from '../support/database/lock-waits.js';
import { Random } from '../support/data/random.js';
import { SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

const MOST = 60;

const schema = await fixture(SchemaFixture.create());

describe('list counts under concurrent writes', () => {
  let school: string;
  let other: string;

  beforeEach(async () => {
    [school, other] = [await schema.organization(), await schema.organization()];
  });

  it('do not make writers wait for each other', async () => {
    await addPeople(schema, school, 'a', 'b', 'c');
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
    expect(await counters(schema, school)).toEqual({ 'members:tutor': 3 });
    expect(await differences(schema)).toEqual([]);
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
    for (const organization of [school, other]) await addPeople(schema, organization, ...names);
    const state = { writing: true, snapshots: 0 };
    // They go on until enough snapshots were taken meanwhile, which takes longer than their turns on some machines.
    const more = (turn: number) => turn < 60 || (state.snapshots <= 20 && turn < 600);
    const writers = Array.from({ length: 8 }, (_, index) =>
      writer(new Random(random.integer(1e9) + index), names, more),
    );
    const done = Promise.all(writers).finally(() => {
      state.writing = false;
    });
    while (state.writing) {
      expect(await differences(schema)).toEqual([]);
      state.snapshots++;
    }
    const committed = (await done).reduce((sum, count) => sum + count, 0);
    expect(await differences(schema)).toEqual([]);
    expect(committed).toBeGreaterThan(200);
    expect(state.snapshots).toBeGreaterThan(20);
    const [most] = await schema.all(
      'SELECT max(n)::int AS n FROM (SELECT count(*) AS n FROM list_counts GROUP BY organization_id, list) c',
    );
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
    await addPeople(schema, school, 'a', 'b', 'c', 'd');
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
    expect(await counters(schema, school)).toEqual({ 'members:student': 3 });
    expect(await differences(schema)).toEqual([]);
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
    `DELETE FROM tutor_profiles WHERE ${one}`,
    `${parent(name, random.chance(0.5))} ON CONFLICT DO NOTHING`,
    `UPDATE parents SET enrolled_at = CASE WHEN enrolled_at IS NULL THEN now() END WHERE ${some}`,
    `DELETE FROM parents WHERE ${one}`,
  ]);
}
