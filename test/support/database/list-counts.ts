import type { SchemaFixture } from './schema-fixture.js';

/** Counts the lists independently of the migration's SQL, to reveal mistakes in it. */
const TRUTH = `
  SELECT organization_id AS o, 'members:' || role AS list, count(*) AS n FROM members GROUP BY 1, 2
  UNION ALL SELECT organization_id, 'tutor_profiles:published', count(*) FROM tutor_profiles WHERE is_published GROUP BY 1
  UNION ALL SELECT organization_id, 'tutor_profiles:unpublished', count(*) FROM tutor_profiles WHERE NOT is_published
    GROUP BY 1
  UNION ALL SELECT organization_id, 'parents:enrolled', count(*) FROM parents WHERE enrolled_at IS NOT NULL GROUP BY 1`;

/** Finds wrong counters. One statement, so that counters and rows come from one snapshot. */
export const DIFFERENCES = `
  SELECT * FROM (SELECT organization_id AS o, list, sum(delta) AS n FROM list_counts GROUP BY 1, 2 HAVING sum(delta) <> 0) c
  FULL JOIN (${TRUTH}) t USING (o, list) WHERE c.n IS DISTINCT FROM t.n`;

export const SELF = 'current_organization_id()';

/** SQL for the id of the login with this name: a hash of its organization and name. */
export const person = (name: string): string => `md5(${SELF} || '${name}')::uuid`;

export function member(name: string, role: string): string {
  return `INSERT INTO members (id, organization_id, user_id, role) VALUES (gen_random_uuid(), ${SELF}, ${person(name)}, '${role}')`;
}

export function profile(name: string, published: boolean): string {
  return `INSERT INTO tutor_profiles (organization_id, user_id, is_published) VALUES (${SELF}, ${person(name)}, ${published})`;
}

export function parent(name: string, enrolled: boolean): string {
  return `INSERT INTO parents (organization_id, user_id, enrolled_at) VALUES (${SELF}, ${person(name)}, ${enrolled ? 'now()' : 'NULL'})`;
}

export const differences = (fixture: SchemaFixture) => fixture.all(DIFFERENCES);

/** An organization's nonzero counters. */
export async function counters(fixture: SchemaFixture, organization: string): Promise<Record<string, number>> {
  const rows = await fixture.as(
    organization,
    'SELECT list, sum(delta)::int AS n FROM list_counts GROUP BY 1 HAVING sum(delta) <> 0 ORDER BY 1',
  );
  return Object.fromEntries(rows.map(({ list, n }) => [list as string, n as number]));
}

/** Adds logins whose ids {@link person} computes. */
export async function addPeople(fixture: SchemaFixture, organization: string, ...names: string[]): Promise<void> {
  await fixture.as(
    organization,
    `INSERT INTO users (id, email, email_normalized, first_name, last_name)
     SELECT md5($1 || n)::uuid, n || '@' || $1, n || '@' || $1, 'Ada', n FROM unnest($2::text[]) n ON CONFLICT DO NOTHING`,
    [organization, names],
  );
}
