import { listed, MORE_RESULT_COLUMNS, ownResult, RESULT_COLUMNS } from '../copies.js';
import { AS_OWNER } from '../rules.js';

/** Which organization homework and groups belong to, and who sees which results. */
export const teaching = /* sql */ `
  -- "Methods 3/4" becomes methods_34, "Ökologie" okologie. Letters of other scripts are left out: a name without any other becomes
  -- "subject". A number is added to a code that is taken.
  CREATE FUNCTION make_subject_code() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    ascii text := regexp_replace(folded(NEW.name), '[^a-z0-9 _-]', '', 'g');
    slug text := left(btrim(regexp_replace(ascii, '[ _-]+', '_', 'g'), '_'), 90);
    next integer := 2;
  BEGIN
    slug := coalesce(nullif(rtrim(slug, '_'), ''), 'subject');
    NEW.code := slug;
    WHILE EXISTS (SELECT FROM subjects WHERE organization_id = NEW.organization_id AND code = NEW.code) LOOP
      NEW.code := slug || '_' || next;
      next := next + 1;
    END LOOP;
    RETURN NEW;
  END $$;

  -- Classroom, then group, then tutor-student relation, then an author with a single organization. A pair related in
  -- several organizations belongs to the one that is writing, if it is one of them. A relation that had ended by then does
  -- not count: the tutor's later work is not for that organization to see. Another organization's relation counts only
  -- where both people have accepted it.
  CREATE FUNCTION derive_homework_organization() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE related uuid[];
  BEGIN
    NEW.organization_id := NULL;
    IF NEW.classroom_id IS NOT NULL THEN
      SELECT organization_id INTO NEW.organization_id FROM classrooms WHERE id = NEW.classroom_id;
    END IF;
    IF NEW.organization_id IS NULL AND NEW.group_id IS NOT NULL THEN
      SELECT organization_id INTO NEW.organization_id FROM student_groups WHERE id = NEW.group_id;
    END IF;
    IF NEW.organization_id IS NULL AND NEW.student_id IS NOT NULL THEN
      related := ARRAY(SELECT DISTINCT organization_id FROM tutor_students
        WHERE tutor_id = NEW.assigned_by AND student_id = NEW.student_id
          AND (status = 'active' OR archived_at > NEW.created_at)
          AND (organization_id = current_organization_id() OR NOT EXISTS (
            SELECT FROM unnest(ARRAY[tutor_id, student_id]) AS person WHERE NOT EXISTS (SELECT FROM members m
              WHERE m.organization_id = tutor_students.organization_id AND m.user_id = person
                AND m.accepted_at IS NOT NULL))));
      IF cardinality(related) = 1 THEN
        NEW.organization_id := related[1];
      ELSIF current_organization_id() = ANY (related) THEN
        NEW.organization_id := current_organization_id();
      END IF;
    END IF;
    IF NEW.organization_id IS NULL THEN
      NEW.organization_id := only_organization_of(NEW.assigned_by);
    END IF;
    RETURN NEW;
  END $$;

  -- The organization of homework and feedback stays what it was at creation.
  CREATE FUNCTION keep_organization() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NEW.organization_id := OLD.organization_id;
    RETURN NEW;
  END $$;

  -- The owner, else the only organization of the group's tutor. Other changes of a group neither look up memberships nor
  -- wait for them.
  CREATE FUNCTION derive_group_organization() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    IF TG_OP = 'UPDATE' AND (NEW.owner_organization_id, NEW.tutor_id, NEW.organization_id)
      IS NOT DISTINCT FROM (OLD.owner_organization_id, OLD.tutor_id, OLD.organization_id) THEN
      RETURN NEW;
    END IF;
    NEW.organization_id := NEW.owner_organization_id;
    IF NEW.organization_id IS NULL THEN
      PERFORM lock_people(ARRAY[NEW.tutor_id]);
      NEW.organization_id := only_organization_of(NEW.tutor_id);
    END IF;
    RETURN NEW;
  END $$;

  -- Whether only other organizations see a group: their members are not for a writer to add. True for every group if the
  -- transaction names no organization.
  CREATE FUNCTION group_of_others(id uuid) RETURNS boolean LANGUAGE plpgsql STABLE ${AS_OWNER} AS $$
  BEGIN
    RETURN current_organization_id() IS NULL OR EXISTS (
      SELECT FROM student_groups g WHERE g.id = $1 AND g.organization_id <> current_organization_id());
  END $$;

  -- The organization of a group may change, and become none, with another organization's membership of its tutor: a foreign key
  -- with it would refuse that membership. So it is compared when a row names the group.
  CREATE FUNCTION require_seen_group() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    IF (TG_OP = 'INSERT' OR (NEW.organization_id, NEW.group_id) IS DISTINCT FROM (OLD.organization_id, OLD.group_id))
      AND EXISTS (SELECT FROM student_groups g WHERE g.id = NEW.group_id AND g.organization_id IS DISTINCT FROM NEW.organization_id
        AND g.organization_id IS NOT NULL) THEN
      RAISE foreign_key_violation USING MESSAGE = 'the group is not of this organization', TABLE = TG_TABLE_NAME,
        CONSTRAINT = TG_TABLE_NAME || '_group_id_fkey';
    END IF;
    RETURN NULL;
  END $$;

  -- Keeps organization_results when results change.
  CREATE FUNCTION show_results() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    IF TG_OP = 'UPDATE' THEN
      PERFORM lock_people(ARRAY(SELECT student_id FROM before UNION SELECT student_id FROM after));
      DELETE FROM organization_results o USING after a WHERE o.result_id = a.id AND o.student_id <> a.student_id;
    ELSE
      PERFORM lock_people(ARRAY(SELECT DISTINCT student_id FROM after));
    END IF;
    INSERT INTO organization_results (organization_id, result_id, ${listed(RESULT_COLUMNS)})
    SELECT s.organization_id, a.id, ${listed(RESULT_COLUMNS, 'a')}
    FROM after a JOIN session_students s ON s.student_id = a.student_id
    ON CONFLICT (organization_id, result_id) DO UPDATE SET
      ${RESULT_COLUMNS.map((column) => `${column} = excluded.${column}`).join(', ')};
    RETURN NULL;
  END $$;

  -- Keeps organization_results when students get their first session in an organization, or lose the last one.
  CREATE FUNCTION show_results_of_students() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    IF TG_OP = 'DELETE' THEN
      DELETE FROM organization_results r USING before b
      WHERE r.organization_id = b.organization_id AND r.student_id = b.student_id;
    ELSE
      INSERT INTO organization_results (organization_id, result_id, ${listed(RESULT_COLUMNS)})
      SELECT a.organization_id, r.id, ${listed(RESULT_COLUMNS, 'r')}
      FROM after a JOIN results r ON r.student_id = a.student_id
      FOR KEY SHARE OF r -- Waits for a result that is being deleted, rather than fail on its foreign key.
      ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
  END $$;

  -- Each write of a row copies anew; show_results writes the rows of each result that changes.
  CREATE FUNCTION copy_result() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    SELECT ${listed(MORE_RESULT_COLUMNS)}
    INTO ${listed(MORE_RESULT_COLUMNS, 'NEW')}
    FROM results WHERE id = NEW.result_id;
    RETURN NEW;
  END $$;

  -- Only results of students who have accepted are shown. Of those who have left, the organization's own are; the others
  -- stay as they were then.
  CREATE FUNCTION hide_unaccepted_results() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    IF EXISTS (SELECT FROM members WHERE organization_id = NEW.organization_id AND user_id = NEW.student_id
      AND (accepted_at IS NOT NULL OR (frozen_at IS NOT NULL AND ${ownResult('NEW.organization_id', 'NEW.result_id')}))) THEN
      RETURN NEW;
    END IF;
    RETURN NULL;
  END $$;

  -- Keeps organization_results when students accept, leave, or have to accept again. Of those who no longer belong stays what
  -- they had completed, and what the organization itself had them do.
  CREATE FUNCTION follow_consent() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE changed members[];
  BEGIN
    changed := ARRAY(SELECT a FROM after a JOIN before b USING (organization_id, user_id)
      WHERE (a.accepted_at IS NULL) <> (b.accepted_at IS NULL));
    IF cardinality(changed) = 0 THEN
      RETURN NULL;
    END IF;
    PERFORM lock_people(ARRAY(SELECT user_id FROM unnest(changed)));
    DELETE FROM organization_results r USING unnest(changed) c
      WHERE r.organization_id = c.organization_id AND r.student_id = c.user_id AND c.accepted_at IS NULL
        AND NOT coalesce(c.frozen_at IS NOT NULL AND (r.completed_at <= c.frozen_at
          OR ${ownResult('r.organization_id', 'r.result_id')}), false);
    INSERT INTO organization_results (organization_id, result_id, ${listed(RESULT_COLUMNS)})
    SELECT c.organization_id, r.id, ${listed(RESULT_COLUMNS, 'r')}
    FROM unnest(changed) c
      JOIN session_students s ON s.organization_id = c.organization_id AND s.student_id = c.user_id
      JOIN results r ON r.student_id = c.user_id
    WHERE c.accepted_at IS NOT NULL ON CONFLICT (organization_id, result_id) DO UPDATE SET
      ${RESULT_COLUMNS.map((column) => `${column} = excluded.${column}`).join(', ')};
    RETURN NULL;
  END $$;
`;
