import { ERASE_INVOICES, ERASE_RECEIPTS } from './erased-papers.js';

/**
 * What becomes of a row whose column names somebody who is erased: it `goes`; somebody without a name takes their place, so
 * that books and lessons stay whole (`replaced`); or the column is `emptied`. goes: SQL about the row `t`, of which rows go;
 * the others are as `or` says.
 */
export type Becomes = 'goes' | 'replaced' | 'emptied' | { goes: string; or: 'replaced' | 'emptied' };

export interface Erasing {
  /** The columns that name a person. */
  names?: Record<string, Becomes>;
  /** SQL about `t`: whose rows these are. By default the organization's. */
  own?: string;
  /** SQL about `t`: rows that go though no column names the person. */
  goes?: string;
  /** Columns that are emptied where one of `of` names the person, with what they then hold if not NULL. */
  empties?: Record<string, { of: string[]; to?: string }>;
  /** A statement before: what no list of columns can say. */
  first?: string;
  /** Texts and references that stay in rows that do, by reason. */
  keeps?: Record<string, string[]>;
}

/** The organization's rows. */
export const MINE = 't.organization_id = here';
/** Of columns that refer to logins: once no organization is tied to the person, everywhere. */
const ANYWHERE = '(t.organization_id = here OR gone)';
const WORK = 'work for the organization, of which the author’s name goes';
const BOOKS = 'the books keep it: it says nothing of the person';
const OTHERS = 'of rows that others are meant by';
const CODES = 'codes and hashes';
const LAST = { own: 'gone' };
const BY_ADDRESS = 't.email_normalized = ANY (addresses)';
const THEIRS = { of: ['student_id', 'parent_id'] };

/** A row's details without what could be a text, and with the other id. */
const BARE = `replace(coalesce((SELECT jsonb_object_agg(d.key, d.value) FROM jsonb_each(t.details) d
      WHERE jsonb_typeof(d.value) IN ('number', 'boolean', 'null')
        OR d.value::text ~ '^"([a-z][a-z_]{0,40}|[0-9a-f-]{36})"$' OR d.value::text ~ '^\\[["0-9a-f, -]*\\]$'), '{}')::text,
      person::text, alias::text)::jsonb`;

/**
 * The tables that know people, in the order in which they are emptied: each before what it refers to. A new column with a
 * text, JSON, bytes or a reference to a person fails test/database/erasure.spec.ts until it is said here what becomes of it.
 */
