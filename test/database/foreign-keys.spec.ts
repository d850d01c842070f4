import { randomUUID } from 'node:crypto';
import { homeworkRow, type Row, SchemaFixture, sessionRow } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

const DERIVED = 'its organization is derived, and may be none: a trigger reads it from this row';
const PEOPLES = 'the row belongs to people, not to an organization: who sees it is derived';
const COPY = 'a trigger writes it for each organization that sees the row';
const CALLER = 'it is who calls, found together with the organization';
const PERSON = 'this row is what makes the person one of the organization';
const GROUP = 'the organization of a group is derived, and changes with other organizations: require_seen_group compares it';
const LOOSE = 'the person may have left, or belong to another organization';

/** References between rows of organizations, or to logins, that do not include the organization. */
const WITHOUT_ORGANIZATION: Record<string, string> = {
  'api_keys.created_by': CALLER,
  'audit_log.user_id': CALLER,
  'calendar_feeds.user_id': 'a member or a parent: the address ends with whatever they were',
  'conversation_participants.conversation_id': PEOPLES,
  'conversation_participants.user_id': PEOPLES,
  'conversations.classroom_id': PEOPLES,
  'homework.assigned_by': LOOSE,
  'homework.group_id': GROUP,
  'homework.student_id': LOOSE,
  'files.group_id': GROUP,
  'inbox_messages.from_user_id': LOOSE,
  'erasures.person_id': LOOSE,
  'holds.user_id': LOOSE,
  'invites.created_by': CALLER,
  'invites.user_id': 'the person is not yet of the organization',
  'joins.user_id': PERSON,
  'lesson_plans.group_id': GROUP,
  'members.user_id': PERSON,
  'messages.conversation_id': PEOPLES,
  'messages.sender_id': PEOPLES,
  'organization_conversations.conversation_id': COPY,
  'organization_results.result_id': COPY,
  'parents.user_id': PERSON,
  'results.homework_assignment_id': PEOPLES,
  'results.student_id': PEOPLES,
  'session_feedback.reviewer_id': LOOSE,
  'session_feedback.tutor_id': LOOSE,
  'session_students.student_id': COPY,
  'session_series.group_id': GROUP,
  'sessions.group_id': GROUP,
  'student_group_members.group_id': 'it has the organization of its group, which is derived and may be none',
  'student_group_members.user_id': LOOSE,
  'student_groups.tutor_id': DERIVED,
  'webhook_endpoints.created_by': CALLER,
  'exports.created_by': CALLER,
  'exports.confirmed_by': CALLER,
};

const SECRET = 'a hash: whoever has the secret does not say whose it is';

/** Unique indexes, other than those of ids, of tables with an organization that do not begin with it. */
const UNIQUE_EVERYWHERE: Record<string, string> = {
  'api_key_handovers (api_key_id)': 'a key is handed over once: it is the id of another table',
  'api_keys (key_hash)': SECRET,
  'blog_posts (brand, slug)': 'of posts of the platform alone',
  'calendar_feeds (token_hash)': SECRET,
  'event_changes (seq)': 'the order in which the platform numbers them',
  'events (((number)::double precision))': 'the platform numbers them',
  'invites (secret_hash)': SECRET,
  'mail_links (token)': SECRET,
  'rebuild_hooks (target)': 'the organization, or the brand of the platform, is its name',
};

/** Tables of organizations whose rows may exist without an existing organization. */
const WITHOUT_OWNER: Record<string, string> = {
  conversation_participants: PEOPLES,
  conversations: PEOPLES,
  event_changes: 'a foreign key would double what a row costs that number_events deletes within a second',
  request_log: 'log_requests takes the organization from the key, and a foreign key would double what a row costs',
  results: PEOPLES,
  student_group_members: 'it has the organization of its group',
};

const START = '2026-03-02T09:00:00Z';

const schema = await fixture(SchemaFixture.create());

