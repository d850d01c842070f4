import { lockNumber } from '../../locks.js';
// Its tables declare what they tell.
import '../areas.js';
import { tellFunctions } from '../emits.js';
import { OF_ALL } from '../events.js';
import { AS_OWNER, BY_INDEX } from '../rules.js';

/** The feed of events: what the triggers of tables write, and how it becomes what is read. */
export const events = /* sql */ `
  ${tellFunctions(AS_OWNER)}

  -- Makes events of all changes whose transactions have committed, and numbers them. The lock first, in a statement of its
  -- own: the next one sees everything that was committed before, and nobody else numbers. seq was taken after the row's
  -- lock, so it is the order of changes of one record; neither it nor the transaction's id is the order of commits, so
  -- readers follow the number. For one transaction, organization and record: made and deleted is nothing, deleted is that
  -- alone, verbs once each, and an update only without a verb. A call takes all changes of a few thousand
  -- records, so that it ends in time however many wait, and their order is kept. @returns how many events, and whose
  CREATE FUNCTION number_events(OUT made bigint, OUT organizations uuid[]) LANGUAGE plpgsql ${AS_OWNER} AS $$
  #variable_conflict use_column
  DECLARE given bigint;
  BEGIN
    made := 0;
    organizations := '{}';
    IF current_setting('transaction_isolation') <> 'read committed' THEN
      RAISE 'events are numbered in READ COMMITTED' USING ERRCODE = 'invalid_transaction_state';
    END IF;
    IF NOT EXISTS (SELECT FROM event_changes) OR NOT pg_try_advisory_xact_lock(${lockNumber('numbers of events')}) THEN
      RETURN;
    END IF;
    -- A plan for few rows would be slow for many, and CTEs have no statistics.
    PERFORM set_config('enable_nestloop', 'off', true);
    SELECT number INTO given FROM event_counter FOR UPDATE;
    WITH taken AS (
        DELETE FROM event_changes WHERE (organization_id, coalesce(within, resource_id)) IN (
          SELECT organization_id, coalesce(within, resource_id) FROM event_changes ORDER BY seq LIMIT 2000) RETURNING *),
      records AS (
        SELECT transaction, began, organization_id, resource, resource_id, min(seq) AS seq, max(told) AS told,
          array_agg(op ORDER BY seq) FILTER (WHERE op <> 'U') AS crossings,
          (array_agg(verb ORDER BY seq DESC) FILTER (WHERE op = 'D'))[1] AS gone,
          (array_agg(about ORDER BY seq DESC) FILTER (WHERE about IS NOT NULL))[1] AS about,
          (array_agg(within))[1] AS within
        FROM taken GROUP BY 1, 2, 3, 4, 5),
      fields AS (
        SELECT transaction, began, organization_id, resource, resource_id, jsonb_agg(DISTINCT field ORDER BY field) AS changed
        FROM taken, unnest(changed) AS field GROUP BY 1, 2, 3, 4, 5),
      ends AS (
        SELECT *, CASE
            WHEN crossings IS NULL THEN 'U'
            WHEN crossings[1] = 'I' AND crossings[cardinality(crossings)] = 'D' THEN NULL
            WHEN crossings[cardinality(crossings)] = 'D' THEN 'D'
            WHEN crossings[1] = 'D' THEN 'U'
            ELSE 'I' END AS op
        FROM records),
      verbs AS (
        SELECT transaction, began, organization_id, resource, resource_id, op, verb, min(seq) AS verb_seq
        FROM (SELECT transaction, began, organization_id, resource, resource_id, op, seq,
            CASE WHEN op = 'I' THEN coalesce(verb, 'created') ELSE verb END AS verb FROM taken WHERE op <> 'D') t
        WHERE verb IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6, 7),
      named AS (
        SELECT e.*, coalesce(v.verb, CASE e.op WHEN 'D' THEN coalesce(e.gone, 'deleted') ELSE 'updated' END) AS verb,
          coalesce(v.verb_seq, e.seq) AS at
        FROM ends e LEFT JOIN verbs v ON e.op <> 'D' AND (e.op = 'I' OR v.op = 'U')
          AND (v.transaction, v.began, v.organization_id, v.resource, v.resource_id)
            = (e.transaction, e.began, e.organization_id, e.resource, e.resource_id)
        WHERE e.op IS NOT NULL),
      sessions AS (
        SELECT transaction, began, organization_id, resource_id AS within, bool_or(verb <> 'updated') AS verbal
        FROM named WHERE resource = 'session' GROUP BY 1, 2, 3, 4),
      kept AS (
        SELECT n.*, f.changed FROM named n
        LEFT JOIN fields f ON (f.transaction, f.began, f.organization_id, f.resource, f.resource_id)
          = (n.transaction, n.began, n.organization_id, n.resource, n.resource_id)
        LEFT JOIN sessions s ON (s.transaction, s.began, s.organization_id, s.within)
          = (n.transaction, n.began, n.organization_id, n.within)
        WHERE s.within IS NULL OR NOT (s.verbal OR n.verb NOT LIKE '%.%')),
      numbered AS (
        INSERT INTO events (organization_id, number, type, resource, resource_id, timestamp, data)
        SELECT organization_id, given + row_number() OVER (ORDER BY at, verb),
          CASE WHEN verb LIKE '%.%' THEN verb ELSE resource || '.' || verb END, resource, resource_id, told,
          coalesce(about, '{}') || jsonb_build_object('changed', CASE WHEN op = 'U' THEN coalesce(changed, '[]') ELSE '[]' END)
        FROM kept RETURNING organization_id)
    SELECT count(*), coalesce(array_agg(DISTINCT organization_id), '{}') INTO made, organizations FROM numbered;
    UPDATE event_counter SET number = given + made;
    PERFORM set_config('enable_nestloop', 'on', true);
  END $$;

  -- The number of the newest event of each of these organizations that has any, for readers who wait.
  CREATE FUNCTION newest_events(organizations uuid[]) RETURNS TABLE (organization_id uuid, number bigint) LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT o.id, e.number FROM unnest(organizations) AS o (id)
    CROSS JOIN LATERAL (SELECT e.number FROM events e WHERE e.organization_id = o.id ORDER BY e.number DESC LIMIT 1) e
  $$;

  -- Deletes events that are too old, in the order of their numbers, as they are read: what a long transaction wrote can be
  -- older than events before it. Waits for what somebody else holds, rather than skip it. @returns how many
  CREATE FUNCTION purge_events(days integer, most integer DEFAULT 5000) RETURNS bigint LANGUAGE sql ${BY_INDEX} AS $$
    WITH bound AS (
        -- In here, because no index compares with coalesce().
        SELECT coalesce((SELECT ${OF_ALL} FROM events WHERE timestamp >= now() - days * interval '1 day' ORDER BY ${OF_ALL} LIMIT 1),
          'infinity') AS number),
      gone AS (
        DELETE FROM events WHERE ${OF_ALL} = ANY (ARRAY(SELECT e.${OF_ALL} FROM events e
          WHERE e.${OF_ALL} < (SELECT b.number FROM bound b) ORDER BY e.${OF_ALL} LIMIT most))
        RETURNING organization_id, number, id),
      floors AS (
        INSERT INTO event_floors AS f (organization_id, number, id)
        SELECT DISTINCT ON (organization_id) organization_id, number, id FROM gone ORDER BY organization_id, number DESC
        ON CONFLICT (organization_id) DO UPDATE SET number = excluded.number, id = excluded.id WHERE excluded.number > f.number)
    SELECT count(*) FROM gone
  $$;

  -- How long the oldest change waits to be numbered, in seconds. Only a number, for /metrics.
  CREATE FUNCTION event_lag() RETURNS double precision LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT coalesce((SELECT extract(epoch FROM clock_timestamp() - told) FROM event_changes ORDER BY seq LIMIT 1), 0)
  $$;
`;
