import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Attributes of functions that run with the owner's rights, to maintain derived data across organizations. The word
 * `maintenance` in the search path (no schema has that name) opens the owner's policies: see RowSecurity1763600000006.
 * The application's role has no such policy, whatever it sets. A custom setting would not do, because only a superuser
 * may attach one to a function.
 */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;

/** Nobody may call these. Triggers need no right to run, but with that right one could attach them to other tables. */
const FUNCTIONS = [
  'lock_people', 'only_organization_of', 'derive_homework_organization', 'stamp_feedback_organization',
  'keep_organization', 'derive_group_organization', 'derive_enrolment', 'count_session_students',
  'show_results_of_students', 'show_results', 'show_conversations', 'show_conversations_of_participants',
  'follow_membership', 'follow_messages', 'copy_conversation',
]; // prettier-ignore

/**
 * What the database derives: the organization of homework, feedback and groups, who sees which results and
 * conversations, and the enrolment of parents. Triggers maintain it, so that all writers (API, import, console) agree.
 *
 * Triggers that depend on each other's rows first lock the rows that concern both, in id order: people (rows of users),
 * then conversations; for enrolment, parents. Under READ COMMITTED, the later of two concurrent writers then sees what
 * the earlier one committed, so no derived row is missed. A trigger that has nothing to derive locks nothing.
 */
