import { PURGE } from '../retention.js';
import { AS_OWNER, BY_INDEX, MINE } from '../rules.js';

/** How far a backlog is counted. */
const MOST_COUNTED = 10_000;

/**
 * The outbox and its suppressed addresses. The worker serves every organization through functions that only its role may
 * run, each as narrow as its task; they limit what their caller may ask for.
 */
export const jobs = /* sql */ `
  -- Extends a lease from now on. False if another worker has it by now.
  CREATE FUNCTION renew_outbox(message uuid, worker text, lease interval) RETURNS boolean
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    IF lease <= interval '0' OR lease > interval '5 minutes' THEN
      RAISE 'a lease of % is out of bounds', lease USING ERRCODE = 'invalid_parameter_value';
    END IF;
    UPDATE outbox SET leased_until = now() + lease, due_at = now() + lease WHERE id = message AND leased_by = worker;
    RETURN FOUND;
  END $$;

  -- Ends an attempt. False if another worker has the lease by now: then that one says how the message ends.
  CREATE FUNCTION finish_outbox(message uuid, worker text, outcome text, problem text, again_in interval)
    RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    IF outcome NOT IN ('sent', 'held', 'failed', 'dead', 'suppressed') OR again_in > interval '2 days' THEN
      RAISE 'a try cannot end as % for %', outcome, again_in USING ERRCODE = 'invalid_parameter_value';
    END IF;
    UPDATE outbox SET status = outcome, last_error = problem, due_at = coalesce(now() + again_in, due_at),
      leased_by = NULL, leased_until = NULL,
      finished_at = CASE WHEN outcome IN ('sent', 'dead', 'suppressed') THEN now() END
    WHERE id = message AND leased_by = worker;
    IF NOT FOUND THEN RETURN false; END IF;
    -- There is a mailbox after all.
    IF outcome = 'sent' THEN
      DELETE FROM suppressions s USING outbox o WHERE o.id = message AND s.organization_id = o.organization_id
        AND s.email_normalized = o.email_normalized AND s.allowed_at IS NULL;
    END IF;
    RETURN true;
  END $$;

  -- Returns messages that were claimed and not attempted: they are due at once, and the attempt does not count.
  CREATE FUNCTION release_outbox(messages uuid[], worker text) RETURNS void LANGUAGE sql ${AS_OWNER} AS $$
    UPDATE outbox SET leased_by = NULL, leased_until = NULL, due_at = now(), attempts = attempts - 1
    WHERE id = ANY (messages) AND leased_by = worker
  $$;

  -- Queues a notice to each of these managers: at once, unless they got one within ten minutes; then it waits, and takes in
  -- what follows until it is sent. It repeats notices that matter (in_full; 500 at most), and five of each other kind, of
  -- which it counts the rest. The caller holds the lock of the organization's mails, so that two writes do not both begin
  -- one.
  CREATE FUNCTION queue_notices(ids uuid[], kind text, recipients text[], addresses text[], payloads bytea[],
    in_full boolean) RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE most integer := CASE WHEN in_full THEN 500 ELSE 5 END;
  BEGIN
    FOR i IN 1 .. cardinality(ids) LOOP
      -- A claim skips the row until this transaction commits; one that was claimed before is not found.
      UPDATE outbox o SET gathered_count = o.gathered_count + 1,
        gathered_kinds = o.gathered_kinds
          || jsonb_build_object(queue_notices.kind, coalesce((o.gathered_kinds ->> queue_notices.kind)::integer, 0) + 1),
        gathered = CASE WHEN coalesce((o.gathered_kinds ->> queue_notices.kind)::integer, 0) < most
          THEN o.gathered || payloads[i] ELSE o.gathered END
      WHERE o.${MINE} AND o.email_normalized = addresses[i] AND o.gathers_at IS NOT NULL
        AND o.status = 'queued' AND o.attempts = 0;
      CONTINUE WHEN FOUND;
      INSERT INTO outbox (id, organization_id, topic, kind, recipient, email_normalized, payload, gathers_at, due_at,
        gathered_kinds)
      SELECT ids[i], current_organization_id(), 'email', queue_notices.kind, recipients[i], addresses[i], payloads[i],
        l.at, l.at, jsonb_build_object(queue_notices.kind, 1)
      FROM (SELECT coalesce(greatest(now(), max(o.gathers_at) + interval '10 minutes'), now()) AS at FROM outbox o
        WHERE o.${MINE} AND o.email_normalized = addresses[i] AND o.gathers_at IS NOT NULL) l;
    END LOOP;
  END $$;

  -- How many messages wait, since when, how many are dead (but for a mistyped address), and how many mailboxes did not
  -- exist within the last hour, each counted to ${MOST_COUNTED} at most: who has more needs no number. A delivery to a webhook waits
  -- since it was its organization's turn: receivers that fail are their owners' concern. Only numbers, for /metrics.
  CREATE FUNCTION outbox_backlog() RETURNS TABLE (topic text, waiting bigint, oldest_seconds double precision,
    dead bigint, refused bigint)
    LANGUAGE sql STABLE ${BY_INDEX} AS $$
    SELECT t.topic,
      least(${MOST_COUNTED}, (SELECT sum(c.found) FROM unnest(ARRAY['queued', 'failed']) s (status) CROSS JOIN LATERAL (SELECT count(*) AS found
        FROM (SELECT FROM outbox o WHERE o.topic = t.topic AND o.status = s.status LIMIT ${MOST_COUNTED}) o) c))::bigint,
      coalesce(extract(epoch FROM greatest(interval '0', now() - CASE t.topic
        WHEN 'webhook' THEN (SELECT n.at FROM outbox_turns n WHERE n.queue = 'webhook' ORDER BY n.at LIMIT 1)
        ELSE (SELECT min(o.created_at) FROM unnest(ARRAY['queued', 'failed']) s (status) CROSS JOIN LATERAL (
          SELECT o.created_at FROM outbox o WHERE o.topic = t.topic AND o.status = s.status ORDER BY o.created_at LIMIT 1) o) END)),
        0)::double precision,
      (SELECT count(*) FROM (SELECT FROM outbox d WHERE d.topic = t.topic AND d.status = 'dead'
        AND d.last_error IS DISTINCT FROM 'mailbox_unknown' LIMIT ${MOST_COUNTED}) d),
      (SELECT count(*) FROM (SELECT FROM suppressions WHERE t.topic = 'email' AND refused_at > now() - interval '1 hour'
        LIMIT ${MOST_COUNTED}) r)
    FROM (VALUES ('email'), ('rebuild'), ('webhook')) t (topic)
  $$;

  -- For the operator: the newest messages of a status, or a given one.
  CREATE FUNCTION list_outbox(wanted text, named uuid, most integer) RETURNS SETOF outbox
    LANGUAGE sql STABLE ${BY_INDEX} AS $$
    SELECT * FROM outbox WHERE named IS NOT NULL AND id = named
    UNION ALL (SELECT n.* FROM unnest(ARRAY['email', 'rebuild', 'webhook']) t (topic),
        unnest(CASE WHEN wanted IS NULL THEN ARRAY['queued', 'held', 'sent', 'failed', 'dead', 'suppressed'] ELSE ARRAY[wanted] END) s (status),
        LATERAL (SELECT * FROM outbox o WHERE named IS NULL AND o.topic = t.topic AND o.status = s.status
          ORDER BY o.created_at DESC, o.id DESC LIMIT least(most, 10000)) n
      ORDER BY n.created_at DESC, n.id DESC LIMIT least(most, 10000))
  $$;

  -- Not while an attempt is in progress. Deliveries of webhooks have replay_webhook: a disabled endpoint gets none.
  CREATE FUNCTION retry_outbox(message uuid) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    UPDATE outbox SET status = 'queued', attempts = 0, due_at = now(), finished_at = NULL, leased_by = NULL,
      leased_until = NULL
    WHERE id = message AND topic <> 'webhook' AND status IN ('failed', 'dead') AND (leased_until IS NULL OR leased_until < now());
    RETURN FOUND;
  END $$;

  CREATE FUNCTION retry_own_outbox(message uuid) RETURNS boolean LANGUAGE sql ${AS_OWNER} AS $$
    SELECT coalesce((SELECT retry_outbox(id) FROM outbox WHERE id = message AND ${MINE}), false)
  $$;

  -- Whether this organization's mail to the address is held back: by its own suppression, or, unless it has allowed the
  -- address, by those of three others. Never mail about somebody's own account, which belongs to no organization.
  CREATE FUNCTION is_suppressed(organization uuid, address text) RETURNS boolean LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT organization IS NOT NULL AND NOT EXISTS (SELECT FROM suppressions s WHERE s.organization_id = organization
        AND s.email_normalized = address AND s.allowed_at IS NOT NULL)
      AND count(*) FILTER (WHERE s.organization_id = organization) + count(*) / 3 > 0
    FROM suppressions s WHERE s.email_normalized = address AND s.suppressed_until > now()
  $$;

  -- Which of these addresses are suppressed for the organization of the transaction; nobody may read the list itself.
  CREATE FUNCTION suppressed_addresses(addresses text[]) RETURNS SETOF text LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT address FROM unnest(addresses) address WHERE is_suppressed(current_organization_id(), address)
  $$;

  -- A mail server said to this sender's mail that there is no such mailbox: that mail is parked. Another one that is refused
  -- a day later suppresses the address for the sender, for 90 days. But when many addresses are refused, the fault is
  -- probably the platform's (a relay set up badly refuses everybody): 20 within an hour, and one for each ten mails sent.
  CREATE FUNCTION refuse_address(address text, sender uuid) RETURNS text LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE refused bigint; ends timestamptz;
  BEGIN
    SELECT count(*) INTO refused FROM suppressions WHERE refused_at > now() - interval '1 hour';
    IF refused >= 20 AND refused * 10 > (SELECT count(*) FROM (SELECT FROM outbox WHERE topic = 'email'
        AND status = 'sent' AND finished_at > now() - interval '1 hour' LIMIT refused * 10) sent) THEN
      RETURN 'sender';
    END IF;
    DELETE FROM suppressions WHERE organization_id = sender AND email_normalized = address
      AND (suppressed_until <= now() OR refused_at <= now() - interval '90 days');
    INSERT INTO suppressions AS s (organization_id, email_normalized, refused_at) VALUES (sender, address, now())
    ON CONFLICT (organization_id, email_normalized) DO UPDATE SET allowed_at = NULL,
      refused_at = coalesce(s.refused_at, now()),
      suppressed_until = CASE WHEN s.refused_at <= now() - interval '1 day' THEN now() + interval '90 days'
        ELSE s.suppressed_until END
    RETURNING suppressed_until INTO ends;
    RETURN CASE WHEN ends IS NULL THEN 'parked' ELSE 'suppressed' END;
  END $$;

  -- For the operator: the address takes mail again, from everybody. False if it was not suppressed.
  CREATE FUNCTION unsuppress_address(address text) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    DELETE FROM suppressions WHERE email_normalized = address;
    RETURN FOUND;
  END $$;

  -- The addresses that hold back mails of this organization.
  CREATE FUNCTION own_suppressions() RETURNS TABLE (address text, refused_at timestamptz, suppressed_until timestamptz)
    LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT s.email_normalized, s.refused_at, s.suppressed_until FROM suppressions s
    WHERE s.${MINE} AND is_suppressed(s.organization_id, s.email_normalized)
    ORDER BY s.suppressed_until DESC NULLS LAST, s.email_normalized
  $$;

  -- Lets an organization mail an address again that holds back its mail, whatever others know of it. False for others.
  CREATE FUNCTION allow_address(wanted text) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    UPDATE suppressions s SET refused_at = NULL, suppressed_until = NULL, allowed_at = now()
    WHERE s.${MINE} AND s.email_normalized = wanted AND is_suppressed(s.organization_id, wanted);
    RETURN FOUND;
  END $$;

  -- Requests that have waited for so many days without a change have expired, 5,000 at a time. @returns how many
  CREATE FUNCTION expire_booking_requests(days integer) RETURNS bigint LANGUAGE sql ${BY_INDEX} AS $$
    WITH expired AS (
      UPDATE booking_requests SET status = 'expired', updated_at = now()
      WHERE id = ANY (ARRAY(SELECT id FROM booking_requests
        WHERE status = 'pending' AND updated_at < now() - days * interval '1 day' LIMIT 5000 FOR UPDATE SKIP LOCKED))
      RETURNING 1)
    SELECT count(*) FROM expired
  $$;

  -- Deletes what RETENTION does not keep any longer. days: the settings with other days than usual.
  -- The 20 organizations whose rows fill most of the largest tables, with estimated bytes: of each table at most some 500
  -- pages are read. Indexes, dead rows and rows that name no organization do not count.
  CREATE FUNCTION sample_organization_bytes() RETURNS jsonb LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE parts text; sample jsonb;
  BEGIN
    SELECT string_agg(format('SELECT organization_id AS id, sum(pg_column_size(t.*)) * %s AS bytes
      FROM %I t TABLESAMPLE SYSTEM (%s) WHERE organization_id IS NOT NULL GROUP BY 1', 100 / share, relname, share), ' UNION ALL ')
    INTO parts FROM (
      SELECT c.relname, least(100, 50000.0 / greatest(1, pg_relation_size(c.oid) / 8192)) AS share FROM pg_class c
      WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND EXISTS (SELECT FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attname = 'organization_id' AND NOT a.attisdropped)
      ORDER BY pg_table_size(c.oid) DESC, 1 LIMIT 20) t;
    EXECUTE 'SELECT coalesce(jsonb_object_agg(id, bytes), ''{}'') FROM (SELECT id, round(sum(bytes)) AS bytes
      FROM (' || parts || ') t GROUP BY id ORDER BY 2 DESC, 1 LIMIT 20) s' INTO sample;
    RETURN sample;
  END $$;

  -- Forgets documents that no file has named for a day, and names them to the worker, which deletes their bytes before its
  -- transaction ends. Who is about to name one holds its lock.
  CREATE FUNCTION delete_unnamed_uploads(most integer) RETURNS SETOF text LANGUAGE sql ${AS_OWNER} AS $$
    DELETE FROM uploads WHERE id IN (SELECT u.id FROM uploads u WHERE u.created_at < now() - interval '1 day'
      AND NOT EXISTS (SELECT FROM files f WHERE f.organization_id = u.organization_id AND f.upload_id = u.id)
      ORDER BY u.id LIMIT most FOR UPDATE OF u SKIP LOCKED)
    RETURNING organization_id || '/' || id
  $$;

  CREATE FUNCTION purge_expired(days jsonb DEFAULT '{}') RETURNS TABLE (what text, rows bigint) LANGUAGE sql ${BY_INDEX} AS $$
    ${PURGE}
  $$;
`;
