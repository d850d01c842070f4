import { emitters } from './emits.js';
import { ownerOnly, secure } from './rules.js';

/** What is told of changes: first as the triggers write it, then as it is read. */
export const events = /* sql */ `
  -- One row for each row that changed, written by its transaction: see emits(). seq is taken after the row's lock. op: the
  -- record has come into the organization's sight, stays in it, or has left it. within: the session whose own event tells
  -- enough. number_events makes events of them once their transaction has committed.
  CREATE TABLE event_changes (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    transaction xid8 NOT NULL DEFAULT pg_current_xact_id(),
    began timestamptz(3) NOT NULL DEFAULT now(),
    told timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
    organization_id uuid NOT NULL,
    resource text NOT NULL,
    resource_id uuid NOT NULL,
    op text NOT NULL CHECK (op IN ('I', 'U', 'D')),
    verb text,
    changed text[] NOT NULL,
    about jsonb,
    within uuid
  );
  ${secure('event_changes')}

  -- The feed. number: given after the commit, ever rising, so that nobody who has read up to one misses what comes later.
  CREATE TABLE events (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    organization_id uuid NOT NULL REFERENCES organizations,
    number bigint NOT NULL UNIQUE,
    type text NOT NULL,
    resource text NOT NULL,
    resource_id uuid NOT NULL,
    timestamp timestamptz(3) NOT NULL,
    data jsonb NOT NULL
  );
  CREATE INDEX events_feed ON events (organization_id, number);
  CREATE INDEX events_old ON events (timestamp);
  ${secure('events')}

  -- The number that was given last. One row.
  CREATE TABLE event_counter (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    number bigint NOT NULL
  );
  INSERT INTO event_counter (number) VALUES (0);
  ${ownerOnly('event_counter')}
`;

/** Tables whose changes nobody is told of, by reason. */
export const UNTOLD = {
  'No record of the API: people sign in with it': [
    ...[
      'credentials',
      'passkeys',
      'device_cookies',
      'portal_sessions',
      'password_links',
      'password_link_requests',
      'sign_in_attempts',
    ],
  ],
  'Keys, and what they have done: owners and the request log are told': [
    ...['api_keys', 'api_key_handovers', 'idempotency_keys', 'audit_log', 'refusals', 'request_log'],
  ],
  'Who is told of changes is not told of being told': [
    ...['events', 'event_changes', 'event_counter', 'outbox', 'webhook_endpoints', 'webhook_progress', 'rebuild_hooks'],
  ],
  'Counters and copies; what they copy tells': [
    'list_counts',
    'session_students',
    'suppressions',
    'worker_heartbeats',
    'migrations',
  ],
  'What its copies show each organization tells': ['results', 'conversations', 'conversation_participants'],
  'Whoever joins by an invite is told of as a person': ['joins'],
  'A file that names one tells': ['uploads'],
  'The operator sets them, for all': ['places', 'isochrones'],
};

/** What can happen, for those who subscribe. */
export interface EventType {
  type: string;
  /** A sentence. */
  says: string;
  resource: string;
}

const capital = (text: string) => text[0]!.toUpperCase() + text.slice(1);

/** All types of events, in the order of their names. */
export function eventTypes(): EventType[] {
  const types = emitters().flatMap(({ resource, noun, verbs, gone = {}, plain }) => [
    ...plain.map((verb) => ({ verb, says: `${capital(noun)} was ${verb}.` })),
    ...Object.entries({ ...verbs, ...gone }).map(([verb, { says }]) => ({ verb, says })),
  ].map(({ verb, says }) => ({ type: verb.includes('.') ? verb : `${resource}.${verb}`, says, resource }))); // prettier-ignore
  return types.sort((a, b) => (a.type < b.type ? -1 : 1));
}