/** Tables with a policy for the organization of the transaction. */
const TENANT_TABLES = `
  SELECT c.oid, c.relname AS name FROM pg_class c JOIN pg_policy p ON p.polrelid = c.oid AND p.polname = 'tenant'
  WHERE c.relnamespace = 'public'::regnamespace AND c.relname <> 'organizations'`;

/** Foreign keys, with the columns other than the organization's, and whether these may be null. */
const FOREIGN_KEYS = `
  SELECT k.conrelid AS "from", k.confrelid AS target, array_agg(a.attname) FILTER (WHERE NOT owner) AS columns,
    bool_or(owner) AS owned, bool_or(owner AND a.attname = 'organization_id') AS pins,
    bool_or(NOT owner AND NOT a.attnotnull) AS optional
  FROM pg_constraint k, unnest(k.conkey, k.confkey) c (own, theirs)
  JOIN LATERAL (SELECT * FROM pg_attribute WHERE attrelid = k.conrelid AND attnum = c.own) a ON true
  JOIN LATERAL (SELECT attname = 'organization_id' OR k.confrelid = 'organizations'::regclass AS owner
    FROM pg_attribute WHERE attrelid = k.confrelid AND attnum = c.theirs) t ON true
  WHERE k.contype = 'f' GROUP BY k.oid, k.conrelid, k.confrelid`;

/** Unique indexes of tables with an organization that do not begin with it, but that of id. */
const UNIQUES = `
  SELECT c.relname || ' (' || (SELECT string_agg(pg_get_indexdef(indexrelid, n, false), ', ' ORDER BY n)
    FROM generate_series(1, indnkeyatts) n) || ')' AS name
  FROM pg_index JOIN pg_class c ON c.oid = indrelid
  JOIN pg_attribute o ON o.attrelid = indrelid AND o.attname = 'organization_id'
  WHERE indisunique AND c.relnamespace = 'public'::regnamespace AND indkey[0] <> o.attnum
    AND NOT (indisprimary AND pg_get_indexdef(indexrelid, 1, false) = 'id') ORDER BY 1`;

const namesOf = async (sql: string): Promise<string[]> => (await schema.all(sql)).map(({ name }) => String(name));

const unowned = () =>
  namesOf(`WITH tenant AS (${TENANT_TABLES}), keys AS (${FOREIGN_KEYS})
    SELECT t.name || '.' || array_to_string(columns, ', ') AS name
    FROM keys JOIN tenant t ON t.oid = "from" JOIN tenant u ON u.oid = target WHERE NOT owned ORDER BY 1`);

const orphans = () =>
  namesOf(`WITH tenant AS (${TENANT_TABLES}), keys AS (${FOREIGN_KEYS})
    SELECT name FROM tenant WHERE name <> 'users' AND NOT EXISTS (
      SELECT FROM keys WHERE "from" = tenant.oid AND pins AND optional IS NOT TRUE) ORDER BY 1`);

/** What to do about findings that no exception explains, and about exceptions that explain nothing. */
function complaints(found: string[], excused: Record<string, string>, remedy: string): string[] {
  return [
    ...found.filter((name) => !excused[name]).map((name) => `${name}: ${remedy}`),
    ...Object.keys(excused)
      .filter((name) => !found.includes(name))
      .map((name) => `${name}: no exception any more, remove it from test/database/foreign-keys.spec.ts`),
  ];
}

const REFERENCE = 'the foreign key must include organization_id, or be an exception with a reason';
const UNIQUE = 'the unique index must begin with organization_id, or be an exception with a reason';
const OWNER = 'organization_id must refer to organizations (alone, or with columns that are NOT NULL), or be an exception';

const faults = async () => [
  ...complaints(await unowned(), WITHOUT_ORGANIZATION, REFERENCE),
  ...complaints(await orphans(), WITHOUT_OWNER, OWNER),
  ...complaints(await namesOf(UNIQUES), UNIQUE_EVERYWHERE, UNIQUE),
];

