import { AS_OWNER } from '../rules.js';

/** What the database derives from sessions and their feedback. */
export const scheduling = /* sql */ `
  -- Of two events with one id, calendars take the one with the higher number.
  CREATE FUNCTION count_session_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NEW.feed_sequence := OLD.feed_sequence + 1;
    RETURN NEW;
  END $$;

  -- Whose calendar an address is. What it shows is read as that organization.
  CREATE FUNCTION calendar_feed(secret bytea) RETURNS TABLE (organization_id uuid, user_id uuid) LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT f.organization_id, f.user_id FROM calendar_feeds f WHERE f.token_hash = secret
  $$;

  -- Where this session's person has an address, and since when.
  CREATE FUNCTION calendar_feeds_of(secret bytea) RETURNS TABLE (organization_id uuid, since timestamptz) LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT f.organization_id, f.created_at FROM calendar_feeds f WHERE f.user_id = person_of_session(secret)
  $$;

  -- An address ends with the membership, or a parent's last link, and does not come back with them.
  CREATE FUNCTION end_calendar_feeds() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE who uuid := coalesce(to_jsonb(OLD) ->> 'parent_id', to_jsonb(OLD) ->> 'user_id');
  BEGIN
    DELETE FROM calendar_feeds f WHERE f.organization_id = OLD.organization_id AND f.user_id = who
      AND NOT EXISTS (SELECT FROM members m WHERE m.organization_id = f.organization_id AND m.user_id = who AND m.status = 'accepted')
      AND NOT EXISTS (SELECT FROM parents p JOIN parent_students l ON l.organization_id = p.organization_id AND l.parent_id = p.user_id
        WHERE p.organization_id = f.organization_id AND p.user_id = who AND p.status = 'accepted');
    RETURN NULL;
  END $$;

  -- Notes by how much session_students is to change; settle_session_students does it just before the commit.
  CREATE FUNCTION count_session_students() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE changes jsonb;
  BEGIN
    IF TG_OP = 'INSERT' THEN
      changes := (SELECT jsonb_agg(c) FROM (SELECT organization_id, student_id, count(*) AS occurrences
        FROM after WHERE student_id IS NOT NULL GROUP BY 1, 2) c);
    ELSIF TG_OP = 'DELETE' THEN
      changes := (SELECT jsonb_agg(c) FROM (SELECT organization_id, student_id, -count(*) AS occurrences
        FROM before WHERE student_id IS NOT NULL GROUP BY 1, 2) c);
    ELSE
      changes := (SELECT jsonb_agg(c) FROM (SELECT organization_id, student_id, sum(n) AS occurrences FROM (
        SELECT organization_id, student_id, 1 AS n FROM after
        UNION ALL SELECT organization_id, student_id, -1 FROM before) both_sides
        WHERE student_id IS NOT NULL GROUP BY 1, 2 HAVING sum(n) <> 0) c);
    END IF;
    IF changes IS NOT NULL THEN
      PERFORM set_config('app.session_students',
        (coalesce(nullif(current_setting('app.session_students', true), ''), '[]')::jsonb || changes)::text, true);
    END IF;
    RETURN NULL;
  END $$;

  -- Keeps session_students: at the commit, for all statements of the transaction at once. Bookings that share students, also
  -- of different organizations, lock them in one order, and nobody waits for the rest of another's transaction.
  CREATE FUNCTION settle_session_students() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE
    noted text := nullif(current_setting('app.session_students', true), '');
    changes session_students[];
  BEGIN
    IF noted IS NULL THEN
      RETURN NULL;
    END IF;
    PERFORM set_config('app.session_students', '', true);
    changes := ARRAY(SELECT ROW (organization_id, student_id, sum(occurrences))::session_students
      FROM jsonb_populate_recordset(NULL::session_students, noted::jsonb)
      GROUP BY organization_id, student_id HAVING sum(occurrences) <> 0);
    IF cardinality(changes) = 0 THEN
      RETURN NULL;
    END IF;
    PERFORM lock_people(ARRAY(SELECT student_id FROM unnest(changes)));
    INSERT INTO session_students AS s SELECT * FROM unnest(changes) WHERE occurrences > 0
      ON CONFLICT (organization_id, student_id) DO UPDATE SET occurrences = s.occurrences + excluded.occurrences;
    UPDATE session_students s SET occurrences = s.occurrences + c.occurrences FROM unnest(changes) c
      WHERE s.organization_id = c.organization_id AND s.student_id = c.student_id AND c.occurrences < 0;
    DELETE FROM session_students s USING unnest(changes) c
      WHERE s.organization_id = c.organization_id AND s.student_id = c.student_id AND s.occurrences = 0;
    RETURN NULL;
  END $$;

  -- At submission: the organization of the session, else the one that is writing.
  CREATE FUNCTION stamp_feedback_organization() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    NEW.organization_id := NULL;
    IF NOT NEW.legacy THEN
      SELECT organization_id INTO NEW.organization_id FROM sessions WHERE id = NEW.session_id;
      NEW.organization_id := coalesce(NEW.organization_id, current_organization_id());
    END IF;
    RETURN NEW;
  END $$;
`;
