import { folded } from '../../folding.js';
import { acceptedBy, teachingOf } from '../copies.js';
import { AS_OWNER } from '../rules.js';

/** Whether a trigger runs for a statement of a process, not for the owner's functions or a superuser. */
const BY_PROCESS = `row_security_active(TG_RELID)
      AND current_user <> (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = TG_RELID)`;

/**
 * Members, parents and their logins. An address identifies a login, and an organization sees the login only after its
 * person has accepted. An organization may change a login, or link one to itself as accepted, only while no other
 * organization is linked to it. The database enforces these rules, so that no writer can forget them.
 */
export const people = /* sql */ `
  -- The ids of logins by address: provisioning has to know that an address is taken, and nothing else about the person.
  CREATE FUNCTION logins_by_email(addresses text[]) RETURNS TABLE (email text, id uuid)
    LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT u.email_normalized, u.id FROM users u WHERE u.email_normalized = ANY (addresses)
  $$;

  -- A text as it is searched.
  CREATE FUNCTION folded(t text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ${folded('t')};

  -- The organization of a person with a single accepted membership; null for all others.
  CREATE FUNCTION only_organization_of(person uuid) RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT (array_agg(organization_id))[1] FROM members WHERE user_id = person AND status = 'accepted'
    HAVING count(*) = 1
  $$;

  -- Any tie counts, pending and archived ones too: what an organization was told of a login must stay true.
  CREATE FUNCTION tied_elsewhere(login uuid) RETURNS boolean LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT EXISTS (SELECT FROM members WHERE user_id = login AND organization_id IS DISTINCT FROM current_organization_id())
      OR EXISTS (SELECT FROM parents WHERE user_id = login AND organization_id IS DISTINCT FROM current_organization_id())
  $$;

  -- Whether another organization's tie to a login protects its names: the person has accepted it, now or before. Its address
  -- is protected, too, by one that waits for an answer as long as its invite does; without one, as long as it would.
  CREATE FUNCTION kept_elsewhere(login uuid, with_address boolean) RETURNS boolean LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT EXISTS (SELECT FROM (
        SELECT organization_id, status, accepted_at, frozen_at, created_at, approval_requested_at IS NOT NULL AS waits
        FROM members WHERE user_id = login
        UNION ALL SELECT p.organization_id, p.status, p.accepted_at, p.frozen_at, p.created_at, EXISTS (SELECT FROM joins j
          WHERE j.organization_id = p.organization_id AND j.user_id = login AND j.approval = 'waiting')
        FROM parents p WHERE p.user_id = login) t
      WHERE t.organization_id IS DISTINCT FROM current_organization_id()
        AND (t.accepted_at IS NOT NULL OR t.frozen_at IS NOT NULL OR (with_address AND t.status = 'pending' AND (t.waits
          OR (SELECT coalesce(bool_or(i.revoked_at IS NULL AND i.accepted_at IS NULL AND i.expires_at > now()),
              t.created_at > now() - interval '14 days')
            FROM invites i WHERE i.user_id = login AND i.organization_id = t.organization_id)))))
  $$;

  -- Whether only the person may accept a tie to this login: somebody has used it or proved its address, or another
  -- organization knows it.
  CREATE FUNCTION must_accept(login uuid) RETURNS boolean LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT is_established(login) OR tied_elsewhere(login)
  $$;

  -- Whether somebody has used this login or proved its address, or did before a key changed it.
  CREATE FUNCTION is_established(login uuid) RETURNS boolean LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT is_used(login) OR EXISTS (SELECT FROM users WHERE id = login AND email_verified_at IS NOT NULL)
      OR EXISTS (SELECT FROM members WHERE user_id = login AND readdressed_at IS NOT NULL)
      OR EXISTS (SELECT FROM parents WHERE user_id = login AND readdressed_at IS NOT NULL)
  $$;


  -- Those of these people whom other organizations have a tie to. They are locked first: of two organizations that change
  -- the same login, the later sees what the earlier did.
  CREATE FUNCTION hold_ties_elsewhere(people uuid[]) RETURNS SETOF uuid LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    PERFORM lock_people(people);
    RETURN QUERY SELECT person FROM unnest(people) AS person WHERE tied_elsewhere(person);
  END $$;

  -- A changed address is unverified. A process may only change the address of a login that no other organization keeps.
  CREATE FUNCTION guard_address() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NEW.email_verified_at := NULL;
    IF ${BY_PROCESS} THEN
      PERFORM hold_ties_elsewhere(ARRAY[OLD.id]);
      IF kept_elsewhere(OLD.id, true) THEN
        RAISE insufficient_privilege USING MESSAGE = 'this login is tied to another organization too';
      END IF;
    END IF;
    RETURN NEW;
  END $$;

  -- Another address is another person: credentials, open invites and ties that the former one never accepted end.
  CREATE FUNCTION forget_address() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    UPDATE credentials SET password_hash = NULL, sessions_valid_from = now() WHERE user_id = NEW.id;
    UPDATE invites SET revoked_at = now() WHERE user_id = NEW.id AND accepted_at IS NULL AND revoked_at IS NULL;
    DELETE FROM passkeys p WHERE p.user_id = NEW.id;
    UPDATE members SET status = 'archived', archived_at = now(), approval_requested_at = NULL
    WHERE user_id = NEW.id AND status = 'pending' AND frozen_at IS NULL
      AND organization_id <> current_organization_id();
    UPDATE parents SET status = 'archived' WHERE user_id = NEW.id AND status = 'pending' AND frozen_at IS NULL
      AND organization_id <> current_organization_id();
    RETURN NULL;
  END $$;

  -- Whoever leaves is shown as they were: what their login says now is kept, and the login is not seen any more. A process
  -- cannot say that somebody accepted earlier than now, and learns nothing of a login by writing that its person has left.
  CREATE FUNCTION keep_acceptance() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE
    login users;
    imported boolean := pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'MEMBER');
    had timestamptz;
    leaves boolean;
  BEGIN
    IF TG_OP = 'UPDATE' THEN
      had := OLD.accepted_at;
      leaves := had IS NOT NULL AND OLD.user_id = NEW.user_id;
    ELSE
      leaves := NEW.status = 'archived' AND NEW.accepted_at IS NOT NULL AND (imported OR NOT must_accept(NEW.user_id));
    END IF;
    IF NEW.accepted_at IS NOT NULL AND NOT imported THEN
      NEW.accepted_at := coalesce(had, now());
    END IF;
    IF TG_OP = 'UPDATE' AND NEW.readdressed_at IS NOT NULL THEN
      IF NEW.status = 'accepted' AND OLD.status <> 'accepted' THEN
        NEW.readdressed_at := NULL;
        NEW.readdressed_from := NULL;
      ELSIF NEW.status = 'pending' AND OLD.status = 'archived' AND TG_TABLE_NAME = 'members' THEN
        -- Whoever comes back still waits for a manager.
        NEW.approval_requested_at := now();
      END IF;
    END IF;
    IF NEW.status = 'accepted' THEN
      NEW.accepted_at := coalesce(NEW.accepted_at, now());
      NEW.frozen_at := NULL;
      NEW.refused_at := NULL;
    ELSIF leaves THEN
      SELECT * INTO login FROM users WHERE id = NEW.user_id;
      IF TG_OP = 'UPDATE' OR NEW.supplied_first_name IS NULL THEN
        NEW.supplied_first_name := login.first_name;
        NEW.supplied_last_name := login.last_name;
        NEW.supplied_email := CASE WHEN NOT login.placeholder_email THEN login.email END;
        NEW.supplied_phone := login.phone;
      END IF;
      NEW.frozen_at := coalesce(CASE TG_OP WHEN 'INSERT' THEN (to_jsonb(NEW) ->> 'archived_at')::timestamptz END, now());
      NEW.accepted_at := NULL;
    ELSIF TG_OP = 'UPDATE' OR NEW.status = 'pending' THEN
      -- What is left, somebody who is said to have belonged, is for guard_acceptance to refuse.
      NEW.accepted_at := NULL;
    END IF;
    RETURN NEW;
  END $$;

  -- A process may link somebody as accepted whose login only this organization made and nobody has used, or who had
  -- accepted here before this transaction, as member or as parent. All others have to consent (accept_ties). Times of rows
  -- are rounded to milliseconds.
  CREATE FUNCTION guard_acceptance() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE people uuid[];
  BEGIN
    IF NOT (${BY_PROCESS}) THEN
      RETURN NULL;
    END IF;
    IF TG_OP = 'INSERT' THEN
      people := ARRAY(SELECT user_id FROM after WHERE accepted_at IS NOT NULL);
    ELSE
      people := ARRAY(SELECT a.user_id FROM after a WHERE a.accepted_at IS NOT NULL AND NOT EXISTS (SELECT FROM before b
        WHERE b.organization_id = a.organization_id AND b.user_id = a.user_id AND b.accepted_at IS NOT NULL));
    END IF;
    IF cardinality(people) = 0 THEN
      RETURN NULL;
    END IF;
    PERFORM hold_ties_elsewhere(people);
    IF EXISTS (SELECT FROM unnest(people) AS person WHERE must_accept(person) AND NOT EXISTS (
      SELECT FROM members WHERE organization_id = current_organization_id() AND user_id = person
        AND accepted_at < now()::timestamptz(3)
      UNION ALL
      SELECT FROM parents WHERE organization_id = current_organization_id() AND user_id = person
        AND accepted_at < now()::timestamptz(3))) THEN
      RAISE insufficient_privilege USING MESSAGE = 'only this person can accept';
    END IF;
    RETURN NULL;
  END $$;

  -- Keeps users.seen_by. The logins are locked first: of two organizations that change the same login, the later sees what
  -- the earlier did.
  CREATE FUNCTION show_logins() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE people uuid[];
  BEGIN
    IF TG_OP = 'INSERT' THEN
      people := ARRAY(SELECT user_id FROM after WHERE accepted_at IS NOT NULL);
    ELSIF TG_OP = 'DELETE' THEN
      people := ARRAY(SELECT user_id FROM before WHERE accepted_at IS NOT NULL);
    ELSIF TG_OP = 'UPDATE' THEN
      -- Those that show their login on one side only.
      people := ARRAY(SELECT user_id FROM (
        SELECT organization_id, user_id FROM before WHERE accepted_at IS NOT NULL
        UNION ALL SELECT organization_id, user_id FROM after WHERE accepted_at IS NOT NULL) both_sides
        GROUP BY organization_id, user_id HAVING count(*) = 1);
    ELSE
      people := ARRAY(SELECT id FROM users WHERE seen_by <> '{}');
    END IF;
    IF cardinality(people) = 0 THEN
      RETURN NULL;
    END IF;
    PERFORM lock_people(people);
    UPDATE users u SET seen_by = a.organizations
    FROM (SELECT p.id, ${acceptedBy('p.id')} AS organizations
      FROM unnest(people) AS p (id)) a
    WHERE u.id = a.id AND u.seen_by <> a.organizations;
    RETURN NULL;
  END $$;

  -- A change of membership, or of whether somebody has left, changes what is seen of a person's conversations and of groups
  -- that nobody owns.
  CREATE FUNCTION follow_membership() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE people uuid[]; ids uuid[];
  BEGIN
    IF TG_OP = 'INSERT' THEN
      people := ARRAY(SELECT DISTINCT user_id FROM after WHERE status = 'accepted' OR frozen_at IS NOT NULL);
    ELSIF TG_OP = 'DELETE' THEN
      people := ARRAY(SELECT DISTINCT user_id FROM before WHERE status = 'accepted' OR frozen_at IS NOT NULL);
    ELSE
      -- Those of whom one side says what the other does not.
      people := ARRAY(SELECT user_id FROM (
        SELECT organization_id, user_id, status = 'accepted' AS belongs, frozen_at FROM before
        UNION ALL SELECT organization_id, user_id, status = 'accepted', frozen_at FROM after) both_sides
        WHERE belongs OR frozen_at IS NOT NULL GROUP BY organization_id, user_id, belongs, frozen_at HAVING count(*) = 1);
    END IF;
    IF cardinality(people) = 0 THEN
      RETURN NULL;
    END IF;
    PERFORM lock_people(people);
    ids := ARRAY(SELECT DISTINCT conversation_id FROM conversation_participants WHERE user_id = ANY (people));
    IF cardinality(ids) > 0 THEN
      PERFORM show_conversations(ids);
    END IF;
    UPDATE student_groups SET organization_id = only_organization_of(tutor_id)
    WHERE owner_organization_id IS NULL AND tutor_id = ANY (people)
      AND organization_id IS DISTINCT FROM only_organization_of(tutor_id);
    RETURN NULL;
  END $$;

  -- Parents are enrolled from the first link to a child of the organization until the last one goes; then they
  -- have left, and have to accept again.
  CREATE FUNCTION derive_enrolment() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    PERFORM 1 FROM parents WHERE (organization_id, user_id) IN (SELECT organization_id, parent_id FROM changed)
      ORDER BY organization_id, user_id FOR NO KEY UPDATE;
    UPDATE parents p SET enrolled_at = CASE WHEN l.first IS NOT NULL THEN least(p.enrolled_at, l.first) END,
      status = CASE WHEN l.first IS NULL AND p.status = 'accepted' THEN 'pending' ELSE p.status END FROM (
      SELECT organization_id, parent_id, min(s.linked_at) AS first
      FROM (SELECT DISTINCT organization_id, parent_id FROM changed) c
      LEFT JOIN parent_students s USING (organization_id, parent_id) GROUP BY 1, 2) l
    WHERE p.organization_id = l.organization_id AND p.user_id = l.parent_id AND (p.enrolled_at IS NULL
      OR l.first IS NULL OR l.first < p.enrolled_at);
    RETURN NULL;
  END $$;

  -- Keeps the copies in members.
  CREATE FUNCTION keep_profile() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    IF TG_OP = 'DELETE' THEN
      UPDATE members m SET profile_published = false, teaching = NULL
      FROM before b WHERE m.organization_id = b.organization_id AND m.user_id = b.user_id;
    ELSE
      UPDATE members m SET profile_published = a.is_published, teaching = ${teachingOf('a')}
      FROM after a WHERE m.organization_id = a.organization_id AND m.user_id = a.user_id
        AND (m.profile_published, m.teaching) IS DISTINCT FROM (a.is_published, ${teachingOf('a')});
    END IF;
    RETURN NULL;
  END $$;

  -- The trigger's arguments are SQL: the lists that a row is in, and what it counts there.
  CREATE FUNCTION count_in_lists() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE
    changed text := CASE TG_OP
      WHEN 'INSERT' THEN 'SELECT *, 1 AS sign FROM after'
      WHEN 'DELETE' THEN 'SELECT *, -1 AS sign FROM before'
      WHEN 'UPDATE' THEN 'SELECT *, 1 AS sign FROM after UNION ALL SELECT *, -1 FROM before' END;
    change record;
  BEGIN
    IF TG_OP = 'TRUNCATE' THEN
      DELETE FROM list_counts WHERE starts_with(list, TG_TABLE_NAME || ':');
      RETURN NULL;
    END IF;
    FOR change IN EXECUTE format(
      'SELECT organization_id, %L || l.list AS list, sum(sign * (%s)) AS n FROM (%s) r, unnest(ARRAY[%s]) AS l (list)
        WHERE l.list IS NOT NULL GROUP BY 1, 2 HAVING sum(sign * (%2$s)) <> 0',
      TG_TABLE_NAME || ':', TG_ARGV[1], changed, TG_ARGV[0])
    LOOP
      UPDATE list_counts SET delta = delta + change.n
      WHERE organization_id = change.organization_id AND list = change.list AND slot = (
        SELECT slot FROM list_counts WHERE organization_id = change.organization_id AND list = change.list
        LIMIT 1 FOR UPDATE SKIP LOCKED);
      IF NOT FOUND THEN
        INSERT INTO list_counts (organization_id, list, delta)
        VALUES (change.organization_id, change.list, change.n);
      END IF;
    END LOOP;
    RETURN NULL;
  END $$;
`;