it('a reference or name of rows of organizations includes the organization, and each row has an existing one', async () => {
  expect(await faults()).toEqual([]);
});

it('a table that forgets one is named', async () => {
  await schema.all(`DROP TABLE IF EXISTS planted; CREATE TABLE planted (organization_id uuid NOT NULL, group_id uuid REFERENCES student_groups);
    CREATE POLICY tenant ON planted USING (true)`);
  expect(await faults()).toEqual([`planted.group_id: ${REFERENCE}`, `planted: ${OWNER}`]);
  await schema.all(`DROP TABLE planted;
    CREATE TABLE planted (organization_id uuid NOT NULL, user_id uuid, room uuid NOT NULL UNIQUE,
      FOREIGN KEY (organization_id, user_id) REFERENCES members (organization_id, user_id));
    CREATE POLICY tenant ON planted USING (true)`);
  expect(await faults()).toEqual([`planted: ${OWNER}`, `planted (room): ${UNIQUE}`]);
});

describe('a row that names a group', async () => {
  const [here, elsewhere] = [await schema.organization(), await schema.organization()];
  const tutor = await schema.member(here, 'tutor');
  const group = (organization: string, owner: string | null, tutor_id: string | null = null): Promise<string> =>
    schema.insert(organization, 'student_groups', { id: randomUUID(), owner_organization_id: owner, tutor_id, name: 'Group' });
  const shared = await schema.member(here, 'tutor');
  await schema.member(elsewhere, 'tutor', { user: shared });
  const groups = {
    theirs: await group(elsewhere, elsewhere),
    ours: await group(here, here),
    nobodys: await group(here, null, shared),
    unknown: randomUUID(),
  };
  const own = { id: '', organization_id: here, scope: 'group', title: 'Fractions' };
  const rows: Record<string, Row> = {
    files: { ...own, resource_type: 'link', link_url: 'https://example.org' },
    homework: homeworkRow(tutor, { scope: 'group' }),
    lesson_plans: own,
    session_series: { organization_id: here, starts_at: START, last_starts_at: START, duration_minutes: 60, every_weeks: 1 },
    sessions: sessionRow(here, null),
  };
  /** A foreign key refuses, or row-level security, as homework would be theirs. */
  const outcome = (work: Promise<unknown>) =>
    work.then(
      () => 'written',
      ({ code }: { code?: string }) => (code === '23503' || code === '42501' ? 'refused' : code),
    );

  it.each(Object.entries(WITHOUT_ORGANIZATION).flatMap(([name, reason]) => (reason === GROUP ? [name.split('.')[0]!] : [])))(
    'of %s, must name one that no other organization sees',
    async (table) => {
      const add = (group_id: string) => outcome(schema.insert(here, table, { ...rows[table], id: randomUUID(), group_id }));
      expect(await Promise.all(Object.values(groups).map(add))).toEqual(['refused', 'written', 'written', 'refused']);
      const id = await schema.insert(here, table, { ...rows[table], id: randomUUID(), group_id: groups.ours });
      const change = (to: string) => outcome(schema.as(here, `UPDATE ${table} SET group_id = $1 WHERE id = $2`, [to, id]));
      expect(await Promise.all([groups.theirs, groups.unknown].map(change))).toEqual(['refused', 'refused']);
      expect(await change(groups.nobodys)).toBe('written');
    },
  );

  it('still can be changed, and its tutor employed elsewhere, once the group is seen by others', async () => {
    const seen = await group(here, null, tutor);
    const session = await schema.insert(here, 'sessions', { ...sessionRow(here, null), group_id: seen });
    await schema.member(elsewhere, 'tutor', { user: tutor });
    await schema.all('UPDATE student_groups SET owner_organization_id = $1 WHERE id = $2', [elsewhere, seen]);
    expect(await outcome(schema.as(here, `UPDATE sessions SET title = 'Algebra', group_id = group_id WHERE id = $1`, [session]))).toBe('written');
  });
});
