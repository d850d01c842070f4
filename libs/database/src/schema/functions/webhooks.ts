import { lockNumber } from '../../locks.js';
import { OF_ALL } from '../events.js';
import { AS_OWNER, BY_INDEX, MINE } from '../rules.js';
import { LIVES_HERE } from './moves.js';

/** How many deliveries an endpoint has in the outbox at a time, and how many events are looked at for it in one go. */
const SLOTS = 10;
const PORTION = 1000;

/** A failing endpoint whose slots are taken is tried with one further event after a quarter of the time that it has failed. */
const PROBE = `least(greatest((now() - e.failing_since) / 4, interval '5 seconds'), interval '10 minutes')`;

/** Whether an endpoint wants an event, as SQL. @param event @param endpoint their aliases */
export const wants = (endpoint: string, event: string): string =>
  `(${endpoint}.event_types = '{}' OR ${event}.type = ANY (${endpoint}.event_types)
  OR split_part(${event}.type, '.', 1) || '.*' = ANY (${endpoint}.event_types))`;

/** Faults of this service, which do not count against an endpoint. */
const OURS = `('secret_unreadable', 'internal_error', 'event_expired')`;

/** Deliveries of events to webhook endpoints. */
export const webhooks = /* sql */ `
  -- What waits for an endpoint goes with it; what was tried last stays in the log. While an endpoint is disabled, its
  -- deliveries are held. Enabled again, or at another URL, it gets them first, in their order, one millisecond apart.
  CREATE FUNCTION hold_webhooks() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    IF TG_OP = 'DELETE' THEN
      DELETE FROM outbox WHERE topic = 'webhook' AND endpoint_id = OLD.id AND status IN ('queued', 'held', 'failed');
      RETURN OLD;
    END IF;
    IF NEW.disabled_at IS NULL THEN
      NEW.look_at := now();
      NEW.failing_since := NULL; NEW.failed_at := NULL; NEW.warned_at := NULL; NEW.told_at := NULL;
      UPDATE outbox o SET status = CASE o.attempts WHEN 0 THEN 'queued' ELSE 'failed' END,
        due_at = CASE WHEN o.leased_until > now() THEN o.due_at ELSE now() - h.rank * interval '1 millisecond' END
      FROM (SELECT id, row_number() OVER (ORDER BY created_at DESC, due_at DESC) AS rank FROM outbox
        WHERE topic = 'webhook' AND endpoint_id = NEW.id AND status IN ('held', 'failed')) h
      WHERE o.id = h.id;
    ELSIF OLD.disabled_at IS NULL THEN
      -- Those that are being tried, too: whoever tries them says how they end.
      UPDATE outbox SET status = 'held' WHERE topic = 'webhook' AND endpoint_id = NEW.id
        AND status IN ('queued', 'failed') AND event_id IS NOT NULL;
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

  -- Makes deliveries of events, in the order of the feed, as far as endpoints have slots. A slot is taken by what is due or
  -- being tried, and while an endpoint fails by what waits for its next try, too. Of an event that comes, only the
  -- endpoints of its organization are looked at, so that nothing new costs nothing however many endpoints there are.
  -- @returns how many deliveries were made, and for how many endpoints there is more to look at
  CREATE FUNCTION fill_webhooks() RETURNS TABLE (made bigint, more bigint) LANGUAGE plpgsql ROWS 1 ${BY_INDEX} AS $$
  DECLARE seen bigint; last bigint; e webhook_endpoints; slots integer; probe timestamptz; count bigint; further boolean;
  BEGIN
    made := 0; more := 0;
    -- One at a time: an endpoint's look_at is set by whoever ends a try, and unset here alone.
    IF NOT pg_try_advisory_xact_lock(${lockNumber('deliveries of webhooks')}) THEN RETURN NEXT; RETURN; END IF;
    seen := coalesce((SELECT p.number FROM webhook_progress p), 0);
    last := (SELECT max(v.number) FROM (SELECT number FROM events WHERE ${OF_ALL} > seen ORDER BY ${OF_ALL} LIMIT 5000) v);
    IF last IS NOT NULL THEN
      UPDATE webhook_endpoints w SET look_at = now() WHERE w.look_at IS NULL AND w.disabled_at IS NULL AND w.organization_id IN
        (SELECT DISTINCT v.organization_id FROM events v WHERE v.${OF_ALL} > seen AND v.${OF_ALL} <= last);
      INSERT INTO webhook_progress (number) VALUES (last) ON CONFLICT (id) DO UPDATE SET number = excluded.number;
    END IF;
    FOR e IN SELECT * FROM webhook_endpoints w WHERE w.look_at <= now()::timestamptz(3) AND w.disabled_at IS NULL
        AND ${LIVES_HERE('w.organization_id')}
      ORDER BY w.look_at LIMIT 100 FOR UPDATE SKIP LOCKED
    LOOP
      slots := ${SLOTS} - (SELECT count(*) FROM (SELECT FROM outbox WHERE topic = 'webhook' AND endpoint_id = e.id
          AND status = 'queued' AND event_id IS NOT NULL LIMIT ${SLOTS}) o)
        - CASE WHEN e.failing_since IS NULL THEN (SELECT count(*) FROM outbox WHERE topic = 'webhook'
            AND owner = e.organization_id::text AND leased_until IS NOT NULL AND endpoint_id = e.id AND status = 'failed')
          ELSE (SELECT count(*) FROM (SELECT FROM outbox WHERE topic = 'webhook' AND endpoint_id = e.id
            AND status = 'failed' LIMIT ${SLOTS}) o) END;
      IF slots <= 0 AND e.failing_since IS NOT NULL THEN
        probe := (SELECT o.created_at FROM outbox o WHERE o.organization_id = e.organization_id AND o.topic = 'webhook'
          AND o.endpoint_id = e.id ORDER BY o.created_at DESC LIMIT 1) + ${PROBE};
        IF probe <= now() THEN
          slots := 1;
        ELSE
          UPDATE webhook_endpoints SET look_at = CASE WHEN EXISTS (SELECT FROM events v
            WHERE v.organization_id = e.organization_id AND v.number > e.position) THEN probe END WHERE id = e.id;
          CONTINUE;
        END IF;
      END IF;
      WITH portion AS (SELECT v.id, v.number, v.type FROM events v WHERE v.organization_id = e.organization_id
          AND v.number > e.position ORDER BY v.number LIMIT CASE WHEN slots > 0 THEN ${PORTION} ELSE 0 END),
        wanted AS (SELECT v.*, row_number() OVER (ORDER BY v.number) AS rank FROM portion v WHERE ${wants('e', 'v')}),
        upto AS (SELECT coalesce((SELECT w.number FROM wanted w WHERE w.rank = slots), max(p.number)) AS number,
          count(*) = ${PORTION} AND NOT EXISTS (SELECT FROM wanted w WHERE w.rank = slots) AS further FROM portion p),
        added AS (INSERT INTO outbox (id, organization_id, topic, kind, recipient, event_id, due_at)
          SELECT gen_random_uuid(), e.organization_id, 'webhook', w.type, e.id, w.id, now() + (w.rank - slots) * interval '1 millisecond'
          FROM wanted w WHERE w.rank <= slots ON CONFLICT DO NOTHING RETURNING 1)
      UPDATE webhook_endpoints w SET position = coalesce(u.number, w.position), look_at = CASE WHEN u.further THEN now() END
      FROM upto u WHERE w.id = e.id RETURNING (SELECT count(*) FROM added), u.further INTO count, further;
      made := made + count;
      more := more + further::integer;
    END LOOP;
    RETURN NEXT;
  END $$;

  -- Where a delivery goes, with the secrets that are valid now, sealed; and its event, unless it is a test or the event has been purged.
  CREATE FUNCTION webhook_call(message uuid) RETURNS TABLE (url text, secret bytea, previous_secret bytea, slug text,
    id uuid, type text, "timestamp" timestamptz, resource text, resource_id uuid, data jsonb)
    LANGUAGE sql STABLE ROWS 1 ${AS_OWNER} AS $$
    SELECT e.url, e.secret, CASE WHEN e.previous_until > now() THEN e.previous_secret END, g.slug,
      v.id, v.type, v.timestamp, v.resource, v.resource_id, v.data
    FROM outbox o JOIN webhook_endpoints e ON e.id = o.endpoint_id JOIN organizations g ON g.id = o.organization_id
    LEFT JOIN events v ON v.id = o.event_id WHERE o.id = message
  $$;

  -- Ends a try of a delivery, as finish_outbox does, with what the receiver answered. The endpoint has a slot to fill. 410
  -- disables it. A failure that follows two days without a try begins anew, or a quiet endpoint would be disabled by its
  -- first failure after a long time.
  CREATE FUNCTION finish_webhook(message uuid, worker text, outcome text, problem text, again_in interval,
    status integer, took integer, said text) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE e webhook_endpoints; is_test boolean;
  BEGIN
    SELECT w.* INTO e FROM webhook_endpoints w WHERE w.id = (SELECT o.endpoint_id FROM outbox o WHERE o.id = message)
      FOR UPDATE;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE outbox o SET tried_at = now(), response_status = finish_webhook.status, duration_ms = took, answer = said
    WHERE o.id = message AND o.leased_by = worker RETURNING o.event_id IS NULL INTO is_test;
    IF NOT FOUND THEN RETURN false; END IF;
    PERFORM finish_outbox(message, worker, CASE WHEN outcome = 'failed' AND e.disabled_at IS NOT NULL AND NOT is_test
      THEN 'held' ELSE outcome END, problem, again_in);
    IF outcome = 'sent' THEN
      UPDATE webhook_endpoints SET look_at = now(), failing_since = NULL, failed_at = NULL, warned_at = NULL WHERE id = e.id;
    ELSIF is_test OR problem IN ${OURS} THEN
      UPDATE webhook_endpoints SET look_at = now() WHERE id = e.id;
    ELSE
      UPDATE webhook_endpoints w SET look_at = now(), failed_at = now(),
        failing_since = CASE WHEN w.failed_at > now() - interval '2 days' THEN w.failing_since ELSE now() END,
        warned_at = CASE WHEN w.failed_at > now() - interval '2 days' THEN w.warned_at END
      WHERE w.id = e.id;
    END IF;
    IF finish_webhook.status = 410 THEN
      UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = 'gone', updated_at = now()
      WHERE id = e.id AND disabled_at IS NULL;
    END IF;
    RETURN true;
  END $$;

  -- Endpoints of which managers are to be told: that have failed for a day, for five days, were disabled by an answer or
  -- whose key has expired, or was revoked while they were being made.
  CREATE FUNCTION troubled_webhooks(most integer) RETURNS TABLE (id uuid, organization_id uuid)
    LANGUAGE sql STABLE ${AS_OWNER} AS $$
    (SELECT e.id, e.organization_id FROM webhook_endpoints e WHERE e.disabled_at IS NULL AND ${LIVES_HERE('e.organization_id')}
        AND e.failing_since <= now() - CASE WHEN e.warned_at IS NULL THEN interval '1 day' ELSE interval '5 days' END LIMIT most)
    UNION ALL (SELECT e.id, e.organization_id FROM webhook_endpoints e
      WHERE e.told_at IS NULL AND e.disabled_reason IN ('gone', 'failing', 'maker_left')
        AND ${LIVES_HERE('e.organization_id')} LIMIT most)
    UNION ALL (SELECT e.id, e.organization_id FROM webhook_endpoints e JOIN api_keys k
        ON k.organization_id = e.organization_id AND k.id = e.api_key_id
      WHERE e.disabled_at IS NULL AND (k.expires_at <= now() OR k.revoked_at IS NOT NULL)
        AND ${LIVES_HERE('e.organization_id')} LIMIT most)
  $$;

  -- Marks one of them as told, for the organization of the transaction, and disables it if it is time to. Nothing if somebody
  -- was faster. What a replaced key has made in its overlap goes to its successor first.
  CREATE FUNCTION mark_webhook(endpoint uuid) RETURNS TABLE (url text, reason text, disabled boolean)
    LANGUAGE plpgsql ROWS 1 ${AS_OWNER} AS $$
  DECLARE e webhook_endpoints; k api_keys; why text;
  BEGIN
    SELECT * INTO e FROM webhook_endpoints w WHERE w.${MINE} AND w.id = endpoint FOR UPDATE;
    IF NOT FOUND THEN RETURN; END IF;
    url := e.url;
    IF e.disabled_at IS NOT NULL THEN
      IF e.told_at IS NOT NULL OR e.disabled_reason = 'request' THEN RETURN; END IF;
      UPDATE webhook_endpoints SET told_at = now() WHERE id = e.id;
      reason := e.disabled_reason; disabled := e.disabled_reason = 'gone';
      RETURN NEXT; RETURN;
    END IF;
    SELECT * INTO k FROM api_keys WHERE organization_id = e.organization_id AND api_keys.id = e.api_key_id;
    WHILE k.replaced_by IS NOT NULL AND (k.expires_at <= now() OR k.revoked_at IS NOT NULL) LOOP
      SELECT * INTO k FROM api_keys WHERE organization_id = e.organization_id AND api_keys.id = k.replaced_by;
    END LOOP;
    UPDATE webhook_endpoints SET api_key_id = k.id WHERE id = e.id AND api_key_id <> k.id;
    why := CASE WHEN e.failing_since <= now() - interval '5 days' THEN 'failing'
      WHEN k.expires_at <= now() OR k.revoked_at IS NOT NULL THEN 'maker_left' END;
    IF why IS NOT NULL THEN
      UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = why, told_at = now(), updated_at = now()
      WHERE id = e.id;
      reason := why; disabled := true;
      RETURN NEXT;
    ELSIF e.warned_at IS NULL AND e.failing_since <= now() - interval '1 day' THEN
      UPDATE webhook_endpoints SET warned_at = now() WHERE id = e.id;
      disabled := false;
      RETURN NEXT;
    END IF;
  END $$;
`;
