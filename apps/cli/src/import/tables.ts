import { DERIVED_COLUMNS, EXPORTED_DATA, normalizeEmail, STATE_COLUMNS } from '@app/database';
import { type ReadValue, readEmail, readHoursByDay } from './values.js';

/** Tables that only exports have. */
const ONLY_EXPORTED = [
  'organizations',
  'logos',
  'isochrones',
  'uploads',
  'payment_allocations',
  'erasures',
  'holds',
  'retention_settings',
  'family_switches',
  'mail_opt_outs',
  'invoice_reminders',
];

/** The importable tables, each after those that it refers to. Files are named after their table. */
export const TABLES = Object.keys(EXPORTED_DATA).filter((table) => !ONLY_EXPORTED.includes(table));

/** Columns that files cannot set: the import's target determines the organization, and the others are derived. */
export const KEPT_COLUMNS: ReadonlySet<string> = new Set([...DERIVED_COLUMNS, ...STATE_COLUMNS]);

/** Columns that hold an organization. References that combine one with another column stay within the organization. */
export const ORGANIZATION_COLUMNS = new Set(['organization_id', 'owner_organization_id', 'made_by_organization_id']);

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
  /** Completes the new staged rows, before any row is written. @param staged the staging table */
  prepare?: (staged: string) => string;
  /** Completes the written rows, after those of all tables. @param staged the staging table, with the new rows only */
  complete?: (staged: string) => string;
}

/** Marks sessions that overlap another of their tutor: one that started earlier, or one that exists. */
const MARK_OVERLAPS = (staged: string) => `UPDATE ${staged} t SET overlap_allowed = true FROM (
  SELECT line, organization.id AS organization_id, tutor_id, starts_at, ends_at, max(ends_at) OVER (
      PARTITION BY tutor_id ORDER BY starts_at, line ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS taken_until
  FROM ${staged}, (SELECT current_organization_id() AS id) organization
  WHERE tutor_id IS NOT NULL AND status IS DISTINCT FROM 'cancelled') s
  WHERE t.line = s.line AND (s.taken_until > s.starts_at OR EXISTS (SELECT FROM sessions o
    WHERE o.organization_id = s.organization_id AND o.tutor_id = s.tutor_id AND o.status <> 'cancelled'
      AND o.starts_at < s.ends_at AND o.starts_at > s.starts_at - interval '24 hours' AND o.ends_at > s.starts_at))`;

/** What the tutor got for a completed session, by the rate that it has, where a file does not say. No session is longer than a day. */
const PAY = (
  staged: string,
) => `UPDATE ${staged} SET tutor_pay_cents = round(tutor_pay_rate_cents::numeric * duration_minutes / 60)
  WHERE status = 'completed' AND tutor_pay_cents IS NULL AND duration_minutes <= 1440`;

/** A UUID of version 7, in SQL. */
const UUID_V7 = `(lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0') || '7'
    || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid`;

/** The only student of a session takes part in it, whether or not a file says so. */
const ADD_PARTICIPANTS = (staged: string) => `INSERT INTO lesson_participants
    (id, organization_id, session_id, student_id, status, attendance, invited_at, cancelled_at, rate_cents, created_at)
  SELECT ${UUID_V7}, s.organization_id, s.id, s.student_id, CASE s.status WHEN 'cancelled' THEN 'cancelled' ELSE 'accepted' END,
    CASE s.status WHEN 'completed' THEN 'attended' END, s.created_at, s.cancelled_at, s.student_rate_cents, s.created_at
  FROM ${staged} n JOIN sessions s ON s.id = n.id
  WHERE s.organization_id = current_organization_id() AND s.student_id IS NOT NULL
    AND NOT EXISTS (SELECT FROM lesson_participants p WHERE p.session_id = s.id AND p.student_id = s.student_id)`;

const LOGIN = '(SELECT l.id FROM logins_by_email(ARRAY[s.email_normalized]) l)';
const IN_SIGHT = 'EXISTS (SELECT FROM conversations v WHERE v.id = s.conversation_id)';
/** With such a participant, this organization would see the conversation. */
const SEEING = `s.left_at IS NULL
  AND EXISTS (SELECT FROM members m WHERE m.user_id = s.user_id AND m.status = 'accepted')`;

const normalizedEmail = ({ email }: Record<string, unknown>) =>
  typeof email === 'string' ? normalizeEmail(email) : null;

/** What the importer knows about single tables, besides their order. */
export const TABLE_RULES: Record<string, TableRules> = {
  users: {
    readers: { email: readEmail },
    derived: { email_normalized: normalizedEmail },
    fieldOf: { email_normalized: 'email' },
    // Another organization's login is the same person if both its id and its address match.
    taken: `${LOGIN} IS DISTINCT FROM s.id`,
    takenField: `CASE WHEN ${LOGIN} IS NULL THEN 'id' ELSE 'email' END`,
  },
  members: { readers: { supplied_email: readEmail } },
  parents: { readers: { supplied_email: readEmail } },
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
  sessions: {
    derived: { overlap_allowed: () => false },
    prepare: (staged) => `${MARK_OVERLAPS(staged)}; ${PAY(staged)}`,
    complete: ADD_PARTICIPANTS,
  },
  booking_requests: { readers: { preferred_times: readHoursByDay } },
  leads: {
    derived: { email_normalized: normalizedEmail },
    fieldOf: { email_normalized: 'email' },
  },
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
  messages: { ownedThrough: 'conversation_id' },
};

/** What files may hold. */
export interface FileFormat {
  tables: string[];
  /** Columns that they cannot set. */
  kept: ReadonlySet<string>;
  rules: Record<string, TableRules>;
}

/** What is brought from elsewhere. */
export const IMPORT: FileFormat = { tables: TABLES, kept: KEPT_COLUMNS, rules: TABLE_RULES };

const madeHere = ({ made_here: made }: Record<string, unknown>, organizationId: string) =>
  made ? organizationId : null;

/** What an installation of this service has exported: complete, so that nothing is worked out. */
export const EXPORT: FileFormat = {
  tables: Object.keys(EXPORTED_DATA),
  kept: DERIVED_COLUMNS,
  rules: {
    ...TABLE_RULES,
    sessions: {},
    results: {
      ...TABLE_RULES.results,
      extraFields: { made_here: 'boolean' },
      derived: { made_by_organization_id: madeHere },
      fieldOf: { made_by_organization_id: 'made_here' },
    },
  },
};

/** A table in words: "student group". */
export function nounOf(table: string): string {
  return table.replaceAll('_', ' ').replace(/ies$/, 'y').replace(/s$/, '');
}
