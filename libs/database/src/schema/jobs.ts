import { MINE_OR_THE_PLATFORMS, secure } from './rules.js';

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
  -- first due; gathered: the payloads of further notices that it takes in, and gathered_count how many there were.
  CREATE TABLE outbox (
    id uuid PRIMARY KEY,
    organization_id uuid REFERENCES organizations,
    topic text NOT NULL CHECK (topic IN ('email', 'rebuild')),
    kind text NOT NULL,
    recipient text NOT NULL,
    payload bytea,
    status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'sent', 'failed', 'dead', 'suppressed')),
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
      CASE topic WHEN 'rebuild' THEN recipient ELSE coalesce(organization_id::text, '') END) STORED,
    gathers_at timestamptz(3),
    gathered bytea[] NOT NULL DEFAULT '{}',
    gathered_count integer NOT NULL DEFAULT 0
  );
  CREATE INDEX outbox_notices ON outbox (organization_id, email_normalized, gathers_at) WHERE gathers_at IS NOT NULL;
  CREATE INDEX outbox_turns ON outbox (topic, owner, due_at) WHERE status IN ('queued', 'failed');
  CREATE INDEX outbox_leased ON outbox (topic, owner) WHERE leased_until IS NOT NULL;
  CREATE INDEX outbox_organization ON outbox (organization_id, created_at);
  CREATE INDEX outbox_finished ON outbox (finished_at) WHERE finished_at IS NOT NULL;
  CREATE INDEX outbox_dead ON outbox (topic, organization_id) WHERE status = 'dead';
  -- What an organization has mailed lately.
  CREATE INDEX outbox_mails ON outbox (organization_id, created_at) INCLUDE (email_normalized, kind) WHERE topic = 'email';
  ${secure('outbox', MINE_OR_THE_PLATFORMS)}

  -- Addresses that a mail server refused for good: nothing is sent there any more, by anybody.
  CREATE TABLE suppressions (
    email_normalized text PRIMARY KEY,
    reason text NOT NULL CONSTRAINT suppressions_reason_code CHECK (reason ~ ${CODE}),
    created_at timestamptz(3) NOT NULL DEFAULT now()
  );

  -- Whose mail to a suppressed address was refused or held back: they may see the suppression and lift it.
  CREATE TABLE suppression_senders (
    organization_id uuid NOT NULL REFERENCES organizations,
    email_normalized text NOT NULL REFERENCES suppressions ON DELETE CASCADE,
    PRIMARY KEY (organization_id, email_normalized)
  );
  ${secure('suppression_senders')}

  -- A worker writes its row every few seconds; readiness looks at the newest. seen_at: when it was last seen able to claim
  -- messages. failed_claims: since it started.
  CREATE TABLE worker_heartbeats (
    worker_id text PRIMARY KEY,
    seen_at timestamptz(3) NOT NULL,
    failed_claims integer NOT NULL DEFAULT 0
  );
`;
