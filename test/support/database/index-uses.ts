import { RETENTION } from '@app/database';

/**
 * All indexes; derived: those of keys and exclusion constraints, the only one that begins with the columns of a foreign key (for deletes of
 * what it refers to), and those by which what is old is deleted.
 */
export const INDEXES = `
  WITH indexes AS (
    SELECT i.indrelid AS "table", c.relname::text AS name, i.indisunique OR i.indisexclusion AS key,
      ARRAY(SELECT a.attname::text FROM unnest(i.indkey[:i.indnkeyatts - 1]) WITH ORDINALITY k (number, at)
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = number ORDER BY at) AS columns
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = 'public'::regnamespace),
  for_references AS (
    SELECT min(name) AS name FROM (SELECT oid, conrelid, ARRAY(SELECT a.attname::text FROM pg_attribute a
        WHERE a.attrelid = conrelid AND a.attnum = ANY (conkey)) AS columns FROM pg_constraint WHERE contype = 'f') f
    JOIN indexes i ON i."table" = f.conrelid AND i.columns[:cardinality(f.columns)] @> f.columns
    GROUP BY f.oid HAVING count(*) = 1)
  SELECT name, key OR name IN (SELECT name FROM for_references) OR EXISTS (
    SELECT FROM (VALUES ${RETENTION.map(({ table, column }) => `('${table}'::regclass, '${column}')`).join(', ')}) old (kept, age)
    WHERE kept = "table" AND age IN (columns[1], columns[cardinality(columns)])) AS derived
  FROM indexes ORDER BY 1`;

/** What indexes serve that are not derived, nor used by a list or page of the growth spec. */
export const SERVES: Record<string, string> = {
  availabilities_day_keyset: 'deep pages of GET /v1/availabilities?day_of_week',
  blog_posts_scheduled: 'the worker publishes what is due',
  booking_requests_pending: 'the worker ends requests that nobody took up',
  erasures_due: 'the worker erases whose days are over',
  exports_files: 'the worker deletes the files of exports that have ended',
  exports_next: 'the worker prepares the exports that wait',
  invites_declined: 'no mail to somebody who has just declined',
  invoices_serial: 'the next number of an invoice',
  invoices_adjustment_note_serial: 'the next number of a note that takes one back',
  joins_waiting: 'who waits for an approval',
  leads_email: 'a form that is sent twice is one lead',
  messages_age: 'what an organization has deleted once it is old, and how much that is',
  outbox_dead: '/metrics: messages that were given up',
  outbox_leased: 'a claim counts what an organization has leased',
  outbox_leases: 'a claim ends leases that are over',
  outbox_notices: 'notices to one address are gathered',
  outbox_family: 'the allowance of mails to families',
  outbox_family_unproven: 'the same, to addresses that nobody has shown to read',
  outbox_about: 'the last mail with an invoice',
  outbox_rebuilds: 'build hooks of brands: their deliveries and tests',
  outbox_status: 'the operator’s list of messages, and the oldest of each topic for /metrics',
  outbox_turns_next: 'a claim finds whose turn it is',
  outbox_turns_owner: 'who writes a message looks for the turn of its organization',
  outbox_waiting: 'a claim takes the first that is due; a turn is put off to when the next is',
  outbox_webhooks_waiting: 'deliveries of an endpoint: their number, the next, what is held',
  payments_student_credit: 'money of a student that is applied to an invoice',
  payments_taken_back: 'how many payments were taken back in a day, for the notice to owners',
  payouts_taken_back: 'how many payouts were taken back in a day, for the notice to owners',
  questions_catalogue_keyset: 'GET /v1/questions?source of one catalogue among several',
  lesson_tellings_session: 'the worker looks who was told of a lesson that has changed',
  suppressions_address: 'a claim holds back mail to a mailbox that does not exist',
  suppressions_refused: '/metrics, and the stop of mail when too many mailboxes are refused',
  uploads_size: 'what an organization may still upload',
  webhook_endpoints_failing: 'owners are told of endpoints that have failed for a day, and for five',
  webhook_endpoints_looks: 'the worker looks for events that endpoints were not sent yet',
  webhook_endpoints_untold: 'owners are told of endpoints that were disabled',
};
