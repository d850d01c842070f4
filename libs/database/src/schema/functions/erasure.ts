import { ERASE_LOGIN, ERASE_ROWS, NEEDS_ALIAS } from '../erase-statements.js';
import { COUNT_KEPT, DELETE_KEPT } from '../keeping.js';
import { AS_OWNER } from '../rules.js';
import { LIVES_HERE } from './moves.js';

/** Who and what the kinds of KEPT compare rows with. */
const HELD = `
    cutoff timestamptz := now() - make_interval(months => months);
    held uuid[] := ARRAY(SELECT h.user_id FROM holds h WHERE h.organization_id = here);
    held_addresses text[] := addresses_of(here, held);`;

/** Forgetting a person. */
export const erasure = /* sql */ `
  -- The addresses by which an organization knows these people.
  CREATE FUNCTION addresses_of(here uuid, people uuid[]) RETURNS text[] LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT ARRAY(SELECT DISTINCT lower(a) FROM (
      SELECT u.email_normalized FROM users u WHERE u.id = ANY (people)
      UNION ALL SELECT unnest(ARRAY[m.supplied_email, m.readdressed_from]) FROM members m
        WHERE m.organization_id = here AND m.user_id = ANY (people)
      UNION ALL SELECT unnest(ARRAY[p.supplied_email, p.readdressed_from]) FROM parents p
        WHERE p.organization_id = here AND p.user_id = ANY (people)) known (a) WHERE a IS NOT NULL)
  $$;

  -- Who has left an organization, as member and as parent, and since when. Whoever only might have come has no say in it.
  CREATE FUNCTION departures(here uuid) RETURNS TABLE (person uuid, since timestamptz) LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT t.user_id, max(t.ended) FROM (
      SELECT m.user_id, CASE m.status WHEN 'archived' THEN coalesce(m.archived_at, m.frozen_at) END AS ended
        FROM members m WHERE m.organization_id = here
      UNION ALL SELECT p.user_id, CASE p.status WHEN 'archived' THEN p.frozen_at END FROM parents p
        WHERE p.organization_id = here AND (p.status <> 'archived' OR p.frozen_at IS NOT NULL)) t
    GROUP BY t.user_id HAVING bool_and(t.ended IS NOT NULL)
  $$;

  -- How many rows of a kind the organization of the transaction has that are so many months old, and since when.
  CREATE FUNCTION retention_due(kind text, months integer) RETURNS TABLE (rows bigint, oldest timestamptz)
    LANGUAGE plpgsql STABLE ${AS_OWNER} AS $$
  DECLARE
    here uuid := current_organization_id();${HELD}
  BEGIN
    CASE kind
    ${COUNT_KEPT}
    END CASE;
  END $$;

  -- What organizations have switched on.
  CREATE FUNCTION retentions() RETURNS TABLE (organization_id uuid, kind text) LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT s.organization_id, s.kind FROM retention_settings s WHERE ${LIVES_HERE('s.organization_id')} ORDER BY 1, 2
  $$;

  -- Deletes a portion of the rows of a kind that an organization has deleted, if it still does. @returns how many
  CREATE FUNCTION delete_retained(here uuid, kind text, most integer) RETURNS integer LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE
    months integer := (SELECT s.months FROM retention_settings s WHERE s.organization_id = here AND s.kind = delete_retained.kind);${HELD}
    done integer;
  BEGIN
    CASE kind
    ${DELETE_KEPT}
    END CASE;
    RETURN done;
  END $$;

  -- Erases somebody from an organization, and their login with them once no organization is tied to it: see ERASING. Rows that
  -- stay name "other" instead, a member without a name who is made if there are such rows. Nobody is told of single rows, only
  -- that the person was erased. Returns what the person was here, how many rows of each table went and changed, the documents
  -- to remove from the storage, and by what to know the person in what is sealed; or why not.
  CREATE FUNCTION erase_person(here uuid, person uuid, other uuid, keep_results boolean, tax_years integer) RETURNS jsonb
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE
    alias uuid := other;
    login users;
    member members;
    parent parents;
    gone boolean;
    addresses text[];
    words text[];
    receipts uuid[] := '{}';
    documents uuid[] := '{}';
    erased jsonb := '{}';
    changed jsonb := '{}';
    n bigint;
    kind text;
  BEGIN
    -- Whether the login goes decides which index a statement follows.
    PERFORM set_config('plan_cache_mode', 'force_custom_plan', true);
    PERFORM lock_people(ARRAY[person]);
    SELECT * INTO login FROM users u WHERE u.id = person;
    SELECT * INTO member FROM members m WHERE m.organization_id = here AND m.user_id = person;
    SELECT * INTO parent FROM parents p WHERE p.organization_id = here AND p.user_id = person;
    IF member.user_id IS NULL AND parent.user_id IS NULL THEN
      RETURN jsonb_build_object('refused', 'unknown');
    ELSIF member.status <> 'archived' OR parent.status <> 'archived' THEN
      RETURN jsonb_build_object('refused', 'still_belongs');
    ELSIF EXISTS (SELECT FROM holds h WHERE h.organization_id = here AND h.user_id = person) THEN
      RETURN jsonb_build_object('refused', 'held');
    END IF;
    gone := NOT EXISTS (SELECT FROM members m WHERE m.user_id = person AND m.organization_id <> here)
      AND NOT EXISTS (SELECT FROM parents p WHERE p.user_id = person AND p.organization_id <> here);
    addresses := addresses_of(here, ARRAY[person]);
    words := ARRAY(SELECT DISTINCT lower(w) FROM unnest(ARRAY[login.first_name || ' ' || login.last_name,
      member.supplied_first_name || ' ' || member.supplied_last_name,
      parent.supplied_first_name || ' ' || parent.supplied_last_name]) AS w WHERE w IS NOT NULL);
    kind := CASE WHEN member.user_id IS NULL THEN 'parent' WHEN member.role = 'student' THEN 'student' ELSE 'tutor' END;
    PERFORM set_config('app.untold', 'on', true);

    IF ${NEEDS_ALIAS} THEN
      INSERT INTO users (id, email, email_normalized, placeholder_email, first_name, last_name)
      VALUES (alias, alias || '@erased.invalid', alias || '@erased.invalid', true, 'Erased', kind);
      IF member.user_id IS NOT NULL THEN
        INSERT INTO members (id, organization_id, user_id, role, status, supplied_first_name, supplied_last_name, created_at,
          archived_at, frozen_at)
        VALUES (gen_random_uuid(), here, alias, kind, 'archived', 'Erased', kind, member.created_at, now(), now());
      END IF;
      IF parent.user_id IS NOT NULL THEN
        INSERT INTO parents (organization_id, user_id, status, supplied_first_name, supplied_last_name, created_at, frozen_at)
        VALUES (here, alias, 'archived', 'Erased', 'parent', parent.created_at, now());
      END IF;
    END IF;

${ERASE_ROWS}

    -- The copies follow when constraints are checked, and name the login.
    SET CONSTRAINTS ALL IMMEDIATE;
    SET CONSTRAINTS ALL DEFERRED;
    DELETE FROM organization_results r WHERE r.organization_id = here AND r.student_id = person;
${ERASE_LOGIN}
    PERFORM set_config('app.untold', '', true);

    INSERT INTO event_changes (organization_id, resource, resource_id, op, verb, changed)
    SELECT here, r, person, 'D', 'erased', '{}' FROM unnest(ARRAY[
      CASE WHEN member.user_id IS NOT NULL THEN kind END, CASE WHEN parent.user_id IS NOT NULL THEN 'parent' END]) AS r
    WHERE r IS NOT NULL;
    RETURN jsonb_build_object('kind', kind, 'gone', gone, 'erased', erased, 'changed', changed, 'addresses', addresses,
      'words', words, 'documents', documents);
  END $$;

  -- What is sealed of an organization's mails and stored answers: only who has the key of the installation can say whom it tells of.
  CREATE FUNCTION sealed_texts(here uuid) RETURNS TABLE (kind text, place text, texts bytea[])
    LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT CASE WHEN o.finished_at IS NULL THEN 'mail' ELSE 'sent' END, o.id::text, array_remove(o.payload || o.gathered, NULL)
      FROM outbox o WHERE o.organization_id = here AND o.topic = 'email' AND o.payload IS NOT NULL
    UNION ALL SELECT 'answer', i.ctid::text, ARRAY[i.answer] FROM idempotency_keys i
      WHERE i.organization_id = here AND i.answer IS NOT NULL
  $$;

  -- Empties what told of somebody: a mail that waits is not sent, and one that was sent keeps nothing; an answer is another.
  CREATE FUNCTION empty_sealed(here uuid, kind text, place text, other bytea) RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    IF kind = 'answer' THEN
      UPDATE idempotency_keys i SET answer = other WHERE i.ctid = place::tid AND i.organization_id = here;
    ELSIF kind = 'mail' THEN
      DELETE FROM outbox o WHERE o.id = place::uuid AND o.organization_id = here;
    ELSE
      UPDATE outbox o SET payload = NULL, gathered = '{}' WHERE o.id = place::uuid AND o.organization_id = here;
    END IF;
  END $$;

  -- Who is to be erased now, of all organizations. Whoever has come back is not.
  CREATE FUNCTION due_erasures(most integer) RETURNS TABLE (organization_id uuid, person_id uuid, keep_results boolean)
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  #variable_conflict use_column
  BEGIN
    DELETE FROM erasures e WHERE e.due_at <= now()::timestamptz(3) AND EXISTS (
      SELECT FROM members m WHERE m.organization_id = e.organization_id AND m.user_id = e.person_id AND m.status <> 'archived'
      UNION ALL SELECT FROM parents p WHERE p.organization_id = e.organization_id AND p.user_id = e.person_id AND p.status <> 'archived');
    RETURN QUERY SELECT e.organization_id, e.person_id, e.keep_results FROM erasures e WHERE e.due_at <= now()::timestamptz(3)
      AND ${LIVES_HERE('e.organization_id')}
      AND NOT EXISTS (SELECT FROM holds h WHERE h.organization_id = e.organization_id AND h.user_id = e.person_id)
      ORDER BY e.due_at LIMIT most;
  END $$;
`;
