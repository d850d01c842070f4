import { lockNumber } from '../../locks.js';
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
        SELECT o.organization_id, s.email_normalized, CASE
            WHEN s.email_normalized IS NOT NULL THEN 'address_suppressed'
            WHEN o.link_expires_at <= now() OR EXISTS (SELECT FROM closed_invites(array_remove(ARRAY[o.invite_id], NULL)))
              THEN 'link_closed'
            WHEN o.gathers_at IS NOT NULL AND NOT EXISTS (SELECT FROM users u
              JOIN members m ON m.organization_id = o.organization_id AND m.user_id = u.id
              WHERE u.email_normalized = o.email_normalized AND m.status = 'accepted' AND m.role IN ('owner', 'admin'))
              THEN 'not_manager' END AS problem
        FROM outbox o LEFT JOIN suppressions s ON s.email_normalized = o.email_normalized WHERE o.id = message),
      noted AS (
        INSERT INTO suppression_senders (organization_id, email_normalized)
        SELECT c.organization_id, c.email_normalized FROM claimed c
        WHERE c.organization_id IS NOT NULL AND c.email_normalized IS NOT NULL ON CONFLICT DO NOTHING)
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
    IF outcome NOT IN ('sent', 'failed', 'dead', 'suppressed') OR again_in > interval '1 day' THEN
      RAISE 'a try cannot end as % for %', outcome, again_in USING ERRCODE = 'invalid_parameter_value';
    END IF;
    UPDATE outbox SET status = outcome, last_error = problem, due_at = coalesce(now() + again_in, due_at),
      leased_by = NULL, leased_until = NULL,
      finished_at = CASE WHEN outcome IN ('sent', 'dead', 'suppressed') THEN now() END
    WHERE id = message AND leased_by = worker;
    RETURN FOUND;
  END $$;

  -- Returns messages that were claimed and not attempted: they are due at once, and the attempt does not count.
  CREATE FUNCTION release_outbox(messages uuid[], worker text) RETURNS void LANGUAGE sql ${AS_OWNER} AS $$
    UPDATE outbox SET leased_by = NULL, leased_until = NULL, due_at = now(), attempts = attempts - 1
    WHERE id = ANY (messages) AND leased_by = worker
  $$;

  -- Queues a notice to each of these managers: at once, unless they got one within ten minutes; then it waits, and takes in
  -- what follows until it is sent. One mail repeats 20 notices at most, and counts the others. The caller holds the lock
  -- of the organization's mails, so that two writes do not both begin one.
  CREATE FUNCTION queue_notices(ids uuid[], kind text, recipients text[], addresses text[], payloads bytea[])
    RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    FOR i IN 1 .. cardinality(ids) LOOP
      -- A claim skips the row until this transaction commits; one that was claimed before is not found.
      UPDATE outbox o SET gathered_count = o.gathered_count + 1,
        gathered = CASE WHEN cardinality(o.gathered) < 19 THEN o.gathered || payloads[i] ELSE o.gathered END
      WHERE o.${MINE} AND o.email_normalized = addresses[i] AND o.gathers_at IS NOT NULL
        AND o.status = 'queued' AND o.attempts = 0;
      CONTINUE WHEN FOUND;
      INSERT INTO outbox (id, organization_id, topic, kind, recipient, email_normalized, payload, gathers_at, due_at)
      SELECT ids[i], current_organization_id(), 'email', queue_notices.kind, recipients[i], addresses[i], payloads[i],
        l.at, l.at
      FROM (SELECT coalesce(greatest(now(), max(o.gathers_at) + interval '10 minutes'), now()) AS at FROM outbox o
        WHERE o.${MINE} AND o.email_normalized = addresses[i] AND o.gathers_at IS NOT NULL) l;
    END LOOP;
    PERFORM pg_notify('outbox', 'email');
  END $$;

  -- How many messages wait, since when, and how many are dead. Only numbers, for /metrics.
  CREATE FUNCTION outbox_backlog() RETURNS TABLE (topic text, waiting bigint, oldest_seconds double precision,
    dead bigint)
    LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT t.topic, count(o.id), coalesce(extract(epoch FROM greatest(interval '0',
        now() - min(coalesce(o.gathers_at, o.created_at)))), 0)::double precision,
      (SELECT count(*) FROM outbox d WHERE d.topic = t.topic AND d.status = 'dead')
    FROM (VALUES ('email'), ('rebuild')) t (topic)
    LEFT JOIN outbox o ON o.topic = t.topic AND o.status IN ('queued', 'failed') GROUP BY t.topic
  $$;

  -- For the operator: the newest messages of a status, or a given one.
  CREATE FUNCTION list_outbox(wanted text, named uuid, most integer) RETURNS SETOF outbox
    LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT * FROM outbox WHERE (wanted IS NULL OR status = wanted) AND (named IS NULL OR id = named)
    ORDER BY created_at DESC, id DESC LIMIT least(most, 10000)
  $$;

  -- Not while an attempt is in progress.
  CREATE FUNCTION retry_outbox(message uuid) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    UPDATE outbox SET status = 'queued', attempts = 0, due_at = now(), finished_at = NULL, leased_by = NULL,
      leased_until = NULL
    WHERE id = message AND status IN ('failed', 'dead') AND (leased_until IS NULL OR leased_until < now());
    RETURN FOUND;
  END $$;

  CREATE FUNCTION retry_own_outbox(message uuid) RETURNS boolean LANGUAGE sql ${AS_OWNER} AS $$
    SELECT coalesce((SELECT retry_outbox(id) FROM outbox WHERE id = message AND ${MINE}), false)
  $$;

  -- Which of these addresses are suppressed; nobody may read the list itself.
  CREATE FUNCTION suppressed_addresses(addresses text[]) RETURNS SETOF text LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT email_normalized FROM suppressions WHERE email_normalized = ANY (addresses)
  $$;

  -- Suppresses an address; without a reason, only records that it held back a mail of the sender.
  CREATE FUNCTION suppress_address(address text, why text, sender uuid DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    IF why IS NOT NULL THEN
      INSERT INTO suppressions (email_normalized, reason) VALUES (address, why) ON CONFLICT DO NOTHING;
    END IF;
    IF sender IS NOT NULL THEN
      INSERT INTO suppression_senders SELECT sender, s.email_normalized FROM suppressions s
      WHERE s.email_normalized = address ON CONFLICT DO NOTHING;
    END IF;
  END $$;

  -- For the operator: the address takes mail again. False if it was not suppressed.
  CREATE FUNCTION unsuppress_address(address text) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    DELETE FROM suppressions WHERE email_normalized = address;
    RETURN FOUND;
  END $$;

  -- The addresses that held back mails of this organization.
  CREATE FUNCTION own_suppressions() RETURNS TABLE (address text, reason text, created_at timestamptz)
    LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT s.email_normalized, s.reason, s.created_at
    FROM suppression_senders t JOIN suppressions s USING (email_normalized)
    WHERE t.organization_id = current_organization_id() ORDER BY s.created_at DESC, s.email_normalized
  $$;

  -- Lifts a suppression for everybody, on behalf of an organization whose own mail it holds back. False for others.
  CREATE FUNCTION allow_address(wanted text) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    DELETE FROM suppressions s USING suppression_senders t
    WHERE s.email_normalized = wanted AND t.email_normalized = wanted AND t.organization_id = current_organization_id();
    RETURN FOUND;
  END $$;

  -- Deletes answers past their time, messages finished 30 days ago (dead ones have a link that has expired by then), and
  -- invites 30 days after their expiry, so that whoever opens one late is told so. 5,000 rows of each at most, so that no
  -- call takes long; locked rows are left for the next one.
  CREATE FUNCTION purge_expired() RETURNS TABLE (what text, rows bigint) LANGUAGE sql ${AS_OWNER} AS $$
    WITH keys AS (DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(SELECT ctid FROM idempotency_keys
        WHERE expires_at < now() LIMIT 5000 FOR UPDATE SKIP LOCKED)) RETURNING 1),
      messages AS (DELETE FROM outbox WHERE ctid = ANY (ARRAY(SELECT ctid FROM outbox
        WHERE finished_at < now() - interval '30 days' LIMIT 5000 FOR UPDATE SKIP LOCKED)) RETURNING 1),
      old AS (DELETE FROM invites WHERE ctid = ANY (ARRAY(SELECT ctid FROM invites
        WHERE NOT standing AND expires_at < now() - interval '30 days' LIMIT 5000 FOR UPDATE SKIP LOCKED)) RETURNING 1)
    SELECT 'idempotency_keys', count(*) FROM keys UNION ALL SELECT 'outbox', count(*) FROM messages
    UNION ALL SELECT 'invites', count(*) FROM old
  $$;
`;
