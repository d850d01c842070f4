import { COPIED, SIGHT } from '../../invariants/sight.js';
import { acceptedBy, listed, ownResult, RESULT_COLUMNS } from '../copies.js';
import { AS_OWNER, COUNTED } from '../rules.js';

/** The correct values of the counters. */
const ACTUAL_COUNTS = Object.entries(COUNTED)
  .map(
    ([table, { lists, each }]) => `SELECT organization_id, '${table}:' || l.list AS list, sum(${each})::bigint AS n
      FROM ${table}, unnest(ARRAY[${lists.join(', ')}]) AS l (list) WHERE l.list IS NOT NULL GROUP BY 1, 2`,
  )
  .join('\n      UNION ALL ');

/** Whether the row `o` of organization_results shows what a student who has left had completed elsewhere by then. */
const KEPT_RESULT = `(EXISTS (SELECT FROM members k WHERE k.organization_id = o.organization_id AND k.user_id = o.student_id
          AND k.accepted_at IS NULL AND o.completed_at <= k.frozen_at)
          AND NOT ${ownResult('o.organization_id', 'o.result_id')})`;

/** The copies that break their invariant. */
const WRONG_COPIES = Object.entries(COPIED)
  .map(([copy, name]) => `SELECT '${copy}' AS copy, n.id FROM (${SIGHT[name].broken}) n`)
  .join('\n      UNION ');

/** For the operator: finding and repairing counters and copies. */
export const repair = /* sql */ `
  -- Counters that are wrong. One statement, so one snapshot.
  CREATE FUNCTION wrong_list_counts(most integer)
    RETURNS TABLE (organization_id uuid, list text, counter bigint, actual bigint)
    LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT organization_id, list, coalesce(c.n, 0)::bigint, coalesce(a.n, 0)
    FROM (SELECT organization_id, list, sum(delta) AS n FROM list_counts GROUP BY 1, 2) c
    FULL JOIN (${ACTUAL_COUNTS}) a USING (organization_id, list)
    WHERE coalesce(c.n, 0) <> coalesce(a.n, 0) ORDER BY 1, 2 LIMIT most
  $$;

  -- Counts an organization again. The lock waits for transactions that have counted already, and blocks others until this
  -- one ends.
  CREATE FUNCTION recount_lists(organization uuid) RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    LOCK TABLE list_counts IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM list_counts WHERE organization_id = organization;
    INSERT INTO list_counts (organization_id, list, delta)
    SELECT organization_id, list, n FROM (${ACTUAL_COUNTS}) a WHERE organization_id = organization;
  END $$;

  -- Copies that are wrong. One statement, so one snapshot.
  CREATE FUNCTION wrong_copies(most integer) RETURNS TABLE (copy text, id uuid) LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT * FROM (${WRONG_COPIES}) wrong ORDER BY 1, 2 LIMIT most
  $$;

  -- Writes the wrong copies again. Returns their number.
  CREATE FUNCTION correct_copies() RETURNS bigint LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE logins uuid[]; of_results uuid[]; threads uuid[];
  BEGIN
    -- A repair is nobody's change.
    PERFORM set_config('app.untold', 'on', true);
    SELECT coalesce(array_agg(w.id) FILTER (WHERE w.copy = 'users.seen_by'), '{}'),
      coalesce(array_agg(w.id) FILTER (WHERE w.copy = 'organization_results'), '{}'),
      coalesce(array_agg(w.id) FILTER (WHERE w.copy = 'organization_conversations'), '{}')
    INTO logins, of_results, threads FROM wrong_copies(NULL) w;
    -- The correct values are read below, while the locks are held.
    PERFORM lock_people(logins || ARRAY(SELECT student_id FROM results WHERE id = ANY (of_results)
      UNION SELECT user_id FROM conversation_participants WHERE conversation_id = ANY (threads)));
    UPDATE users u SET seen_by = ${acceptedBy('u.id')} WHERE u.id = ANY (logins);
    DELETE FROM organization_results o WHERE o.result_id = ANY (of_results) AND NOT coalesce(${KEPT_RESULT}, false);
    INSERT INTO organization_results (organization_id, result_id, ${listed(RESULT_COLUMNS)})
    SELECT s.organization_id, r.id, ${listed(RESULT_COLUMNS, 'r')}
    FROM results r JOIN session_students s ON s.student_id = r.student_id WHERE r.id = ANY (of_results)
    ON CONFLICT DO NOTHING;
    DELETE FROM organization_conversations WHERE conversation_id = ANY (threads);
    PERFORM show_conversations(threads);
    PERFORM set_config('app.untold', '', true);
    RETURN cardinality(logins) + cardinality(of_results) + cardinality(threads);
  END $$;
`;
