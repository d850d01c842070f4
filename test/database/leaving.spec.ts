import { LEAVING } from '@app/access';
import { SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

const schema = await fixture(SchemaFixture.create());

/** Columns that refer to a person, as a login, a member, a parent or a tutor, or to an API key of theirs. */
const NAMING = `
  SELECT k.conrelid::regclass || '.' || a.attname AS name FROM pg_constraint k, unnest(k.conkey) c (num)
  JOIN LATERAL (SELECT attname FROM pg_attribute WHERE attrelid = k.conrelid AND attnum = c.num) a ON a.attname <> 'organization_id'
  WHERE k.contype = 'f' AND k.connamespace = 'public'::regnamespace
    AND k.confrelid = ANY ('{users,members,parents,tutor_profiles,api_keys}'::regclass[]) ORDER BY 1`;

/** Columns with ids that refer to nothing. */
const LOOSE = `
  SELECT c.relname || '.' || a.attname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
  WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attname NOT IN ('id', 'organization_id')
    AND a.atttypid IN ('uuid'::regtype, 'uuid[]'::regtype)
    AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'f' AND a.attnum = ANY (k.conkey)) ORDER BY 1`;

const CURRICULUM = 'it is of the curriculum, which is not stored';
const COPY = 'a copy, which follows its row';
const LOG = 'what was done stays, also of what has been removed';

/** What these name, if it is not in LEAVING. */
const NAMED: Record<string, string> = {
  'api_keys.form_token': 'a form',
  'audit_log.person_id': LOG,
  'event_changes.resource_id': LOG,
  'event_changes.within': LOG,
  'events.resource_id': LOG,
  'family_rounds.evening_after': 'how far the mails of an evening have come',
  'files.folder_id': 'a folder of a former system',
  'invites.subject_id': 'a subject that is given with the place',
  'invites.target_id': 'whatever the scope says: a room, or a person, whose invites end by invites.user_id',
  'leads.form_id': 'a form of the website',
  'lesson_plans.curriculum_level_ids': CURRICULUM,
  'lesson_plans.math_level_id': CURRICULUM,
  'lesson_tellings.session_id': 'a lesson of which somebody was told: what is told is compared with it',
  'lesson_tellings.user_id': 'whom the worker looks at again before it mails them',
  'list_counts.slot': 'a part of a count',
  'mail_links.token': 'a link',
  'moves.to_tell': 'people who are mailed, once',
  'organization_conversations.classroom_id': COPY,
  'organization_results.curriculum_level_id': COPY,
  'organization_results.homework_assignment_id': COPY,
  'organization_results.student_id': COPY,
  'organization_results.vce_exam_id': COPY,
  'outbox.about_id': 'an invoice or a payment, which the worker looks at again',
  'outbox.endpoint_id': 'an endpoint, whose deliveries stay in the log',
  'outbox.event_id': 'an event, which is purged earlier',
  'outbox.invite_id': 'an invite, without which no mail is sent',
  'questions.curriculum_level_ids': CURRICULUM,
  'request_log.api_key_id': LOG,
  'removed_sessions.session_id': 'a session that is no more',
  'results.curriculum_level_id': CURRICULUM,
  'results.vce_exam_id': CURRICULUM,
  'users.seen_by': 'organizations: a copy of who sees the person',
};

const KEY = 'say in LEAVING of libs/access what becomes of it when the person leaves';
const NO_KEY = 'give it a foreign key, or say in NAMED of test/database/leaving.spec.ts what it names';

async function complaints(): Promise<string[]> {
  const namesIn = async (query: string) => (await schema.all(query)).map(({ name }) => String(name));
  const compare = (found: string[], told: object, remedy: string) => [
    ...found.filter((name) => !(name in told)).map((name) => `${name}: ${remedy}`),
    ...Object.keys(told).filter((name) => !found.includes(name)).map((name) => `${name}: is no such column any more, remove it`),
  ];
  return [...compare(await namesIn(NAMING), LEAVING, KEY), ...compare(await namesIn(LOOSE), NAMED, NO_KEY)];
} // prettier-ignore

it('of every column that names a person, LEAVING says what becomes of its rows, and every other id says what it names', async () => {
  expect(await complaints()).toEqual([]);
});

it('a new table that names a person is named, with a foreign key or without', async () => {
  await schema.all(`CREATE TABLE planted (organization_id uuid NOT NULL, made_by uuid, pupil uuid,
    FOREIGN KEY (organization_id, made_by) REFERENCES members (organization_id, user_id))`);
  expect(await complaints()).toEqual([`planted.made_by: ${KEY}`, `planted.pupil: ${NO_KEY}`]);
});
