import type { Random } from '../support/random.js';
import type { World } from './world.js';

/** The counted lists, counted: apart from the migration's own words, so that a wrong one shows. */
const TRUTH = `
  SELECT organization_id AS o, 'members:' || role AS list, count(*) AS n FROM members GROUP BY 1, 2
  UNION ALL SELECT organization_id, 'tutor_profiles:published', count(*) FROM tutor_profiles WHERE is_published GROUP BY 1
  UNION ALL SELECT organization_id, 'tutor_profiles:unpublished', count(*) FROM tutor_profiles WHERE NOT is_published
    GROUP BY 1
  UNION ALL SELECT organization_id, 'parents:enrolled', count(*) FROM parents WHERE enrolled_at IS NOT NULL GROUP BY 1`;

/** One statement, so one snapshot of counters and rows. */
export const WRONG_COUNTS = `
  SELECT * FROM (SELECT organization_id AS o, list, sum(delta) AS n FROM list_counts GROUP BY 1, 2 HAVING sum(delta) <> 0) c
  FULL JOIN (${TRUTH}) t USING (o, list) WHERE c.n IS DISTINCT FROM t.n`;

/** The logins that an organization sees, against the rows that show them; in one snapshot too. */
export const WRONG_LOGINS = `
  SELECT * FROM organization_logins l FULL JOIN (
    SELECT organization_id, user_id, 'members' AS source, 1 AS shown FROM members WHERE accepted_at IS NOT NULL
    UNION ALL SELECT organization_id, user_id, 'parents', 1 FROM parents WHERE accepted_at IS NOT NULL) t
  USING (organization_id, user_id, source) WHERE l.source IS NULL OR t.shown IS NULL`;

/** People who change at random are called n0, n1, …: this many. */
export const MOST = 60;

export const SELF = 'current_organization_id()';
export const person = (name: string): string => `md5(${SELF} || '${name}')::uuid`;

export function member(name: string, role: string): string {
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
    `UPDATE members SET status = 'pending' WHERE ${one}`,
    `UPDATE parents SET status = '${random.pick(['pending', 'accepted', 'archived'])}' WHERE ${some}`,
  ]);
}

/** Rows of every counted kind, and then everything that can become of them, in one statement each. */
export const HISTORY = [
  member('a', 'student'),
  member('b', 'tutor'),
  member('c', 'owner'),
  `UPDATE members SET role = 'admin' WHERE role = 'owner'`,
  profile('b', true),
  'UPDATE tutor_profiles SET is_published = false',
  'DELETE FROM tutor_profiles',
  parent('p', true),
  parent('q', true),
  parent('a', false),
  `UPDATE parents SET enrolled_at = NULL WHERE user_id = ${person('p')}`,
  `UPDATE parents SET user_id = ${person('b')} WHERE user_id = ${person('p')}`,
  `DELETE FROM parents WHERE enrolled_at IS NOT NULL`,
  `UPDATE members SET status = 'pending' WHERE role = 'tutor'`,
  `UPDATE parents SET status = 'pending' WHERE user_id = ${person('b')}`,
  `UPDATE members SET user_id = ${person('p')} WHERE role = 'student'`,
  `DELETE FROM members WHERE role = 'student'`,
];

/** Everything in HISTORY, in an organization of its own people. */
export async function history(world: World, organization: string): Promise<void> {
  await withPeople(world, organization, 'a', 'b', 'c', 'p', 'q');
  for (const sql of HISTORY) await world.as(organization, sql);
}

/** Logins whose ids are hashes of their organization and name, so that statements can say who is meant. */
export async function withPeople(world: World, organization: string, ...names: string[]): Promise<void> {
  await world.as(
    organization,
    `INSERT INTO users (id, email, email_normalized, first_name, last_name)
     SELECT md5($1 || n)::uuid, n || '@' || $1, n || '@' || $1, 'Ada', n FROM unnest($2::text[]) n ON CONFLICT DO NOTHING`,
    [organization, names],
  );
}

/** @returns how many transactions it committed; deadlocks over the rows themselves are rolled back */
export async function writeAtRandom(world: World, schools: string[], random: Random, names: string[]): Promise<number> {
  let committed = 0;
  for (let turn = 0; turn < 60; turn++) {
    const client = await world.begin(random.pick(schools));
    try {
      for (let step = random.integer(4); step >= 0; step--) {
        const saved = random.chance(0.3);
        if (saved) await client.query('SAVEPOINT s');
        await client.query(randomWrite(random, names));
        if (saved && random.chance(0.5)) await client.query('ROLLBACK TO SAVEPOINT s');
      }
      const keep = random.chance(0.8);
      await world.end(client, keep ? 'COMMIT' : 'ROLLBACK');
      if (keep) committed++;
    } catch (error) {
      await world.end(client, 'ROLLBACK');
      // Foreign keys: a profile of a member who was deleted meanwhile.
      if (!['40P01', '23503'].includes((error as { code: string }).code)) throw error;
    }
  }
  return committed;
}
