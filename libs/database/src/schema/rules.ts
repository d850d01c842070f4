import { raw } from 'sql-template-tag';
import { caseless } from '../folding.js';

/** Whether a member is staff, in SQL: an owner, an admin or a tutor. */
export const IS_STAFF = raw(`role <> 'student'`);

/** The most that an amount can be, in cents, so that sums stay far below 2^53. */
export const MOST_CENTS = 1_000_000_000_000;

/** The CHECK of a column with an amount in cents. */
export const amount = (column: string, least = 0): string => `CHECK (${column} BETWEEN ${least} AND ${MOST_CENTS})`;

/** A CHECK that compares columns. */
export interface RowRule {
  table: string;
  check: string;
  /** The column to blame. */
  column: string;
  words: string;
}

const RULES = new Map<string, RowRule>();

/** The column to blame and the words of a {@link rule}; undefined for another CHECK. */
export const wordsOfCheck = (constraint: string): RowRule | undefined => RULES.get(constraint);

/** The rules of a table, for who writes many rows at once and says which one is wrong. */
export const rulesOf = (table: string): RowRule[] => [...RULES.values()].filter((one) => one.table === table);

/**
 * A CHECK that compares columns, with its words for who imports rows: PostgreSQL's own name only the constraint.
 *
 * @param at the column to blame @param words complete "<column>: …"
 */
export function rule(table: string, name: string, check: string, at: string, words: string): string {
  const constraint = `${table}_${name}`;
  RULES.set(constraint, { table, check, column: at, words });
  return `ALTER TABLE ${table} ADD CONSTRAINT ${constraint} CHECK (${check}); COMMENT ON CONSTRAINT ${constraint} ON ${table} IS '${at}: ${words}';`;
}

/** The rule of a `meeting_url`. */
export const meetingUrl = (table: string): string =>
  rule(
    table,
    'meeting_url',
    `meeting_url ~* '^https://[^[:space:]]+$' AND char_length(meeting_url) <= 500`,
    'meeting_url',
    'must be an https:// address of at most 500 characters',
  );

/**
 * For a list that is newest first and has a filter by a range of another column: an index of both, which yields the rows of a range in the list's
 * order. One of the order alone would be read past all that is newer than the range, one of the column alone by all that is in it.
 * @param include the row's id, and what else the list filters by
 */
export const inRange = (table: string, column: string, include: string): string =>
  `CREATE INDEX ${table}_range ON ${table} USING gist (organization_id, ${column}, created_at) INCLUDE (${include}) WHERE ${column} IS NOT NULL;`;

/** SQL for that order, as a distance that the index knows: it cannot be walked backward. No row is created after the year 9999. */
export const newestFirst = (createdAt: string): string =>
  `${createdAt} OPERATOR(extensions.<->) '10000-01-01'::timestamptz`;

/** Names that differ only by case are the same to people. */
export const namedOnce = (table: string): string =>
  `CREATE UNIQUE INDEX ${table}_name ON ${table} (organization_id, ${caseless('name')});`;

/** The condition for rows of the transaction's organization. */
export const MINE = 'organization_id = current_organization_id()';

/** The same, and with the platform-blog capability rows of the platform, which belong to no organization. */
export const MINE_OR_THE_PLATFORMS = `${MINE}
  OR (organization_id IS NULL AND current_setting('app.platform_blog', true) = 'on')`;

/**
 * For rows whose organization is derived, and may be none: they can be written, but nobody sees a row without an
 * organization.
 */
export const MINE_OR_NOBODYS = `current_organization_id() IS NOT NULL AND (organization_id IS NULL OR ${MINE})`;

/**
 * Attributes of functions that work across organizations, with the rights of the owner. The word `maintenance` in the
 * search path (no schema has that name) opens the owner's policies. The roles of the processes have no such policy,
 * whatever they set. A custom setting would not do, because only a superuser may attach one to a function. Without jit,
 * because the disabled nodes in the plans of claim_outbox cost enough to compile each claim: 650 ms instead of 1.
 */
export const AS_OWNER = 'SECURITY DEFINER SET search_path = public, maintenance, pg_temp SET jit = off';

/**
 * The same, with only plans that follow the indexes, for what is to cost the same however much there is. PostgreSQL kept a plan that
 * was made for a small table, and read all of it when it had grown: 0.2 s a claim among 100,000 messages. And where it does not know
 * how old is old, it takes a third of the rows to be, and reads the table rather than the index.
 */
