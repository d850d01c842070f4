import { normalizeEmail } from '@app/database';
import { type ReadValue, readEmail, readName, readTimeZone } from './values.js';

/** The importable tables, each after those that it refers to. Files are named after their table. */
export const TABLES = [
  'users',
  'members',
  'subjects',
  'tutor_profiles',
  'tutor_subjects',
  'tutor_students',
  'parents',
  'parent_students',
  'classrooms',
  'classroom_members',
  'student_groups',
  'student_group_members',
  'sessions',
  'lesson_participants',
  'availabilities',
  'time_off',
  'homework',
  'session_feedback',
  'results',
  'conversations',
  'conversation_participants',
  'messages',
  'adjustments',
  'invoices',
  'invoice_lines',
  'payments',
  'mileage_trips',
  'expense_claims',
  'blog_posts',
];

/** Columns that files cannot set: the import's target determines the organization, and the others are derived. */
export const KEPT_COLUMNS = new Set([
  'organization_id',
  'owner_organization_id',
  'email_normalized',
  'email_verified_at',
  'phone_digits',
  'seen_by',
  'approval_requested_at',
  'enrolled_at',
  'profile_published',
  'last_message_at',
  'has_comment',
]);

/** Columns that hold an organization. References that combine one with another column stay within the organization. */
export const ORGANIZATION_COLUMNS = new Set(['organization_id', 'owner_organization_id']);

/** Rules of a table that its schema does not express. */
export interface TableRules {
  /** Fields of the file that are not columns, with the types of their values. */
  extraFields?: Record<string, string>;
  readers?: Record<string, ReadValue>;
  /** Staged columns that are computed from the line's other values. */
  derived?: Record<string, (row: Record<string, unknown>, organizationId: string) => unknown>;
  /** The field to blame for a fault in a derived column. */
  fieldOf?: Record<string, string>;
  /** References that must stay within this organization, although the schema does not require it. */
  references?: { column: string; table: string; key: string }[];
  /**
   * For a table with rows that are invisible even to the organization that wrote them. A line `s` whose id exists but
   * is invisible counts as imported before, unless this SQL condition says that it belongs to another organization.
   */
  taken?: string;
  /** SQL for the name of the field at fault; `id` by default. */
  takenField?: string;
  /** The field that determines the row's organization. */
  ownedThrough?: string;
}

const LOGIN = '(SELECT l.id FROM logins_by_email(ARRAY[s.email_normalized]) l)';
const IN_SIGHT = 'EXISTS (SELECT FROM conversations v WHERE v.id = s.conversation_id)';
/** With such a participant, this organization would see the conversation. */
const SEEING = `s.left_at IS NULL
  AND EXISTS (SELECT FROM members m WHERE m.user_id = s.user_id AND m.status = 'accepted')`;

/** What the importer knows about single tables, besides their order. */
export const TABLE_RULES: Record<string, TableRules> = {
  users: {
    readers: { email: readEmail, first_name: readName, last_name: readName },
    derived: { email_normalized: (row) => (typeof row.email === 'string' ? normalizeEmail(row.email) : null) },
    fieldOf: { email_normalized: 'email' },
    // Another organization's login is the same person if both its id and its address match.
    taken: `${LOGIN} IS DISTINCT FROM s.id`,
    takenField: `CASE WHEN ${LOGIN} IS NULL THEN 'id' ELSE 'email' END`,
  },
  student_groups: {
    extraFields: { owned: 'boolean' },
    derived: { owner_organization_id: (row, organizationId) => (row.owned === false ? null : organizationId) },
    fieldOf: { owner_organization_id: 'owned' },
    taken: 's.owner_organization_id IS NOT NULL OR group_of_others(s.id)',
    ownedThrough: 'tutor_id',
  },
  student_group_members: {
    taken: 'EXISTS (SELECT FROM student_groups v WHERE v.id = s.group_id)',
    ownedThrough: 'group_id',
  },
  availabilities: { readers: { timezone: readTimeZone } },
  // Only the database can derive a homework row's organization: see hidden.ts.
  homework: { taken: 'derived', ownedThrough: 'assigned_by' },
  session_feedback: { taken: 's.legacy IS NOT TRUE', ownedThrough: 'session_id' },
  results: {
    references: [{ column: 'student_id', table: 'members', key: 'user_id' }],
    taken: 'EXISTS (SELECT FROM session_students v WHERE v.student_id = s.student_id)',
    ownedThrough: 'student_id',
  },
  conversations: { taken: 'conversation_of_others(s.id)', ownedThrough: 'id' },
  conversation_participants: { taken: `${IN_SIGHT} OR ${SEEING}`, ownedThrough: 'conversation_id' },
  messages: { taken: IN_SIGHT, ownedThrough: 'conversation_id' },
};

/** A table in words: "student group". */
export function nounOf(table: string): string {
  return table.replaceAll('_', ' ').replace(/ies$/, 'y').replace(/s$/, '');
}
