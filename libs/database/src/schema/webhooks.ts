import { secure } from './rules.js';

/** Why an endpoint is disabled: somebody asked for it, it answered 410, it failed for five days, or its maker or their key has gone. */
const REASONS = `('request', 'gone', 'failing', 'maker_left')`;

/** Where organizations have the events of their feed sent. */
export const webhooks = /* sql */ `
  -- event_types: empty for all; "session.*" for all of a resource. position: the number of the last event looked at; the
  -- deliveries up to it are in the outbox. look_at: when to look for further ones; null until an event comes or a slot is free. failing_since: the
  -- first failure since the last success; failed_at the latest one. warned_at, told_at: when the owners were mailed that
  -- it fails, and that it was disabled.
  CREATE TABLE webhook_endpoints (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    url text NOT NULL CHECK (char_length(url) <= 2000 AND url ~ '^https?://[^/?#@]+([/?#]|$)'),
    event_types text[] NOT NULL DEFAULT '{}' CHECK (cardinality(event_types) <= 200),
    description text CHECK (char_length(description) <= 500),
    secret bytea NOT NULL,
    previous_secret bytea,
    previous_until timestamptz(3),
    position bigint NOT NULL DEFAULT 0,
    look_at timestamptz(3),
    failing_since timestamptz(3),
    failed_at timestamptz(3),
    warned_at timestamptz(3),
    disabled_at timestamptz(3),
    disabled_reason text CHECK (disabled_reason IN ${REASONS}),
    told_at timestamptz(3),
    created_by uuid REFERENCES users,
    api_key_id uuid,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now(),
    UNIQUE (organization_id, id),
    FOREIGN KEY (organization_id, api_key_id) REFERENCES api_keys (organization_id, id),
    CHECK ((previous_secret IS NULL) = (previous_until IS NULL)),
    CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL)),
    CHECK ((failing_since IS NULL) = (failed_at IS NULL))
  );
  CREATE INDEX webhook_endpoints_key ON webhook_endpoints (organization_id, api_key_id) WHERE api_key_id IS NOT NULL;
  CREATE INDEX webhook_endpoints_organization ON webhook_endpoints (organization_id, created_at, id);
  CREATE INDEX webhook_endpoints_looks ON webhook_endpoints (look_at) WHERE look_at IS NOT NULL AND disabled_at IS NULL;
  CREATE INDEX webhook_endpoints_untold ON webhook_endpoints (id)
    WHERE told_at IS NULL AND disabled_reason IN ('gone', 'failing', 'maker_left');
  CREATE INDEX webhook_endpoints_failing ON webhook_endpoints (failing_since) WHERE failing_since IS NOT NULL;
  CREATE TRIGGER hold_webhooks BEFORE UPDATE ON webhook_endpoints FOR EACH ROW
    WHEN ((OLD.disabled_at IS NULL) <> (NEW.disabled_at IS NULL) OR OLD.url <> NEW.url) EXECUTE FUNCTION hold_webhooks();
  CREATE TRIGGER drop_webhooks BEFORE DELETE ON webhook_endpoints FOR EACH ROW EXECUTE FUNCTION hold_webhooks();
  CREATE TRIGGER change_queue AFTER UPDATE ON webhook_endpoints FOR EACH ROW
    WHEN ((OLD.failing_since IS NULL) <> (NEW.failing_since IS NULL)) EXECUTE FUNCTION change_queue();
  CREATE TRIGGER end_webhooks_of_key AFTER UPDATE ON api_keys FOR EACH ROW
    WHEN (OLD.revoked_at IS DISTINCT FROM NEW.revoked_at OR OLD.replaced_by IS DISTINCT FROM NEW.replaced_by)
    EXECUTE FUNCTION end_webhooks_of_key();
  ${secure('webhook_endpoints')}

  -- The number of the last event for which the endpoints of its organization got their look_at; one row.
  CREATE TABLE webhook_progress (
    id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    number bigint NOT NULL
  );
`;