export const BY_INDEX = `${AS_OWNER} SET enable_seqscan = off`;

/** True inside those functions, and if the owner turns it on for a dump or a manual correction. */
const MAINTENANCE = `current_setting('search_path') = 'public, maintenance, pg_temp'
  OR current_setting('app.maintenance', true) = 'on'`;

/**
 * The second safeguard: even if a query forgets its condition, a process sees and writes only the rows of the
 * organization that its transaction names, and none if it names none. FORCE makes this apply to the owner, too.
 *
 * @param using SQL condition for the rows that are visible
 * @param check SQL condition for the rows that may be written
 */
export function secure(table: string, using: string = MINE, check: string = using): string {
  return `${ownerOnly(table)} CREATE POLICY tenant ON ${table} USING (${using}) WITH CHECK (${check});`;
}

/** That a group which a row names is seen by the row's organization, or by none: see require_seen_group. @param named SQL about NEW: when it matters */
export const ofSeenGroup = (table: string, named = 'NEW.group_id IS NOT NULL'): string =>
  `CREATE TRIGGER seen_group AFTER INSERT OR UPDATE OF group_id ON ${table}
    FOR EACH ROW WHEN (${named}) EXECUTE FUNCTION require_seen_group();`;

/**
 * Row-level security for rows of people rather than organizations: only the schema's functions reach them. PostgreSQL
 * evaluates policies in reverse order of their names. For the functions, "upkeep" comes first and saves the look-ups of
 * "tenant".
 */
export function ownerOnly(table: string): string {
  return `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY; ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
  CREATE POLICY upkeep ON ${table} TO CURRENT_USER USING (${MAINTENANCE}) WITH CHECK (${MAINTENANCE});`;
}

const ROWS = {
  INSERT: 'REFERENCING NEW TABLE AS after',
  UPDATE: 'REFERENCING OLD TABLE AS before NEW TABLE AS after',
  DELETE: 'REFERENCING OLD TABLE AS before',
  TRUNCATE: '',
};

/** Calls a function once for each statement, with its old rows (`before`) and its new rows (`after`). */
export function onRows(table: string, name: string, events: (keyof typeof ROWS)[], call = `${name}()`): string {
  const triggers = events.map(
    (event) => `CREATE TRIGGER ${name}_on_${event.toLowerCase()} AFTER ${event} ON ${table} ${ROWS[event]}
    FOR EACH STATEMENT EXECUTE FUNCTION ${call};`,
  );
  return triggers.join('\n  ');
}

/** Calls a function once for each statement, with its rows as `changed`; after an UPDATE for the old, then the new. */
export function onChanged(table: string, name: string): string {
  const triggers = [
    ['insert', 'INSERT', 'NEW'],
    ['update_from', 'UPDATE', 'OLD'],
    ['update_to', 'UPDATE', 'NEW'],
    ['delete', 'DELETE', 'OLD'],
  ].map(
    ([suffix, event, rows]) => `CREATE TRIGGER ${name}_on_${suffix} AFTER ${event} ON ${table}
    REFERENCING ${rows} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION ${name}();`,
  );
  return triggers.join('\n  ');
}

const WAITING = { lists: [`CASE WHEN status = 'logged' THEN status END`], each: '1' };

/**
 * Tables whose rows are counted: SQL for the lists that a row is in, none where it is null, and for what it counts there.
 * Counters are named `<table>:<list>`.
 */
export const COUNTED = {
  members: {
    lists: [
      `role || ':' || status`,
      `CASE WHEN ${IS_STAFF.sql} AND status = 'accepted' THEN 'teaching:' || teaching END`,
    ],
    each: '1',
  },
  tutor_profiles: { lists: [`CASE WHEN is_published THEN 'published' ELSE 'unpublished' END`], each: '1' },
  parents: { lists: [`CASE WHEN enrolled_at IS NOT NULL THEN 'enrolled:' || status END`], each: '1' },
  invoices: { lists: [`CASE WHEN status = 'open' THEN 'owed' END`], each: 'amount_due_cents - amount_paid_cents' },
  mileage_trips: WAITING,
  expense_claims: WAITING,
};

/** Keeps the counters of a table's rows: see list_counts. */
export function counted(table: keyof typeof COUNTED): string {
  const { lists, each } = COUNTED[table];
  const call = `count_in_lists($$${lists.join(', ')}$$, $$${each}$$)`;
  return onRows(table, 'count', ['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE'], call);
}
