import { lockNumber } from '../../locks.js';
import { AS_OWNER, BY_INDEX } from '../rules.js';
import { LIVES_HERE } from './moves.js';

/** The lanes that must be free, of some 200, for an endpoint to take another one, for each that it has. */
const HEADROOM = 20;

/** A function that is given an owner in its column's collation would compare topics in that, too, and find no index. */
const DEFAULT = (owner: string): string => `${owner} COLLATE "default" AS owner`;

/** SQL: whether an owner of turns stands for the organization: for its mails and deliveries, its rebuilds, or its mails to families. */
const isOf = (owner: string, organization: string): string =>
  `${owner} IN (${organization}::text, 'organization:' || ${organization}, 'families:' || ${organization})`;

const CLAIMS = lockNumber('claims of the outbox');
const WEBHOOK_CLAIMS = lockNumber('claims of webhooks');

/** The lock that keeps the turn of an owner where it is, shared by those who add messages; and how many of them a transaction takes. */
const turnLock = (queue: string, owner: string): string =>
  `${lockNumber('turns of the outbox')} + ('x' || left(encode(sha256(convert_to(${queue} || ${owner}, 'UTF8')), 'hex'), 4))::bit(16)::integer`;
const MOST_LOCKS = 100;

/** Of the deliveries that wait for an endpoint, the first that was not tried, and the first that was. */
const heads = (endpoint: string): string =>
  ['queued', 'failed']
    .map(
      (status) => `(SELECT o.id, o.due_at FROM outbox o WHERE o.topic = 'webhook' AND o.endpoint_id = ${endpoint}
          AND o.status = '${status}' AND o.leased_until IS NULL ORDER BY o.due_at LIMIT 1)`,
    )
    .join(' UNION ALL ');

/**
 * Whose messages of the outbox are next. What a claim reads does not grow with the owners: the order is kept in
 * outbox_turns.
 */
