import { AS_OWNER } from '../rules.js';

/** What the database derives from sessions and their feedback. */
export const scheduling = /* sql */ `
  -- Keeps session_students.
  CREATE FUNCTION count_session_students() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE changes session_students[];
  BEGIN
    IF TG_OP = 'INSERT' THEN
      changes := ARRAY(SELECT ROW (organization_id, student_id, count(*))::session_students
        FROM after WHERE student_id IS NOT NULL GROUP BY organization_id, student_id);
    ELSIF TG_OP = 'DELETE' THEN
      changes := ARRAY(SELECT ROW (organization_id, student_id, -count(*))::session_students
        FROM before WHERE student_id IS NOT NULL GROUP BY organization_id, student_id);
    ELSE
      changes := ARRAY(SELECT ROW (organization_id, student_id, sum(n))::session_students FROM (
        SELECT organization_id, student_id, 1 AS n FROM after
        UNION ALL SELECT organization_id, student_id, -1 FROM before) both_sides
        WHERE student_id IS NOT NULL GROUP BY organization_id, student_id HAVING sum(n) <> 0);
    END IF;
    IF cardinality(changes) = 0 THEN
      RETURN NULL;
    END IF;
    PERFORM lock_people(ARRAY(SELECT student_id FROM unnest(changes)));
    INSERT INTO session_students AS s SELECT * FROM unnest(changes) WHERE occurrences > 0
      ON CONFLICT (organization_id, student_id) DO UPDATE SET occurrences = s.occurrences + excluded.occurrences;
    IF TG_OP <> 'INSERT' THEN
      UPDATE session_students s SET occurrences = s.occurrences + c.occurrences FROM unnest(changes) c
        WHERE s.organization_id = c.organization_id AND s.student_id = c.student_id AND c.occurrences < 0;
      DELETE FROM session_students s USING unnest(changes) c
        WHERE s.organization_id = c.organization_id AND s.student_id = c.student_id AND s.occurrences = 0;
    END IF;
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
