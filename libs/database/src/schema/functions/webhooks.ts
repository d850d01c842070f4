import { AS_OWNER, MINE } from '../rules.js';

/** Deliveries of events to webhook endpoints. */
export const webhooks = /* sql */ `
  -- What waits for an endpoint goes with it; what was tried last stays in the log. While an endpoint is disabled, its deliveries are held. Enabled again, it gets them first, in their order, one
  -- millisecond apart.
  CREATE FUNCTION hold_webhooks() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    IF TG_OP = 'DELETE' THEN
      DELETE FROM outbox WHERE organization_id = OLD.organization_id AND endpoint_id = OLD.id AND topic = 'webhook'
        AND status IN ('queued', 'held', 'failed');
      RETURN OLD;
    END IF;
    IF NEW.disabled_at IS NULL THEN
      NEW.behind := true;
      NEW.failing_since := NULL; NEW.failed_at := NULL; NEW.warned_at := NULL; NEW.told_at := NULL;
      UPDATE outbox o SET status = CASE o.attempts WHEN 0 THEN 'queued' ELSE 'failed' END,
        due_at = now() + h.rank * interval '1 millisecond'
      FROM (SELECT id, row_number() OVER (ORDER BY created_at, due_at) AS rank FROM outbox
        WHERE organization_id = NEW.organization_id AND endpoint_id = NEW.id AND topic = 'webhook' AND status = 'held') h
      WHERE o.id = h.id;
    ELSE
      UPDATE outbox SET status = 'held' WHERE organization_id = NEW.organization_id AND endpoint_id = NEW.id
        AND topic = 'webhook' AND status IN ('queued', 'failed') AND event_id IS NOT NULL
        AND coalesce(leased_until, '-infinity') < now();
    END IF;
    RETURN NEW;
  END $$;

  -- The endpoints that a key has made go to its successor, or wait for an owner once it is revoked.
  CREATE FUNCTION end_webhooks_of_key() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    IF NEW.replaced_by IS NOT NULL THEN
      UPDATE webhook_endpoints SET api_key_id = NEW.replaced_by
      WHERE organization_id = NEW.organization_id AND api_key_id = NEW.id;
    ELSE
      UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = 'maker_left', updated_at = now()
      WHERE organization_id = NEW.organization_id AND api_key_id = NEW.id AND disabled_at IS NULL;
    END IF;
    RETURN NULL;
  END $$;

  -- Queues a delivery again, with all its tries and the same webhook-id; not while one is in progress.
  CREATE FUNCTION replay_webhook(message uuid) RETURNS boolean LANGUAGE sql ${AS_OWNER} AS $$
    WITH again AS (
      UPDATE outbox o SET status = 'queued', attempts = 0, due_at = now(), finished_at = NULL, leased_by = NULL, leased_until = NULL
      WHERE o.${MINE} AND o.id = message AND o.topic = 'webhook' AND coalesce(o.leased_until, '-infinity') < now()
      RETURNING 1)
    SELECT EXISTS (SELECT FROM again)
  $$;
`;