export const turns = /* sql */ `
  -- After a statement that changed messages: an owner of some that wait needs a turn, if its organization lives here. Only who adds one wakes the worker,
  -- which is at work while there is one: transactions that notify commit one after the other, whatever else they do.
  CREATE FUNCTION take_turns() RETURNS trigger LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE t record; kept boolean;
  BEGIN
    FOR t IN SELECT a.owner, greatest(min(a.due_at), clock_timestamp())::timestamptz(3) AS at,
        CASE WHEN a.topic = 'webhook' AND (SELECT e.failing_since FROM webhook_endpoints e WHERE e.id = a.endpoint_id) IS NOT NULL
          THEN 'failing' ELSE a.topic END AS queue, row_number() OVER () AS place
      FROM after a WHERE a.status IN ('queued', 'failed') AND a.leased_until IS NULL
        AND ${LIVES_HERE('a.organization_id')} GROUP BY 1, 3
    LOOP
      -- Until this transaction ends, no claim removes the owner's turn or puts it off, not seeing these messages. Locked
      -- before it is looked for; who reads an old snapshot cannot look.
      kept := t.place <= ${MOST_LOCKS} AND pg_try_advisory_xact_lock_shared(${turnLock('t.queue', 't.owner')});
      CONTINUE WHEN kept AND current_setting('transaction_isolation') = 'read committed'
        AND EXISTS (SELECT FROM outbox_turns o WHERE o.queue = t.queue AND o.owner = t.owner AND o.at <= t.at);
      INSERT INTO outbox_turns (queue, owner, at) VALUES (t.queue, t.owner, t.at);
      IF t.queue = 'email' AND t.at < clock_timestamp() + interval '1 second' THEN PERFORM pg_notify('outbox', t.queue); END IF;
    END LOOP;
    RETURN NULL;
  END $$;

  -- When the first message of an owner that waits is due; null if none waits.
  CREATE FUNCTION next_due(wanted text, whose text) RETURNS timestamptz LANGUAGE plpgsql STABLE ${BY_INDEX} AS $$
  BEGIN
    IF wanted IN ('webhook', 'failing') THEN
      RETURN (SELECT min(o.due_at) FROM webhook_endpoints e CROSS JOIN LATERAL (${heads('e.id')}) o
        WHERE e.organization_id = whose::uuid AND (e.failing_since IS NOT NULL) = (wanted = 'failing'));
    END IF;
    RETURN (SELECT o.due_at FROM outbox o WHERE o.topic = wanted AND o.owner = whose
      AND o.status IN ('queued', 'failed') AND o.leased_until IS NULL ORDER BY o.due_at LIMIT 1);
  END $$;

  -- After a look at an owner's messages: one turn is enough, and goes behind all who wait, or to when the next message is
  -- due, or away. While somebody adds messages that cannot be seen yet, it stays.
  CREATE FUNCTION move_turn(turn bigint, wanted text, whose text) RETURNS void LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE alone boolean := pg_try_advisory_xact_lock(${turnLock('wanted', 'whose')});
    due timestamptz(3); moment timestamptz(3) := clock_timestamp();
  BEGIN
    due := next_due(wanted, whose);
    IF NOT alone THEN due := moment; END IF;
    DELETE FROM outbox_turns t WHERE t.seq = ANY (ARRAY(SELECT o.seq FROM outbox_turns o WHERE o.queue = wanted AND o.owner = whose
      AND (o.seq <> turn OR due IS NULL) LIMIT 20));
    UPDATE outbox_turns t SET at = greatest(due, moment) WHERE t.seq = turn AND due IS NOT NULL;
  END $$;

  -- Turns that are missing, whatever lost them: rows that were restored, or copied without triggers. One look into the index
  -- for each owner, however many messages it has. @returns how many
  CREATE FUNCTION mend_turns() RETURNS bigint LANGUAGE sql ${BY_INDEX} AS $$
    WITH RECURSIVE owners AS (
        (SELECT o.topic, o.owner FROM outbox o WHERE o.status IN ('queued', 'failed') AND o.leased_until IS NULL
          ORDER BY o.topic, o.owner LIMIT 1)
        UNION ALL
        SELECT o.* FROM owners w, LATERAL (SELECT n.topic, n.owner FROM outbox n WHERE (n.topic, n.owner) > (w.topic, w.owner)
          AND n.status IN ('queued', 'failed') AND n.leased_until IS NULL ORDER BY n.topic, n.owner LIMIT 1) o),
      queues AS (SELECT q.queue, w.owner, next_due(q.queue, w.owner COLLATE "default") AS due FROM owners w
        CROSS JOIN LATERAL unnest(CASE w.topic WHEN 'webhook' THEN ARRAY['webhook', 'failing'] ELSE ARRAY[w.topic] END) q (queue)),
      added AS (INSERT INTO outbox_turns (queue, owner, at)
        SELECT q.queue, q.owner, greatest(q.due, now()) FROM queues q WHERE q.due IS NOT NULL
        AND NOT EXISTS (SELECT FROM moves x WHERE x.state <> 'live' AND ${isOf('q.owner', 'x.organization_id')})
        AND NOT EXISTS (SELECT FROM outbox_turns t
          WHERE t.queue = q.queue AND t.owner = q.owner AND t.at <= greatest(q.due, now() + interval '1 second')) RETURNING 1)
    SELECT count(*) FROM added
  $$;

  -- The messages of an organization rest until its turns are mended: it is being moved. After the claims that are under way.
  CREATE FUNCTION rest_turns(organization uuid) RETURNS void LANGUAGE plpgsql ${BY_INDEX} AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock(${CLAIMS}), pg_advisory_xact_lock(${WEBHOOK_CLAIMS});
    DELETE FROM outbox_turns t WHERE ${isOf('t.owner', 'organization')};
  END $$;

  -- What every claim does first.
  CREATE FUNCTION begin_claim(lock bigint, wanted text, lanes integer, lease interval) RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    IF lease <= interval '0' OR lease > interval '5 minutes' OR lanes < 1 THEN
      RAISE 'a lease of % for one of % lanes is out of bounds', lease, lanes USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- As BY_INDEX, to the end of the transaction.
    PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true);
    -- One claim at a time, so that each knows the leases before it.
    PERFORM pg_advisory_xact_lock(lock);
    -- Leases that are over hold nothing any more; whoever had one may still say how the try ended.
    IF EXISTS (SELECT FROM outbox o WHERE o.topic = wanted AND o.leased_until <= now()) THEN
      UPDATE outbox SET leased_until = NULL WHERE id = ANY (ARRAY(SELECT o.id FROM outbox o WHERE o.topic = wanted
        AND o.leased_until <= now() ORDER BY o.leased_until LIMIT 20 FOR UPDATE SKIP LOCKED));
    END IF;
  END $$;

  -- The message of an owner that has been due the longest, locked; null if none is due, or somebody else holds it.
  CREATE FUNCTION due_message(wanted text, whose text) RETURNS uuid LANGUAGE plpgsql ${BY_INDEX} AS $$
  BEGIN
    RETURN (SELECT o.id FROM outbox o WHERE o.topic = wanted AND o.owner = whose AND o.status IN ('queued', 'failed')
      AND o.leased_until IS NULL AND o.due_at <= now()::timestamptz(3) ORDER BY o.due_at LIMIT 1 FOR UPDATE SKIP LOCKED);
  END $$;

  -- Leases a due message: the oldest of the owner that has the fewest leased. It is due again when the lease is over; a
  -- worker that dies loses it to the next one. A mail to a suppressed address, or whose link opens nothing any more, is
  -- suppressed instead, and returned as such; so is a notice to managers for somebody who is none any more.
  --
  -- Of several owners with as few leased, the one that was served longest ago is served, so that nobody waits for more than one message of each.
  -- lanes: how many messages the worker can take, including this one. The last two are for owners with nothing leased:
  -- messages that stall hold up none but their owner's. A hook is only called again after the call before has ended.
  CREATE FUNCTION claim_outbox(wanted text, worker text, lanes integer, lease interval)
    RETURNS SETOF outbox LANGUAGE plpgsql ROWS 1 ${AS_OWNER} AS $$
  DECLARE moment timestamptz(3); turns refcursor; turn record; message uuid;
    seqs bigint[] := '{}'; owners text[] := '{}'; helds bigint[] := '{}';
  BEGIN
    PERFORM begin_claim('${CLAIMS}', wanted, lanes, lease);
    moment := clock_timestamp();
    OPEN turns FOR SELECT t.seq, ${DEFAULT('t.owner')}, (SELECT count(*) FROM outbox o
        WHERE o.topic = wanted AND o.owner = t.owner AND o.leased_until > now()) AS held
      FROM outbox_turns t WHERE t.queue = wanted AND t.at <= moment ORDER BY t.at, t.seq;
    LOOP
      FETCH turns INTO turn;
      EXIT WHEN NOT FOUND;
      IF turn.held > 0 THEN
        -- There are no more of these than messages that are leased.
        seqs := seqs || turn.seq; owners := owners || turn.owner; helds := helds || turn.held;
        CONTINUE;
      END IF;
      message := due_message(wanted, turn.owner);
      EXIT WHEN message IS NOT NULL;
      PERFORM move_turn(turn.seq, wanted, turn.owner);
    END LOOP;
    CLOSE turns;
    IF message IS NULL AND lanes > 2 AND wanted <> 'rebuild' THEN
      FOR turn IN SELECT * FROM unnest(seqs, owners, helds) WITH ORDINALITY t (seq, owner, held, place) ORDER BY held, place LOOP
        message := due_message(wanted, turn.owner);
        EXIT WHEN message IS NOT NULL;
      END LOOP;
    END IF;
    IF message IS NULL THEN RETURN; END IF;
    RETURN QUERY WITH claimed AS MATERIALIZED (
        SELECT o.organization_id, o.email_normalized, CASE
            WHEN is_suppressed(o.organization_id, o.email_normalized) THEN 'address_suppressed'
            WHEN o.link_expires_at <= now() OR o.invite_id IS NOT NULL AND EXISTS (SELECT FROM closed_invites(ARRAY[o.invite_id]))
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
    PERFORM move_turn(turn.seq, wanted, turn.owner);
  END $$;

  -- An endpoint begins to fail, or is well again: its deliveries wait in the other queue. A turn too many in the old one goes
  -- when it is looked at.
  CREATE FUNCTION change_queue() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    INSERT INTO outbox_turns (queue, owner, at)
    SELECT CASE WHEN NEW.failing_since IS NULL THEN 'webhook' ELSE 'failing' END, NEW.organization_id, clock_timestamp()
    WHERE ${LIVES_HERE('NEW.organization_id')};
    RETURN NULL;
  END $$;

  -- The delivery of an organization to claim now, locked: of its endpoint that has the fewest leased, the one that has been due
  -- the longest. Null if none is due, or may be tried.
  CREATE FUNCTION due_delivery(wanted text, organization uuid, lanes integer) RETURNS uuid LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE found uuid;
  BEGIN
    SELECT d.id INTO found FROM webhook_endpoints e
      CROSS JOIN LATERAL (SELECT count(*) AS held FROM outbox o WHERE o.topic = 'webhook' AND o.owner = organization::text
        AND o.leased_until > now() AND o.endpoint_id = e.id) l
      CROSS JOIN LATERAL (SELECT * FROM (${heads('e.id')}) o ORDER BY o.due_at LIMIT 1) d
    WHERE e.organization_id = organization AND (e.failing_since IS NOT NULL) = (wanted = 'failing')
      AND d.due_at <= now()::timestamptz(3) AND l.held * ${HEADROOM} < lanes AND (wanted = 'webhook' OR l.held = 0)
    ORDER BY l.held, d.due_at LIMIT 1;
    RETURN (SELECT o.id FROM outbox o WHERE o.id = found AND o.status IN ('queued', 'failed') FOR UPDATE SKIP LOCKED);
  END $$;

  -- Leases a due delivery: of the organization that has the fewest leased, of its endpoint that has the fewest, the one that
  -- has been due the longest. An endpoint that has some leased leaves 20 lanes free for each. Of a failing endpoint one is tried
  -- at a time, and all failing ones together leave as many lanes free as they take: those that hang delay nobody.
  CREATE FUNCTION claim_webhook(worker text, lanes integer, lease interval) RETURNS SETOF outbox
    LANGUAGE plpgsql ROWS 1 ${AS_OWNER} AS $$
  DECLARE moment timestamptz(3); turns refcursor; turn record; message uuid; probes boolean := false;
    seqs bigint[] := '{}'; queues text[] := '{}'; owners text[] := '{}'; helds bigint[] := '{}';
  BEGIN
    PERFORM begin_claim('${WEBHOOK_CLAIMS}', 'webhook', lanes, lease);
    moment := clock_timestamp();
    IF EXISTS (SELECT FROM outbox_turns t WHERE t.queue = 'failing' AND t.at <= moment) THEN
      probes := lanes > (SELECT count(*) FROM (SELECT FROM outbox o JOIN webhook_endpoints e ON e.id = o.endpoint_id
        WHERE o.topic = 'webhook' AND o.leased_until > now() AND e.failing_since IS NOT NULL LIMIT lanes) o);
    END IF;
    OPEN turns FOR SELECT t.seq, t.queue, ${DEFAULT('t.owner')}, (SELECT count(*) FROM outbox o
        WHERE o.topic = 'webhook' AND o.owner = t.owner AND o.leased_until > now()) AS held
      FROM ((SELECT * FROM outbox_turns w WHERE w.queue = 'webhook' AND w.at <= moment ORDER BY w.at, w.seq)
        UNION ALL (SELECT * FROM outbox_turns f WHERE f.queue = 'failing' AND f.at <= moment AND probes ORDER BY f.at, f.seq)) t
      ORDER BY t.at, t.seq;
    LOOP
      FETCH turns INTO turn;
      EXIT WHEN NOT FOUND;
      IF turn.held > 0 THEN
        seqs := seqs || turn.seq; queues := queues || turn.queue; owners := owners || turn.owner; helds := helds || turn.held;
        CONTINUE;
      END IF;
      message := due_delivery(turn.queue, turn.owner::uuid, lanes);
      EXIT WHEN message IS NOT NULL;
      PERFORM move_turn(turn.seq, turn.queue, turn.owner);
    END LOOP;
    CLOSE turns;
    IF message IS NULL THEN
      FOR turn IN SELECT * FROM unnest(seqs, queues, owners, helds) WITH ORDINALITY t (seq, queue, owner, held, place)
        ORDER BY held, place LOOP
        message := due_delivery(turn.queue, turn.owner::uuid, lanes);
        EXIT WHEN message IS NOT NULL;
      END LOOP;
    END IF;
    IF message IS NULL THEN RETURN; END IF;
    RETURN QUERY UPDATE outbox o SET attempts = o.attempts + 1, leased_by = worker, leased_until = now() + lease,
      due_at = now() + lease WHERE o.id = message RETURNING o.*;
    PERFORM move_turn(turn.seq, turn.queue, turn.owner);
  END $$;
`;
