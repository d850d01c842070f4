import { type ReadValue, readEmail, readName } from './values.js';

/** What can be imported, each table after those that it refers to. A file is named after its table. */
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
  'session_participants',
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

/** Columns that no file names: the organization is the target of the import, the others are derived. */
export const KEPT_COLUMNS = new Set([
  'organization_id',
  'owner_organization_id',
  'email_normalized',
  'enrolled_at',
  'last_message_at',
  'has_comment',
]);

/** Columns that hold an organization. A reference that names one besides another column is within the organization. */
export const ORGANIZATION_COLUMNS = new Set(['organization_id', 'owner_organization_id']);

/** How a table differs from what the schema tells of it. */
export interface Peculiarity {
  /** Fields of the file that are no columns, by the type of their values. */
  extraFields?: Record<string, string>;
  readers?: Record<string, ReadValue>;
  /** Staged columns that are worked out from the other values of the line. */
  derived?: Record<string, (row: Record<string, unknown>, organizationId: string) => unknown>;
  /** The field that a fault of a derived column belongs to. */
  fieldOf?: Record<string, string>;
  /** Must be one of this organization, although the schema itself would take anybody. */
  references?: { column: string; table: string; key: string }[];
  /**
   * A table whose rows are not all seen by the organization that wrote them. Then an id that exists, and is not seen, is
   * either such a row or another organization's. SQL of whether a line `s` would be seen if it were this organization's.
   */
  wouldBeSeen?: string;
  /** The field that decides whose the row is. */
  ownedThrough?: string;
}

const THROUGH_CONVERSATION = {
  wouldBeSeen: 'EXISTS (SELECT FROM conversations v WHERE v.id = s.conversation_id)',
  ownedThrough: 'conversation_id',
};

/** Everything that the importer knows of single tables, besides their order. */
export const PECULIARITIES: Record<string, Peculiarity> = {
  users: {
    readers: { email: readEmail, first_name: readName, last_name: readName },
    derived: { email_normalized: (row) => (typeof row.email === 'string' ? row.email.toLowerCase() : null) },
    fieldOf: { email_normalized: 'email' },
  },
  student_groups: {
    extraFields: { owned: 'boolean' },
    derived: { owner_organization_id: (row, organizationId) => (row.owned === false ? null : organizationId) },
    fieldOf: { owner_organization_id: 'owned' },
    wouldBeSeen: 's.owner_organization_id IS NOT NULL OR group_of_others(s.id)',
    ownedThrough: 'tutor_id',
  },
  student_group_members: {
    wouldBeSeen: 'EXISTS (SELECT FROM student_groups v WHERE v.id = s.group_id)',
    ownedThrough: 'group_id',
  },
  // Only the database can derive whose a homework row is: see hidden.ts.
  homework: { ownedThrough: 'assigned_by' },
  session_feedback: { wouldBeSeen: 's.legacy IS NOT TRUE', ownedThrough: 'session_id' },
  results: {
    references: [{ column: 'student_id', table: 'members', key: 'user_id' }],
    wouldBeSeen: 'EXISTS (SELECT FROM session_students v WHERE v.student_id = s.student_id)',
    ownedThrough: 'student_id',
  },
  conversations: { wouldBeSeen: 'conversation_of_others(s.id)', ownedThrough: 'id' },
  conversation_participants: THROUGH_CONVERSATION,
  messages: THROUGH_CONVERSATION,
};

/** A table in words: "student group". */
export function nounOf(table: string): string {
  return table.replaceAll('_', ' ').replace(/s$/, '');
}
