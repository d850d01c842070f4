import { SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

const DERIVED = 'its organization is derived, and may be none: a trigger reads it from this row';
const PEOPLES = 'the row belongs to people, not to an organization: who sees it is derived';
const COPY = 'a trigger writes it for each organization that sees the row';
const CALLER = 'it is who calls, found together with the organization';
const PERSON = 'this row is what makes the person one of the organization';
const GROUP = 'the organization of a group is derived, and may become none';
const LOOSE = 'the person may have left, or belong to another organization';

/** References between rows of organizations, or to logins, that do not include the organization. */
const WITHOUT_ORGANIZATION: Record<string, string> = {
  'api_keys.created_by': CALLER,
  'audit_log.api_key_id': CALLER,
  'audit_log.user_id': CALLER,
  'conversation_participants.conversation_id': PEOPLES,
  'conversation_participants.user_id': PEOPLES,
  'conversations.classroom_id': PEOPLES,
  'homework.assigned_by': LOOSE,
  'homework.classroom_id': DERIVED,
  'homework.group_id': DERIVED,
  'homework.student_id': LOOSE,
  'files.group_id': GROUP,
  'inbox_messages.from_user_id': LOOSE,
  'invites.api_key_id': CALLER,
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
  'session_feedback.session_id': DERIVED,
  'session_feedback.tutor_id': LOOSE,
  'session_students.student_id': COPY,
  'sessions.group_id': GROUP,
  'student_group_members.group_id': 'it has the organization of its group, which is derived and may be none',
  'student_group_members.user_id': LOOSE,
  'student_groups.tutor_id': DERIVED,
  'webhook_endpoints.created_by': CALLER,
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
const OWNER = 'organization_id must refer to organizations (alone, or with columns that are NOT NULL), or be an exception';

const faults = async () => [...complaints(await unowned(), WITHOUT_ORGANIZATION, REFERENCE), ...complaints(await orphans(), WITHOUT_OWNER, OWNER)];

it('a reference between rows of organizations includes the organization, and each row has an existing one', async () => {
  expect(await faults()).toEqual([]);
});

it('a table that forgets either is named', async () => {
  await schema.all(`DROP TABLE IF EXISTS planted; CREATE TABLE planted (organization_id uuid NOT NULL, group_id uuid REFERENCES student_groups);
    CREATE POLICY tenant ON planted USING (true)`);
  expect(await faults()).toEqual([`planted.group_id: ${REFERENCE}`, `planted: ${OWNER}`]);
  await schema.all(`DROP TABLE planted;
    CREATE TABLE planted (organization_id uuid NOT NULL, user_id uuid, room uuid NOT NULL,
      FOREIGN KEY (organization_id, user_id) REFERENCES members (organization_id, user_id));
    CREATE POLICY tenant ON planted USING (true)`);
  expect(await faults()).toEqual([`planted: ${OWNER}`]);
});
