import { caseless } from '@app/database';
import { nounOf } from './tables.js';

/** SQL for the rows that a table will have, as `(…)`: those of the file with their `line`, and those that there are, of line 0. */
export type After = (table: string, ...columns: string[]) => string;

/** A rule about a row `s` of a file and rows of other tables, which the API keeps in its services. */
export interface RowRule {
  table: string;
  /** The field to blame, and words that complete "<field>: …". */
  at: string;
  words: string;
  /** SQL to join what the rule looks at. */
  join?: (after: After) => string;
  /** SQL that is true for rows that break the rule. */
  broken: string;
}

const TODAY = `(now() AT TIME ZONE (SELECT time_zone FROM organizations WHERE id = current_organization_id()))::date`;

/** When something happened, which is no plan. */
export const PAST: Record<string, string[]> = {
  members: ['accepted_at', 'archived_at'],
  parents: ['accepted_at'],
  sessions: ['completed_at', 'cancelled_at'],
  lesson_participants: ['responded_at', 'cancelled_at'],
  leads: ['converted_at'],
  results: ['started_at', 'completed_at'],
  adjustments: ['voided_at'],
  invoices: ['sent_at', 'paid_at'],
  mileage_trips: ['approved_at'],
  expense_claims: ['approved_at'],
  payouts: ['paid_at'],
};

/** The day on which something happened. */
const DAYS = { payments: 'received_on', mileage_trips: 'trip_date', expense_claims: 'expense_date' };

/** Columns that only one state has. */
const STATED: [table: string, column: string, status: string][] = [
  ['sessions', 'completed_at', 'completed'],
  ['sessions', 'cancelled_at', 'cancelled'],
  ['sessions', 'cancellation_reason', 'cancelled'],
];

/** Of columns of which a row needs one. */
const oneOf = (table: string, ...columns: string[]): RowRule => ({
  table,
  at: columns[0]!,
  words: `send one of: ${columns.join(', ')}`,
  broken: columns.map((column) => `s.${column} IS NULL`).join(' AND '),
});

/** Who plays a part in a class, a group or a conversation. @param parts which of the roles need which members */
const part = (table: string, parts: { staff: string; student: string }): RowRule[] => {
  const join = (after: After) => `JOIN ${after('members', 'user_id', 'role')} m ON m.user_id = s.user_id`;
  return [
    {
      table,
      at: 'user_id',
      words: 'is not staff of this organization',
      join,
      broken: `s.role = '${parts.staff}' AND m.role = 'student'`,
    },
    {
      table,
      at: 'user_id',
      words: 'is not a student of this organization',
      join,
      broken: `s.role = '${parts.student}' AND m.role <> 'student'`,
    },
  ];
};

/** The students of sessions, and who may pay for them. */
const payersOf = (after: After) => `
  WITH places AS (
    SELECT session_id, student_id FROM ${after('lesson_participants', 'session_id', 'student_id')} p
    UNION SELECT id, student_id FROM ${after('sessions', 'id', 'student_id')} x WHERE student_id IS NOT NULL)
  SELECT session_id, student_id AS payer FROM places
  UNION SELECT session_id, parent_id FROM places JOIN ${after('parent_students', 'parent_id', 'student_id')} c USING (student_id)`;

const session = (after: After) =>
  `JOIN ${after('sessions', 'id', 'tutor_id', 'status', 'starts_at')} x ON x.id = s.session_id`;

const TUTORS_SESSION = { at: 'session_id', words: 'must be a session of this tutor', join: session, broken: 'x.tutor_id IS DISTINCT FROM s.tutor_id' }; // prettier-ignore

