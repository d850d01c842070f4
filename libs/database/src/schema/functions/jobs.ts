import { lockNumber } from '../../locks.js';
import { PURGE } from '../retention.js';
import { AS_OWNER, MINE } from '../rules.js';

/**
 * The outbox and its suppressed addresses. The worker serves every organization through functions that only its role may
 * run, each as narrow as its task; they limit what their caller may ask for.
 */
export const jobs = /* sql */ `
  -- Leases a due message: the oldest of the owner that has the fewest leased. It is due again when the lease is over; a
  -- worker that dies loses it to the next one. A mail to a suppressed address, or whose link opens nothing any more, is
  -- suppressed instead, and returned as such; so is a notice to managers for somebody who is none any more.
  --
  -- previous: the owner that this worker served last. Of several with as few leased, the next in order is served, so
  -- that nobody waits for more than one message of each.
  -- lanes: how many messages the worker can take, including this one. The last two are for owners with nothing leased:
  -- messages that stall hold up none but their owner's. A hook is only called again after the call before has ended.
  CREATE FUNCTION claim_outbox(wanted text, worker text, lanes integer, lease interval, previous text)
    RETURNS SETOF outbox LANGUAGE plpgsql ROWS 1 ${AS_OWNER} AS $$
  DECLARE turn text; message uuid;
  BEGIN
    IF lease <= interval '0' OR lease > interval '5 minutes' OR lanes < 1 THEN
      RAISE 'a lease of % for one of % lanes is out of bounds', lease, lanes USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- Only plans that follow the indexes. One that was made for a small table, and kept, would read all of it when it
    -- has grown: 0.2 s a claim among 100,000 messages.
    PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true);
    -- One claim at a time, so that each knows the leases before it.
    PERFORM pg_advisory_xact_lock(${lockNumber('claims of the outbox')});
    FOR turn IN
      -- One look into the index for each owner, however many messages it has.
      WITH RECURSIVE owners AS (
          (SELECT o.owner, o.due_at FROM outbox o WHERE o.topic = wanted AND o.status IN ('queued', 'failed')
            ORDER BY o.owner, o.due_at LIMIT 1)
          UNION ALL
          SELECT o.* FROM owners w, LATERAL (SELECT n.owner, n.due_at FROM outbox n WHERE n.topic = wanted
            AND n.status IN ('queued', 'failed') AND n.owner > w.owner ORDER BY n.owner, n.due_at LIMIT 1) o),
        leases AS (SELECT o.owner, count(*) AS held FROM outbox o
          WHERE o.topic = wanted AND o.leased_until > now() GROUP BY o.owner)
      SELECT w.owner FROM owners w LEFT JOIN leases l USING (owner)
      WHERE w.due_at <= now()::timestamptz(3) AND (l.held IS NULL OR lanes > 2 AND wanted <> 'rebuild')
      ORDER BY coalesce(l.held, 0), w.owner <= previous, w.owner
    LOOP
      SELECT o.id INTO message FROM outbox o WHERE o.topic = wanted AND o.owner = turn
        AND o.status IN ('queued', 'failed') AND o.due_at <= now()::timestamptz(3) ORDER BY o.due_at LIMIT 1 FOR UPDATE SKIP LOCKED;
      EXIT WHEN FOUND;
    END LOOP;
    RETURN QUERY WITH claimed AS MATERIALIZED (
        SELECT o.organization_id, o.email_normalized, CASE
            WHEN is_suppressed(o.organization_id, o.email_normalized) THEN 'address_suppressed'
            WHEN o.link_expires_at <= now() OR EXISTS (SELECT FROM closed_invites(array_remove(ARRAY[o.invite_id], NULL)))
              THEN 'link_closed'
            WHEN o.gathers_at IS NOT NULL AND NOT EXISTS (SELECT FROM users u
              JOIN members m ON m.organization_id = o.organization_id AND m.user_id = u.id
              WHERE u.email_normalized = o.email_normalized AND m.status = 'accepted' AND m.role IN ('owner', 'admin'))
              THEN 'not_manager' END AS problem
        FROM outbox o WHERE o.id = message),
      noted AS (
        INSERT INTO suppressions (organization_id, email_normalized)
        SELECT c.organization_id, c.email_normalized FROM claimed c
        WHERE c.problem = 'address_suppressed' ON CONFLICT DO NOTHING)
    UPDATE outbox o SET attempts = o.attempts + 1,
      status = CASE WHEN c.problem IS NULL THEN o.status ELSE 'suppressed' END,
      last_error = coalesce(c.problem, o.last_error),
      finished_at = CASE WHEN c.problem IS NOT NULL THEN now() END,
      leased_by = CASE WHEN c.problem IS NULL THEN worker END,
      leased_until = CASE WHEN c.problem IS NULL THEN now() + lease END,
      due_at = CASE WHEN c.problem IS NULL THEN now() + lease ELSE o.due_at END
    FROM claimed c WHERE o.id = message RETURNING o.*;
  END $$;

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
    PERFORM pg_notify('outbox', 'email');
  END $$;

  -- How many messages wait, since when, how many are dead (but for a mistyped address), and how many mailboxes did not
  -- exist within the last hour. A delivery to a webhook waits since its try is due: receivers that fail are their owners'
  -- concern. Only numbers, for /metrics.
  CREATE FUNCTION outbox_backlog() RETURNS TABLE (topic text, waiting bigint, oldest_seconds double precision,
    dead bigint, refused bigint)
    LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT t.topic, count(o.id), coalesce(extract(epoch FROM greatest(interval '0',
        now() - min(CASE o.topic WHEN 'webhook' THEN o.due_at ELSE coalesce(o.gathers_at, o.created_at) END))), 0)::double precision,
      (SELECT count(*) FROM outbox d WHERE d.topic = t.topic AND d.status = 'dead'
        AND d.last_error IS DISTINCT FROM 'mailbox_unknown'),
      (SELECT count(*) FROM suppressions WHERE t.topic = 'email' AND refused_at > now() - interval '1 hour')
    FROM (VALUES ('email'), ('rebuild'), ('webhook')) t (topic)
    LEFT JOIN outbox o ON o.topic = t.topic AND o.status IN ('queued', 'failed') GROUP BY t.topic
  $$;

  -- For the operator: the newest messages of a status, or a given one.
  CREATE FUNCTION list_outbox(wanted text, named uuid, most integer) RETURNS SETOF outbox
    LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT * FROM outbox WHERE (wanted IS NULL OR status = wanted) AND (named IS NULL OR id = named)
    ORDER BY created_at DESC, id DESC LIMIT least(most, 10000)
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
  CREATE FUNCTION expire_booking_requests(days integer) RETURNS bigint LANGUAGE sql ${AS_OWNER} AS $$
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

  CREATE FUNCTION purge_expired(days jsonb DEFAULT '{}') RETURNS TABLE (what text, rows bigint) LANGUAGE sql ${AS_OWNER} AS $$
    ${PURGE}
  $$;
`;