export class Derived1763600000005 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      CREATE FUNCTION lock_people(ids uuid[]) RETURNS void LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        PERFORM 1 FROM users WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
      END $$;

      -- Where a person with a single accepted membership has it; null for all others.
      CREATE FUNCTION only_organization_of(person uuid) RETURNS uuid LANGUAGE sql STABLE AS $$
        SELECT (array_agg(organization_id))[1] FROM members WHERE user_id = person AND status = 'accepted'
        HAVING count(*) = 1
      $$;

      -- Homework: classroom, then group, then tutor-student relation, then an author with a single organization.
      -- A pair related in several organizations belongs to the one that is writing, if it is one of them. A relation
      -- that had ended by then says nothing: the tutor's later work is not for that organization to see.
      CREATE FUNCTION derive_homework_organization() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
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
              AND (status = 'active' OR archived_at > NEW.created_at));
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
      CREATE TRIGGER derive_organization BEFORE INSERT ON homework
        FOR EACH ROW EXECUTE FUNCTION derive_homework_organization();

      -- Feedback is stamped at submission: with its session's organization, else with the one that is writing.
      CREATE FUNCTION stamp_feedback_organization() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        NEW.organization_id := NULL;
        IF NOT NEW.legacy THEN
          SELECT organization_id INTO NEW.organization_id FROM sessions WHERE id = NEW.session_id;
          NEW.organization_id := coalesce(NEW.organization_id, current_organization_id());
        END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER stamp_organization BEFORE INSERT ON session_feedback
        FOR EACH ROW EXECUTE FUNCTION stamp_feedback_organization();

      -- Both stay what they were at creation.
      CREATE FUNCTION keep_organization() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.organization_id := OLD.organization_id;
        RETURN NEW;
      END $$;
      CREATE TRIGGER keep_organization BEFORE UPDATE ON homework
        FOR EACH ROW EXECUTE FUNCTION keep_organization();
      CREATE TRIGGER keep_organization BEFORE UPDATE ON session_feedback
        FOR EACH ROW EXECUTE FUNCTION keep_organization();

      -- Groups: the owner, else the only organization of the group's tutor. Whatever else of a group changes neither
      -- asks nor waits for memberships.
      CREATE FUNCTION derive_group_organization() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
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
      CREATE TRIGGER derive_organization BEFORE INSERT OR UPDATE ON student_groups
        FOR EACH ROW EXECUTE FUNCTION derive_group_organization();

      -- Parents: enrolled from the first link to a child of the organization until the last one goes.
      CREATE FUNCTION derive_enrolment() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        PERFORM 1 FROM parents WHERE (organization_id, user_id) IN (SELECT organization_id, parent_id FROM changed)
          ORDER BY organization_id, user_id FOR NO KEY UPDATE;
        UPDATE parents p SET enrolled_at = CASE WHEN l.first IS NOT NULL THEN least(p.enrolled_at, l.first) END FROM (
          SELECT organization_id, parent_id, min(s.linked_at) AS first
          FROM (SELECT DISTINCT organization_id, parent_id FROM changed) c
          LEFT JOIN parent_students s USING (organization_id, parent_id) GROUP BY 1, 2) l
        WHERE p.organization_id = l.organization_id AND p.user_id = l.parent_id AND (p.enrolled_at IS NULL
          OR l.first IS NULL OR l.first < p.enrolled_at);
        RETURN NULL;
      END $$;

      -- How many times a student stands in an organization's sessions, as their student or as a participant.
      CREATE TABLE session_students (
        organization_id uuid NOT NULL REFERENCES organizations,
        student_id uuid NOT NULL REFERENCES users,
        occurrences integer NOT NULL CHECK (occurrences >= 0),
        PRIMARY KEY (organization_id, student_id)
      );
      CREATE INDEX session_students_student ON session_students (student_id);

      -- Results as an organization sees them: one row for each organization in which the student has a session. It
      -- carries the filters, so that every page is a walk of one keyset index.
      CREATE TABLE organization_results (
        organization_id uuid NOT NULL REFERENCES organizations,
        result_id uuid NOT NULL REFERENCES results ON DELETE CASCADE,
        student_id uuid NOT NULL,
        status text NOT NULL,
        mode text NOT NULL,
        completed_at timestamptz(3),
        created_at timestamptz(3) NOT NULL,
        PRIMARY KEY (organization_id, result_id)
      );
      CREATE INDEX organization_results_result ON organization_results (result_id);
      CREATE INDEX organization_results_keyset ON organization_results (organization_id, created_at, result_id);
      CREATE INDEX organization_results_student ON organization_results (organization_id, student_id, created_at, result_id);
      CREATE INDEX organization_results_status ON organization_results (organization_id, status, created_at, result_id);
      CREATE INDEX organization_results_mode ON organization_results (organization_id, mode, created_at, result_id);
      CREATE INDEX organization_results_completed ON organization_results (organization_id, completed_at);

      CREATE FUNCTION count_session_students() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
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

      CREATE FUNCTION show_results_of_students() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        IF TG_OP = 'DELETE' THEN
          DELETE FROM organization_results r USING before b
          WHERE r.organization_id = b.organization_id AND r.student_id = b.student_id;
        ELSE
          INSERT INTO organization_results
            (organization_id, result_id, student_id, status, mode, completed_at, created_at)
          SELECT a.organization_id, r.id, r.student_id, r.status, r.mode, r.completed_at, r.created_at
          FROM after a JOIN results r ON r.student_id = a.student_id
          FOR KEY SHARE OF r -- Waits for a result that is being deleted, rather than fail on its foreign key.
          ON CONFLICT DO NOTHING;
        END IF;
        RETURN NULL;
      END $$;

      CREATE FUNCTION show_results() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        IF TG_OP = 'UPDATE' THEN
          PERFORM lock_people(ARRAY(SELECT student_id FROM before UNION SELECT student_id FROM after));
          DELETE FROM organization_results o USING after a WHERE o.result_id = a.id AND o.student_id <> a.student_id;
        ELSE
          PERFORM lock_people(ARRAY(SELECT DISTINCT student_id FROM after));
        END IF;
        INSERT INTO organization_results
          (organization_id, result_id, student_id, status, mode, completed_at, created_at)
        SELECT s.organization_id, a.id, a.student_id, a.status, a.mode, a.completed_at, a.created_at
        FROM after a JOIN session_students s ON s.student_id = a.student_id
        ON CONFLICT (organization_id, result_id) DO UPDATE SET student_id = excluded.student_id,
          status = excluded.status, mode = excluded.mode, completed_at = excluded.completed_at,
          created_at = excluded.created_at;
        RETURN NULL;
      END $$;

      -- Conversations as an organization sees them: those with an active participant who is an accepted member of it.
      CREATE TABLE organization_conversations (
        organization_id uuid NOT NULL REFERENCES organizations,
        conversation_id uuid NOT NULL REFERENCES conversations ON DELETE CASCADE,
        type text NOT NULL,
        last_message_at timestamptz(3),
        PRIMARY KEY (organization_id, conversation_id)
      );
      CREATE INDEX organization_conversations_conversation ON organization_conversations (conversation_id);
      CREATE INDEX organization_conversations_keyset ON organization_conversations
        (organization_id, last_message_at DESC NULLS LAST, conversation_id DESC);
      CREATE INDEX organization_conversations_type_keyset ON organization_conversations
        (organization_id, type, last_message_at DESC NULLS LAST, conversation_id DESC);

      -- Callers hold the locks on the people concerned. The conversations are locked because two people may come and
      -- go in one at the same time, or a message arrive. OFFSET 0 keeps the planner from joining the members of an
      -- organization first: thousands, for each conversation.
      CREATE FUNCTION show_conversations(ids uuid[]) RETURNS void LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE seen organization_conversations[];
      BEGIN
        PERFORM 1 FROM conversations WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
        seen := ARRAY(SELECT DISTINCT ROW (m.organization_id, c.id, c.type, c.last_message_at)::organization_conversations
          FROM (SELECT * FROM conversations WHERE id = ANY (ids) OFFSET 0) c,
            LATERAL (SELECT user_id FROM conversation_participants
              WHERE conversation_id = c.id AND left_at IS NULL OFFSET 0) p,
            LATERAL (SELECT organization_id FROM members
              WHERE user_id = p.user_id AND status = 'accepted' OFFSET 0) m);
        DELETE FROM organization_conversations WHERE conversation_id = ANY (ids)
          AND (organization_id, conversation_id) NOT IN (SELECT organization_id, conversation_id FROM unnest(seen));
        INSERT INTO organization_conversations SELECT * FROM unnest(seen) ON CONFLICT DO NOTHING;
      END $$;

      CREATE FUNCTION show_conversations_of_participants() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        PERFORM lock_people(ARRAY(SELECT DISTINCT user_id FROM changed));
        PERFORM show_conversations(ARRAY(SELECT DISTINCT conversation_id FROM changed));
        RETURN NULL;
      END $$;

      -- A change of membership changes what is seen of a person's conversations and of groups that nobody owns.
      CREATE FUNCTION follow_membership() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE people uuid[];
        ids uuid[];
      BEGIN
        IF TG_OP = 'INSERT' THEN
          people := ARRAY(SELECT DISTINCT user_id FROM after WHERE status = 'accepted');
        ELSIF TG_OP = 'DELETE' THEN
          people := ARRAY(SELECT DISTINCT user_id FROM before WHERE status = 'accepted');
        ELSE
          -- Those that are accepted on one side only.
          people := ARRAY(SELECT user_id FROM (
            SELECT organization_id, user_id FROM before WHERE status = 'accepted'
            UNION ALL SELECT organization_id, user_id FROM after WHERE status = 'accepted') both_sides
            GROUP BY organization_id, user_id HAVING count(*) = 1);
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

      -- Only messages that everyone may read count.
      CREATE FUNCTION follow_messages() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE ids uuid[] := ARRAY(SELECT DISTINCT conversation_id FROM changed);
      BEGIN
        PERFORM 1 FROM conversations WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
        UPDATE conversations c SET last_message_at = n.newest FROM (
          SELECT t.id, (SELECT m.created_at FROM messages m WHERE m.conversation_id = t.id
            AND m.visibility = 'everyone' ORDER BY m.created_at DESC LIMIT 1) AS newest FROM unnest(ids) AS t (id)) n
        WHERE c.id = n.id AND c.last_message_at IS DISTINCT FROM n.newest;
        RETURN NULL;
      END $$;

      CREATE FUNCTION copy_conversation() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        UPDATE organization_conversations o SET type = a.type, last_message_at = a.last_message_at FROM after a
        WHERE o.conversation_id = a.id
          AND (o.type, o.last_message_at) IS DISTINCT FROM (a.type, a.last_message_at);
        RETURN NULL;
      END $$;

      REVOKE EXECUTE ON FUNCTION ${FUNCTIONS.join(', ')} FROM PUBLIC;
    `);
    for (const table of ['sessions', 'session_participants']) {
      await runner.query(onBeforeAndAfter(table, 'count_session_students', ['INSERT', 'UPDATE', 'DELETE']));
    }
    await runner.query(onBeforeAndAfter('session_students', 'show_results_of_students', ['INSERT', 'DELETE']));
    await runner.query(onBeforeAndAfter('results', 'show_results', ['INSERT', 'UPDATE']));
    await runner.query(onBeforeAndAfter('members', 'follow_membership', ['INSERT', 'UPDATE', 'DELETE']));
    await runner.query(onBeforeAndAfter('conversations', 'copy_conversation', ['UPDATE']));
    await runner.query(onChanged('parent_students', 'derive_enrolment'));
    await runner.query(onChanged('conversation_participants', 'show_conversations_of_participants'));
    await runner.query(onChanged('messages', 'follow_messages'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE organization_conversations, organization_results, session_students CASCADE;
      DROP FUNCTION ${FUNCTIONS.join(', ')} CASCADE;
    `);
  }
}

