/** A kind of records that an organization can have deleted once they are old. */
export interface KeptKind {
  /** For owners: what it is, and what goes. */
  label: string;
  says: string;
  /** The months that docs/privacy.md recommends; `on`: for new organizations from the start. */
  months: number;
  on?: true;
  table: string;
  /** SQL: where its rows `t` are looked for, unless that is the table alone. */
  from?: string;
  /** SQL: the moment of a row from which the months count. */
  since: string;
  /** SQL about `t`: which rows of the organization `here`. */
  where: string;
  /** Columns of `t` that name somebody whom an owner may hold, or hold an address of theirs. */
  names: string[];
  addresses?: string[];
  /** SQL about `t`: what else keeps it while one of `held` is held. */
  kept?: string;
  /** SQL: queries that do something with the `due` rows; `gone` are those of which it was done. By default they are deleted. */
  does?: string;
}

const OURS = 't.organization_id = here';
const OF_WHO_HAS_LEFT = (table: string, person: string) => `departures(here) d JOIN ${table} t ON ${person} = d.person`;

/** Nobody replies to it. */
const UNANSWERED = (message: string) => `NOT EXISTS (SELECT FROM messages r WHERE r.organization_id = here AND r.reply_to_id = ${message}.id)`; // prettier-ignore

/**
 * What organizations can have deleted after some months: the functions that count and delete it, the owners' page and the test
 * of all kinds follow from this. docs/privacy.md has the recommendations.
 */
export const KEPT = {
  enquiries: {
    label: 'Enquiries that came to nothing',
    says: 'Leads that nobody became a student or parent from, counted from their last change.',
    ...{ months: 24, on: true, table: 'leads', since: 't.updated_at', where: `${OURS} AND t.status <> 'converted'` },
    ...{ names: ['assigned_tutor_id'], addresses: ['email_normalized'] },
  },
  applications: {
    label: 'Requests that were declined',
    says: 'Booking requests that were declined or expired, counted from then.',
    ...{ months: 12, on: true, table: 'booking_requests', since: 't.updated_at' },
    ...{ where: `${OURS} AND t.status IN ('declined', 'expired')`, names: ['student_id'] },
  },
  messages: {
    label: 'Messages',
    says: 'Messages in conversations, counted from when they were written. One that a younger one replies to loses its text.',
    ...{ months: 36, table: 'messages', since: 't.created_at', names: ['sender_id'] },
    where: `${OURS} AND (t.deleted_at IS NULL OR t.content <> '(deleted)' OR ${UNANSWERED('t')})`,
    kept: `EXISTS (SELECT FROM conversation_participants p WHERE p.conversation_id = t.conversation_id AND p.user_id = ANY (held))`,
    does: `emptied AS (UPDATE messages m SET content = '(deleted)', deleted_at = coalesce(m.deleted_at, now())
          WHERE m.id IN (SELECT due.id FROM due) AND NOT (${UNANSWERED('m')}) RETURNING 1),
        deleted AS (DELETE FROM messages m WHERE m.id IN (SELECT due.id FROM due) AND ${UNANSWERED('m')} RETURNING 1),
        gone AS (SELECT 1 FROM emptied UNION ALL SELECT 1 FROM deleted)`,
  },
  inbox: {
    label: 'Inbox',
    says: 'What members and visitors wrote to the organization, read or not, counted from when it was written.',
    ...{ months: 24, table: 'inbox_messages', since: 't.created_at', where: OURS },
    ...{ names: ['from_user_id', 'subject_tutor_id'], addresses: ['guest_email'] },
  },
  results: {
    label: 'Results of those who have left',
    says: 'Counted from the end of their membership. A result that another organization is shown of its own student stays.',
    ...{ months: 24, table: 'results', from: OF_WHO_HAS_LEFT('results', 't.student_id'), since: 'd.since' },
    where: `(t.made_by_organization_id = here OR t.made_by_organization_id IS NULL AND EXISTS (SELECT FROM homework h
        WHERE h.id = t.homework_assignment_id AND h.organization_id = here))
      AND NOT EXISTS (SELECT FROM organization_results o WHERE o.result_id = t.id AND o.organization_id <> here)`,
    names: ['student_id'],
  },
  feedback: {
    label: 'Feedback of those who have left',
    says: 'What they said about lessons, counted from the end of their membership; of feedback without a name, of the tutor’s.',
    ...{ months: 24, table: 'session_feedback', since: 'd.since', where: OURS },
    ...{ from: OF_WHO_HAS_LEFT('session_feedback', 'coalesce(t.reviewer_id, t.tutor_id)') },
    names: ['reviewer_id', 'tutor_id'],
  },
} satisfies Record<string, KeptKind>;

export type KeptName = keyof typeof KEPT;

const KINDS = Object.entries<KeptKind>(KEPT);

/** SQL: the rows that are older than `cutoff`, and that nobody holds. */
function due({ table, from = `${table} t`, since, where, names, addresses = [], kept }: KeptKind): string {
  const held = [
    ...names.map((name) => `coalesce(t.${name} = ANY (held), false)`),
    ...addresses.map((name) => `coalesce(lower(t.${name}) = ANY (held_addresses), false)`),
    ...(kept ? [`held <> '{}' AND ${kept}`] : []),
  ];
  return `${from} WHERE ${since} < cutoff AND ${where} AND NOT (${held.join(' OR ')})`;
}

/** As plpgsql: for each kind, its branch. */
const branches = (statement: (kind: KeptKind) => string) =>
  KINDS.map(([name, kind]) => `WHEN '${name}' THEN\n      ${statement(kind)}`).join('\n    ');

/** As plpgsql: how many rows of a kind are too old, and since when. */
export const COUNT_KEPT = branches((kind) => `RETURN QUERY SELECT count(*), min(${kind.since}) FROM ${due(kind)};`);

/** As plpgsql: deletes a portion of them, newest first, so that replies go before what they reply to. */
export const DELETE_KEPT = branches((kind) => {
  const does = kind.does ?? `gone AS (DELETE FROM ${kind.table} x WHERE x.id IN (SELECT due.id FROM due) RETURNING 1)`;
  return `WITH due AS (SELECT t.id FROM ${due(kind)} ORDER BY ${kind.since} DESC LIMIT most FOR UPDATE OF t SKIP LOCKED),
        ${does}
      SELECT count(*) INTO done FROM gone;`;
});

/** The CHECK of a column with the name of a kind. */
export const isKept = (column: string) => `${column} IN (${KINDS.map(([name]) => `'${name}'`).join(', ')})`;