export const ROW_RULES: RowRule[] = [
  ...Object.entries(PAST).flatMap(([table, columns]) =>
    columns.map((at) => ({ table, at, words: 'must not be in the future', broken: `s.${at} > now()` })),
  ),
  ...STATED.map(([table, at, status]) => ({
    table,
    at,
    words: `must be null unless status is ${status}`,
    broken: `s.${at} IS NOT NULL AND s.status <> '${status}'`,
  })),
  {
    table: 'files',
    at: 'file_url',
    words: 'must be given with the resource type file',
    // An uploaded one, whose row is there, has none.
    broken: `s.resource_type = 'file' AND s.file_url IS NULL
      AND NOT EXISTS (SELECT FROM files f WHERE f.id = s.id AND f.upload_id IS NOT NULL)`,
  },
  ...['subjects', 'rate_bands', 'tutor_tiers'].map((table) => ({
    table,
    at: 'name',
    words: `is taken by another ${nounOf(table)} of this organization`,
    join: (after: After) => `JOIN ${after(table, 'id', 'name')} o ON ${caseless('o.name')} = ${caseless('s.name')}`,
    broken: 'o.line < s.line AND o.id <> s.id',
  })),
  oneOf('leads', 'email', 'phone'),
  oneOf('booking_requests', 'student_id', 'student_display_name'),
  oneOf('payments', 'student_id', 'parent_id'),
  ...part('classroom_members', { staff: 'teacher', student: 'student' }),
  ...part('student_group_members', { staff: 'tutor', student: 'student' }),
  ...part('conversation_participants', { staff: 'teacher', student: 'student' }),
  {
    table: 'members',
    at: 'rate_band_id',
    words: 'must be null unless role is student',
    broken: `s.rate_band_id IS NOT NULL AND s.role <> 'student'`,
  },
  {
    table: 'members',
    at: 'user_id',
    words: 'is a parent here, who cannot be a student too',
    join: (after) => `JOIN ${after('parents', 'user_id')} p ON p.user_id = s.user_id`,
    broken: `s.role = 'student'`,
  },
  {
    table: 'parents',
    at: 'user_id',
    words: 'is a student here, who cannot be a parent too',
    join: (after) => `JOIN ${after('members', 'user_id', 'role')} m ON m.user_id = s.user_id`,
    broken: `m.role = 'student'`,
  },
  {
    table: 'sessions',
    at: 'status',
    words: 'must be pending or cancelled without tutor_id',
    broken: `s.tutor_id IS NULL AND s.status IN ('scheduled', 'completed')`,
  },
  {
    table: 'sessions',
    at: 'status',
    words: 'must not be completed before starts_at',
    broken: `s.status = 'completed' AND s.starts_at > now()`,
  },
  {
    table: 'availabilities',
    at: 'start_time',
    words: 'must not overlap other hours of the same day',
    join: (after) => `JOIN ${after('availabilities', 'tutor_id', 'day_of_week', 'timezone', 'start_time', 'end_time')} o
      USING (tutor_id, day_of_week, timezone)`,
    broken: `o.line < s.line AND o.start_time COLLATE "C" < s.end_time AND s.start_time COLLATE "C" < o.end_time`,
  },
  {
    table: 'time_off',
    at: 'starts_on',
    words: 'must not repeat earlier time off',
    join: (after) =>
      `JOIN ${after('time_off', 'tutor_id', 'starts_on', 'ends_on', 'note')} o USING (tutor_id, starts_on, ends_on)`,
    broken: 'o.line < s.line AND o.note IS NOT DISTINCT FROM s.note',
  },
  {
    table: 'messages',
    at: 'sender_id',
    words: 'does not take part in this conversation',
    join: (after) => `LEFT JOIN ${after('conversation_participants', 'conversation_id', 'user_id')} p
      ON p.conversation_id = s.conversation_id AND p.user_id = s.sender_id`,
    broken: 's.sender_id IS NOT NULL AND p.user_id IS NULL',
  },
  {
    table: 'messages',
    at: 'reply_to_id',
    words: 'is in another conversation',
    join: (after) => `JOIN ${after('messages', 'id', 'conversation_id')} r ON r.id = s.reply_to_id`,
    broken: 'r.conversation_id <> s.conversation_id',
  },
  ...['payouts', 'mileage_trips', 'expense_claims'].map((table) => ({ table, ...TUTORS_SESSION })),
  ...['mileage_trips', 'expense_claims'].map((table) => ({
    table,
    at: 'session_id',
    words: 'must be a session that has begun',
    join: session,
    broken: 'x.starts_at > now()',
  })),
  {
    table: 'payouts',
    at: 'session_id',
    words: 'must be a completed session',
    join: session,
    broken: `x.status <> 'completed'`,
  },
  {
    table: 'invoices',
    at: 'amount_due_cents',
    words: 'must be the sum of its lines while status is draft',
    join: (after) => `LEFT JOIN (SELECT invoice_id, sum(amount_cents) AS cents
      FROM ${after('invoice_lines', 'invoice_id', 'amount_cents')} l GROUP BY invoice_id) l ON l.invoice_id = s.id`,
    broken: `s.status = 'draft' AND s.amount_due_cents <> coalesce(l.cents, 0)`,
  },
  {
    table: 'invoice_lines',
    at: 'invoice_id',
    words: 'is there already: lines come with their invoice',
    join: (after) => `JOIN ${after('invoices', 'id')} i ON i.id = s.invoice_id`,
    broken: 'i.line = 0',
  },
  ...Object.entries(DAYS).map(([table, at]) => ({
    table,
    at,
    words: 'must not be later than today',
    broken: `s.${at} > ${TODAY}`,
  })),
  {
    table: 'payments',
    at: 'invoice_id',
    words: 'is not the payer’s',
    join: (after) => `JOIN ${after('invoices', 'id', 'student_id')} x ON x.id = s.invoice_id
      LEFT JOIN ${after('parent_students', 'parent_id', 'student_id')} c ON c.parent_id = s.parent_id AND c.student_id = x.student_id`,
    broken: 'x.student_id IS DISTINCT FROM s.student_id AND c.parent_id IS NULL',
  },
  {
    table: 'payments',
    at: 'session_id',
    words: 'is a session in which the payer has no place',
    join: (after) =>
      `LEFT JOIN (${payersOf(after)}) p ON p.session_id = s.session_id AND p.payer = coalesce(s.student_id, s.parent_id)`,
    broken: 's.session_id IS NOT NULL AND coalesce(s.student_id, s.parent_id) IS NOT NULL AND p.payer IS NULL',
  },
];