/** Calls `derive` once per statement, with its old rows (`before`) and its new rows (`after`). */
function onBeforeAndAfter(table: string, derive: string, events: ('INSERT' | 'UPDATE' | 'DELETE')[]): string {
  const rows = {
    INSERT: 'NEW TABLE AS after',
    UPDATE: 'OLD TABLE AS before NEW TABLE AS after',
    DELETE: 'OLD TABLE AS before',
  };
  const triggers = events.map(
    (event) => `CREATE TRIGGER ${derive}_on_${event.toLowerCase()} AFTER ${event} ON ${table}
      REFERENCING ${rows[event]} FOR EACH STATEMENT EXECUTE FUNCTION ${derive}();`,
  );
  return triggers.join('\n');
}

/** Calls `derive` once per statement, with its rows as `changed`. After an update: once for old rows, once for new. */
function onChanged(table: string, derive: string): string {
  return `
    CREATE TRIGGER ${derive}_on_insert AFTER INSERT ON ${table}
      REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION ${derive}();
    CREATE TRIGGER ${derive}_on_update_from AFTER UPDATE ON ${table}
      REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION ${derive}();
    CREATE TRIGGER ${derive}_on_update_to AFTER UPDATE ON ${table}
      REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION ${derive}();
    CREATE TRIGGER ${derive}_on_delete AFTER DELETE ON ${table}
      REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION ${derive}();`;
}
