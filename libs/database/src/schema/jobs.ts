import { MINE_OR_THE_PLATFORMS, onRows, ownerOnly, secure } from './rules.js';

/** A code from libs/jobs/src/problems.ts, never text from a server or a library. */
const CODE = `'^[a-z][a-z0-9_]{0,63}$'`;

/** What the worker does: messages to send, and addresses that refuse mail. */
export const jobs = /* sql */ `
  -- Work that a write has promised, committed with it. payload is sealed: it holds links. recipient is an email address
  -- or, for a rebuild, what is rebuilt (organization:<id> or brand:<name>). invite_id: of the invite that a mail carries,
  -- without a foreign key, since either may be purged first. email_normalized: a mail's recipient as addresses are
  -- compared. link_expires_at: null for a mail without a link, and for a link that does not end. owner: whose turn a
  -- message takes: its organization's, or for a rebuild that of the site whose hook is called. Mails about people's own
  -- accounts have no organization; together they are served like one. gathers_at: of a notice to a manager, when it was
  -- first due; gathered: the payloads of further notices that it takes in; gathered_count how many there were, and
  -- gathered_kinds how many of each kind, its own included.
  -- A delivery of an event to a webhook endpoint is such a message, too: recipient is the endpoint, kind the event's type,
  -- and held means that it waits until the endpoint is enabled. tried_at and what follows tell how its last try ended;
  -- answer is the beginning of the response. event_id: null for a test; without a foreign key, since events are purged.
  -- A mail to a family has no payload: about_id is what it is about, such as an invoice, and it is written when it is sent, if that still holds.
  -- family_at: from when on it may be sent, by which the day's allowance counts it; unproven: to an address that nobody has
  -- shown to read. Such mails have a turn of their own, so that no invite waits for them.
  CREATE TABLE outbox (
    id uuid PRIMARY KEY,
    organization_id uuid REFERENCES organizations,
    topic text NOT NULL CHECK (topic IN ('email', 'rebuild', 'webhook')),
    kind text NOT NULL,
    recipient text NOT NULL,
    payload bytea,
    status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'held', 'sent', 'failed', 'dead', 'suppressed')),
    attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    due_at timestamptz(3) NOT NULL DEFAULT now(),
    leased_by text,
    leased_until timestamptz(3),
    last_error text CONSTRAINT outbox_last_error_code CHECK (last_error ~ ${CODE}),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    finished_at timestamptz(3),
    invite_id uuid,
    email_normalized text,
    link_expires_at timestamptz(3),
    owner text COLLATE "C" NOT NULL GENERATED ALWAYS AS (
      CASE WHEN topic = 'rebuild' THEN recipient WHEN family_at IS NOT NULL THEN 'families:' || organization_id
        ELSE coalesce(organization_id::text, '') END) STORED,
    gathers_at timestamptz(3),
    gathered bytea[] NOT NULL DEFAULT '{}',
    gathered_count integer NOT NULL DEFAULT 0,
    gathered_kinds jsonb NOT NULL DEFAULT '{}',
    endpoint_id uuid GENERATED ALWAYS AS (CASE topic WHEN 'webhook' THEN recipient::uuid END) STORED,
    event_id uuid CHECK (event_id IS NULL OR topic = 'webhook'),
    tried_at timestamptz(3),
    response_status integer,
    duration_ms integer,
    answer text CHECK (char_length(answer) <= 2048),
    about_id uuid,
    family_at timestamptz(3),
    unproven boolean NOT NULL DEFAULT false,
    CHECK (family_at IS NOT NULL OR about_id IS NULL AND NOT unproven)
  );
  CREATE INDEX outbox_family ON outbox (organization_id, family_at) WHERE family_at IS NOT NULL;
  CREATE INDEX outbox_family_unproven ON outbox (organization_id, family_at) WHERE unproven;
  CREATE INDEX outbox_about ON outbox (organization_id, about_id, created_at, id) WHERE about_id IS NOT NULL;
  CREATE INDEX outbox_status ON outbox (topic, status, created_at, id);
  CREATE INDEX outbox_notices ON outbox (organization_id, email_normalized, gathers_at) WHERE gathers_at IS NOT NULL;
  CREATE INDEX outbox_organization ON outbox (organization_id, topic, created_at, id) INCLUDE (email_normalized, kind);
  CREATE INDEX outbox_organization_status ON outbox (organization_id, topic, status, created_at, id) INCLUDE (endpoint_id);
  CREATE INDEX outbox_finished ON outbox (topic, finished_at) WHERE finished_at IS NOT NULL;
  CREATE INDEX outbox_dead ON outbox (topic) WHERE status = 'dead' AND last_error IS DISTINCT FROM 'mailbox_unknown';
  CREATE INDEX outbox_rebuilds ON outbox (recipient, created_at, id) WHERE topic = 'rebuild';
  -- An endpoint is sent an event once.
  CREATE UNIQUE INDEX outbox_endpoint_event ON outbox (organization_id, endpoint_id, event_id) WHERE event_id IS NOT NULL;
  CREATE INDEX outbox_webhooks_endpoint ON outbox (organization_id, endpoint_id, created_at, id) INCLUDE (status) WHERE topic = 'webhook';
  CREATE INDEX outbox_webhooks_waiting ON outbox (endpoint_id, status, due_at)
    WHERE topic = 'webhook' AND status IN ('queued', 'held', 'failed');
  -- What can be claimed, and what is being tried. The last ones: of indexes that cost as much, as all do while the table is
  -- empty, PostgreSQL takes the newest.
  CREATE INDEX outbox_waiting ON outbox (topic, owner, due_at) WHERE status IN ('queued', 'failed') AND leased_until IS NULL;
  CREATE INDEX outbox_leased ON outbox (topic, owner) WHERE leased_until IS NOT NULL;
  CREATE INDEX outbox_leases ON outbox (topic, leased_until) WHERE leased_until IS NOT NULL;
  ${secure('outbox', MINE_OR_THE_PLATFORMS)}
  ${onRows('outbox', 'take_turns', ['INSERT', 'UPDATE'])}

  -- Whose messages are claimed next: the owners with some that wait, in the order of "at". That is when the first of them is
  -- due, or when the owner was served last, so that it is behind all who wait. Who makes a message wait adds a turn, unless
  -- the owner has one: an owner with two is served twice, and loses one by it. Claims alone move turns and remove them. Deliveries to
  -- endpoints that fail have a queue of their own.
  CREATE TABLE outbox_turns (
    seq bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    queue text NOT NULL CHECK (queue IN ('email', 'rebuild', 'webhook', 'failing')),
    owner text COLLATE "C" NOT NULL,
    at timestamptz(3) NOT NULL
  );
  CREATE INDEX outbox_turns_next ON outbox_turns (queue, at, seq);
  CREATE INDEX outbox_turns_owner ON outbox_turns (queue, owner, at);
  ${ownerOnly('outbox_turns')}

  -- Addresses of which the mail server said, to this organization's mail, that there is no such mailbox. refused_at: the
  -- first time; null if only other organizations' mail was refused and this one's held back. suppressed_until: set by a
  -- second refusal, at least a day later. allowed_at: a manager knows better, until the next refusal.
  CREATE TABLE suppressions (
    organization_id uuid NOT NULL REFERENCES organizations,
    email_normalized text NOT NULL,
    refused_at timestamptz(3),
    suppressed_until timestamptz(3),
    allowed_at timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, email_normalized)
  );
  CREATE INDEX suppressions_address ON suppressions (email_normalized) WHERE suppressed_until IS NOT NULL;
  CREATE INDEX suppressions_age ON suppressions (created_at);
  CREATE INDEX suppressions_refused ON suppressions (refused_at) WHERE refused_at IS NOT NULL;
  ${secure('suppressions')}

  -- A worker writes its row every few seconds; readiness looks at the newest. seen_at: when it was last seen able to claim
  -- messages. failed_claims: since it started. bytes: of the organizations that fill most of the database, by id, estimated
  -- by one of the workers at sampled_at.
  CREATE TABLE worker_heartbeats (
    worker_id text PRIMARY KEY,
    seen_at timestamptz(3) NOT NULL,
    failed_claims integer NOT NULL DEFAULT 0,
    bytes jsonb,
    sampled_at timestamptz(3)
  );
`;