export const ERASING: Record<string, Erasing> = {
  idempotency_keys: {
    goes: 'position(person::text IN t.operation) > 0',
    keeps: { 'sealed: libs/erasure opens it': ['answer'], [CODES]: ['operation', 'key', 'request_hash'] },
  },
  outbox: {
    own: '(t.organization_id = here OR gone AND t.organization_id IS NULL)',
    goes: `t.topic = 'email' AND ${BY_ADDRESS}`,
    first: `UPDATE outbox t SET answer = NULL WHERE ${MINE} AND t.topic = 'webhook' AND t.answer IS NOT NULL AND t.event_id IN (
      SELECT e.id FROM events e WHERE e.organization_id = here AND (e.resource_id = person OR position(person::text IN e.data::text) > 0))`,
    keeps: {
      'sealed: libs/erasure opens it': ['payload', 'gathered'],
      [OTHERS]: ['recipient', 'email_normalized', 'answer'],
      [CODES]: ['kind', 'leased_by', 'last_error', 'gathered_kinds'],
    },
  },
  mail_opt_outs: { own: ANYWHERE, goes: 't.address = ANY (addresses)', keeps: { [OTHERS]: ['address'] } },
  mail_links: { own: ANYWHERE, goes: 't.address = ANY (addresses)', keeps: { [OTHERS]: ['address'] } },
  lesson_tellings: {
    own: ANYWHERE,
    names: { user_id: 'goes' },
    goes: 'position(person::text IN concat(t.told, t.doubts)) > 0',
    keeps: { 'ids of lessons and people that stay': ['told', 'doubts'] },
  },
  suppressions: { own: ANYWHERE, goes: BY_ADDRESS, keeps: { [OTHERS]: ['email_normalized'] } },
  events: {
    first: `UPDATE events t SET resource_id = CASE WHEN t.resource_id = person THEN alias ELSE t.resource_id END,
      data = replace(t.data::text, person::text, alias::text)::jsonb
      WHERE ${MINE} AND (t.resource_id = person OR position(person::text IN t.data::text) > 0)`,
    keeps: { 'ids and names of fields, in which another id takes the person’s place': ['data', 'type', 'resource'] },
  },
  password_link_requests: {
    ...LAST,
    goes: BY_ADDRESS,
    keeps: { [OTHERS]: ['email_normalized', 'secret_hash', 'content'] },
  },
  password_links: { ...LAST, names: { user_id: 'goes' } },
  device_cookies: { ...LAST, names: { user_id: 'goes' } },
  portal_sessions: { ...LAST, names: { user_id: 'goes' } },
  passkeys: { ...LAST, names: { user_id: 'goes' } },
  account_deletions: { ...LAST, names: { user_id: 'goes' } },
  credentials: { ...LAST, names: { user_id: 'goes' } },

  results: {
    own: `(t.made_by_organization_id = here OR gone OR t.made_by_organization_id IS NULL AND EXISTS (
      SELECT FROM homework h WHERE h.id = t.homework_assignment_id AND h.organization_id = here))`,
    names: { student_id: { goes: 'NOT keep_results', or: 'replaced' } },
    // What another organization is shown of its own student stays the student's.
    first: `UPDATE results t SET made_by_organization_id = NULL, homework_assignment_id = CASE WHEN EXISTS (SELECT FROM homework h
        WHERE h.id = t.homework_assignment_id AND h.organization_id = here) THEN NULL ELSE t.homework_assignment_id END
      WHERE t.student_id = person AND t.made_by_organization_id = here AND EXISTS (SELECT FROM organization_results o
        WHERE o.result_id = t.id AND o.organization_id <> here) AND NOT gone`,
  },
  homework: {
    first: `UPDATE results t SET homework_assignment_id = NULL WHERE t.homework_assignment_id IN (
      SELECT h.id FROM homework h WHERE h.student_id = person AND (h.organization_id = here OR gone))`,
    own: ANYWHERE,
    names: { student_id: 'goes', assigned_by: 'replaced' },
    keeps: { [WORK]: ['title', 'description', 'files'] },
  },
  session_feedback: { own: ANYWHERE, names: { reviewer_id: 'goes', tutor_id: 'goes' } },
  leads: {
    goes: BY_ADDRESS,
    names: { assigned_tutor_id: 'emptied' },
    keeps: {
      [OTHERS]: [
        'source_form_name',
        'name',
        'email',
        'email_normalized',
        'phone',
        'subject',
        'source_url',
        'notes',
        'staff_notes',
      ],
    },
  },
  booking_requests: { names: { student_id: 'goes' } },
  locations: { names: { tutor_id: 'goes', student_id: 'goes' } },
  lesson_plans: { names: { student_id: 'goes', created_by: 'emptied' }, keeps: { [WORK]: ['title', 'plan_data'] } },
  mileage_trips: {
    names: { tutor_id: 'replaced' },
    empties: { destination: { of: ['tutor_id'] }, vehicle: { of: ['tutor_id'] } },
  },
  expense_claims: {
    first: `receipts := ARRAY(SELECT t.receipt_file_id FROM expense_claims t WHERE ${MINE} AND t.tutor_id = person
      AND t.receipt_file_id IS NOT NULL)`,
    names: { tutor_id: 'replaced' },
    empties: {
      ...{ vendor: { of: ['tutor_id'] }, receipt_photo_url: { of: ['tutor_id'] } },
      receipt_file_id: { of: ['tutor_id'] },
    },
  },
  files: {
    first: `documents := ARRAY(SELECT t.upload_id FROM files t WHERE ${MINE} AND t.upload_id IS NOT NULL AND (t.student_id = person
      OR t.id = ANY (receipts) OR t.owner_id = person AND t.scope IN ('private', 'personal')))`,
    goes: 't.id = ANY (receipts)',
    names: { student_id: 'goes', owner_id: { goes: `t.scope IN ('private', 'personal')`, or: 'emptied' } },
    keeps: { [WORK]: ['title', 'file_url', 'link_url'] },
  },
  uploads: { goes: 't.id = ANY (documents)', keeps: { [WORK]: ['name', 'mime'] } },
  questions: {
    names: { author_id: 'emptied' },
    keeps: { [WORK]: ['catalogue', 'topic', 'tags', 'intro_text'] },
  },

  payouts: {
    names: { tutor_id: 'replaced' },
    empties: { void_reason: { of: ['tutor_id'] } },
    keeps: { [BOOKS]: ['currency'] },
  },
  adjustments: { names: { tutor_id: 'replaced' }, empties: { note: { of: ['tutor_id'] } } },
  payments: {
    first: ERASE_RECEIPTS,
    names: { student_id: 'replaced', parent_id: 'replaced', tutor_id: 'replaced' },
    empties: { reference: THEIRS, void_reason: THEIRS },
    keeps: { [BOOKS]: ['currency', 'stripe_payment_intent_id'] },
  },
  invoice_lines: {
    first: `UPDATE invoice_lines t SET description = NULL WHERE ${MINE} AND t.invoice_id IN (SELECT i.id FROM invoices i
      WHERE i.organization_id = here AND i.student_id = person AND i.status = 'draft')`,
    keeps: { 'an issued invoice stays as printed': ['description'], [BOOKS]: ['tax'] },
  },
  invoices: {
    first: ERASE_INVOICES,
    names: { student_id: 'replaced', tutor_id: 'replaced', billed_parent_id: 'emptied' },
    empties: { sent_to: { of: ['student_id', 'billed_parent_id'] } },
    keeps: {
      'an issued invoice stays as printed, for the years of tax law, to owners alone': ['snapshot'],
      [BOOKS]: ['invoice_number', 'currency', 'adjustment_note_number'],
    },
  },
  lesson_participants: { names: { student_id: 'replaced' } },
  removed_sessions: { names: { user_id: 'goes' } },
  calendar_feeds: { names: { user_id: 'goes' } },
  session_series: { names: { tutor_id: 'emptied' }, empties: { meeting_url: { of: ['tutor_id'] } } },
  sessions: {
    names: { student_id: 'replaced', tutor_id: 'replaced' },
    // To its student, the title of a lesson is not about who teaches it.
    empties: {
      ...{ title: { of: ['student_id'] }, cancellation_reason: { of: ['student_id', 'tutor_id'] } },
      meeting_url: { of: ['tutor_id'] },
    },
  },

  messages: {
    own: ANYWHERE,
    names: { sender_id: 'emptied' },
    empties: {
      content: { of: ['sender_id'], to: `'(erased)'` },
      deleted_at: { of: ['sender_id'], to: 'coalesce(t.deleted_at, now())' },
    },
  },
  conversations: {
    first: `UPDATE conversations t SET title = NULL WHERE t.title IS NOT NULL AND t.type IN ('direct', 'triad') AND t.id IN (
      SELECT c.conversation_id FROM conversation_participants c WHERE c.user_id = person)
      AND (gone OR NOT EXISTS (SELECT FROM organization_conversations v WHERE v.conversation_id = t.id AND v.organization_id <> here))`,
    keeps: { 'the title of a conversation of many': ['title'] },
  },
  conversation_participants: {
    own: `(gone OR t.left_at IS NOT NULL AND NOT EXISTS (SELECT FROM organization_conversations v
      WHERE v.conversation_id = t.conversation_id AND v.organization_id <> here))`,
    names: { user_id: 'goes' },
  },
  inbox_messages: {
    own: ANYWHERE,
    goes: 'lower(t.guest_email) = ANY (addresses)',
    names: { from_user_id: 'goes', subject_tutor_id: 'emptied' },
    keeps: { [OTHERS]: ['guest_name', 'guest_email', 'message'] },
  },

  student_group_members: {
    own: '(gone OR EXISTS (SELECT FROM student_groups g WHERE g.id = t.group_id AND g.organization_id = here))',
    names: { user_id: 'goes' },
  },
  student_groups: {
    own: ANYWHERE,
    // Without an owner, the group is its tutor's.
    names: { tutor_id: 'replaced' },
    keeps: { 'a group is not one person': ['name', 'color', 'avatar_url'] },
  },
  classroom_members: { names: { user_id: 'goes' } },
  classrooms: { names: { tutor_id: 'emptied' }, keeps: { 'a class is not one person': ['name'] } },
  tutor_students: { names: { tutor_id: 'goes', student_id: 'goes' } },
  availabilities: { names: { tutor_id: 'goes' } },
  time_off: { names: { tutor_id: 'goes' } },
  // A child's place in the family that still pays.
  parent_students: { names: { parent_id: 'goes', student_id: 'replaced' } },
  joins: { own: ANYWHERE, names: { user_id: 'goes' } },
  invites: {
    own: ANYWHERE,
    goes: '(lower(t.email) = ANY (addresses) OR t.target_id = person)',
    names: { user_id: 'goes', created_by: 'emptied' },
    keeps: { [OTHERS]: ['email', 'target_id'], [CODES]: ['secret_hash', 'proof_hash', 'sealed'] },
  },
  isochrones: {
    // How far a tutor can drive, from where they live.
    goes: `t.postcode IN (SELECT p.home_postcode FROM tutor_profiles p WHERE p.organization_id = here AND p.user_id = person)
      AND NOT EXISTS (SELECT FROM tutor_profiles o WHERE o.organization_id = here AND o.user_id <> person
        AND o.home_postcode = t.postcode)`,
    keeps: { [OTHERS]: ['postcode', 'reached'] },
  },
  tutor_subjects: { names: { user_id: 'goes' } },
  tutor_profiles: { names: { user_id: 'goes' } },

  api_keys: {
    own: ANYWHERE,
    names: { created_by: 'emptied' },
    keeps: { 'what a program is called': ['name'], [CODES]: ['key_hash', 'first_four', 'last_four', 'scopes'] },
  },
  webhook_endpoints: {
    own: ANYWHERE,
    names: { created_by: 'emptied' },
    keeps: {
      'where a program listens': ['url', 'event_types', 'description'],
      [CODES]: ['secret', 'previous_secret'],
    },
  },
  audit_log: {
    own: ANYWHERE,
    names: { user_id: 'replaced' },
    first: `UPDATE audit_log t SET details = ${BARE} WHERE ${ANYWHERE} AND (t.user_id = person OR t.person_id = person
      OR position(person::text IN t.details::text) > 0)`,
    empties: { network: { of: ['user_id'] } },
    keeps: { [CODES]: ['operation', 'request_id', 'result', 'details'] },
  },
  exports: {
    own: ANYWHERE,
    names: { created_by: 'emptied', confirmed_by: 'emptied' },
    // The worker deletes the file that is ready, and begins again with what it prepares.
    first: `UPDATE exports t SET status = CASE t.status WHEN 'ready' THEN 'called_off' ELSE 'waiting' END, leased_until = NULL,
      ended_at = CASE t.status WHEN 'ready' THEN now() END WHERE ${MINE} AND t.status IN ('ready', 'preparing')`,
  },
  erasures: { names: { person_id: 'goes' }, own: ANYWHERE },
  holds: { names: { user_id: 'goes' }, own: ANYWHERE },
  members: {
    names: { user_id: 'goes' },
    first: `UPDATE members t SET ahead = replace(t.ahead, person::text, alias::text) WHERE ${MINE}
      AND t.ahead = 'hand_over ' || person`,
  },
  parents: { names: { user_id: 'goes' } },
  users: { ...LAST, names: { id: 'goes' } },
};
