import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The rights of the owner, as in earlier migrations: see Derived1763600000005. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;

/** Columns of results that pages show and that organization_results lacked. */
const RESULT_COLUMNS = ['grade', 'vce_exam_id', 'curriculum_level_id', 'homework_assignment_id', 'started_at'];
/** Columns of conversations that pages show, besides the participants. */
const CONVERSATION_COLUMNS = ['type', 'classroom_id', 'title', 'last_message_at', 'created_at', 'updated_at'];

const ACTIVE_PARTICIPANTS = `(SELECT coalesce(json_agg(p), '[]') FROM (SELECT a.user_id, a.role
          FROM conversation_participants a WHERE a.conversation_id = c.id AND a.left_at IS NULL ORDER BY a.joined_at, a.id) p)`;

/** The organizations that a login has accepted, as member or parent. @param id SQL for the login's id, with alias */
const acceptedBy = (id: string) => `ARRAY(
          SELECT organization_id FROM members WHERE user_id = ${id} AND accepted_at IS NOT NULL
          UNION SELECT organization_id FROM parents WHERE user_id = ${id} AND accepted_at IS NOT NULL ORDER BY 1)`;

/** The scalar subquery is evaluated once per statement. A bare call would be evaluated once per row. */
const SEEN = `(SELECT current_organization_id()) = ANY (seen_by)`;
const SEEN_THROUGH_TIES = ['members', 'parents']
  .map(
    (table) => `EXISTS (SELECT FROM ${table} v WHERE v.organization_id = current_organization_id()
      AND v.user_id = users.id AND v.accepted_at IS NOT NULL)`,
  )
  .join(' OR ');

/** The organizations that see the conversations of `ids`. Each part looks up what the previous part found. */
const SEEN_CONVERSATIONS = `SELECT DISTINCT m.organization_id, c.id
          FROM (SELECT id FROM conversations WHERE id = ANY (ids) OFFSET 0) c,
            LATERAL (SELECT user_id FROM conversation_participants
              WHERE conversation_id = c.id AND left_at IS NULL OFFSET 0) p,
            LATERAL (SELECT organization_id FROM members
              WHERE user_id = p.user_id AND status = 'accepted' OFFSET 0) m`;

/**
 * For each row of users, results and conversations, row-level security looked into other tables, which made pages take
 * 1.3 to 1.8 times as long. Logins now list the organizations that see them. The columns that pages show of results and
 * conversations are copied into the rows that determine their visibility.
 */
export class ReadCopies1763600000012 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`SET LOCAL app.maintenance = 'on'`);
    await runner.query(results);
    await runner.query(conversations);
    await runner.query(logins);
    await runner.query(/* sql */ `
      ALTER POLICY tenant ON users USING (${SEEN});
      ALTER POLICY tenant_changes ON users USING (${SEEN} AND NOT tied_elsewhere(id));
      -- EXISTS may be planned as a hash of all groups of the organization, for a page of one.
      ALTER POLICY tenant ON student_group_members USING (
        (SELECT true FROM student_groups v WHERE v.id = student_group_members.group_id));
      SET LOCAL app.maintenance = '';
    `);
    await runner.query(checks);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      ALTER POLICY tenant ON users USING (${SEEN_THROUGH_TIES});
      ALTER POLICY tenant_changes ON users USING ((${SEEN_THROUGH_TIES}) AND NOT tied_elsewhere(id));
      ALTER POLICY tenant ON student_group_members USING (
        EXISTS (SELECT FROM student_groups v WHERE v.id = student_group_members.group_id));
      DROP FUNCTION copy_result, show_logins, wrong_copies, correct_copies CASCADE;
      ALTER TABLE users DROP COLUMN seen_by;
      ALTER TABLE organization_results ${RESULT_COLUMNS.map((column) => `DROP COLUMN ${column}`).join(', ')};
      ALTER TABLE organization_conversations DROP COLUMN classroom_id, DROP COLUMN title, DROP COLUMN created_at,
        DROP COLUMN updated_at, DROP COLUMN participants;
      CREATE OR REPLACE FUNCTION copy_conversation() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        UPDATE organization_conversations o SET type = a.type, last_message_at = a.last_message_at FROM after a
        WHERE o.conversation_id = a.id
          AND (o.type, o.last_message_at) IS DISTINCT FROM (a.type, a.last_message_at);
        RETURN NULL;
      END $$;
      CREATE OR REPLACE FUNCTION show_conversations(ids uuid[]) RETURNS void LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
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
    `);
  }
}

const results = /* sql */ `
      ALTER TABLE organization_results ADD COLUMN grade integer, ADD COLUMN vce_exam_id uuid,
        ADD COLUMN curriculum_level_id uuid, ADD COLUMN homework_assignment_id uuid, ADD COLUMN started_at timestamptz(3);
      UPDATE organization_results o SET ${RESULT_COLUMNS.map((column) => `${column} = r.${column}`).join(', ')}
      FROM results r WHERE r.id = o.result_id;
      -- Every write of a row copies anew; show_results writes the rows of each result that changes.
      CREATE FUNCTION copy_result() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        SELECT ${RESULT_COLUMNS.join(', ')} INTO ${RESULT_COLUMNS.map((column) => `NEW.${column}`).join(', ')}
        FROM results WHERE id = NEW.result_id;
        RETURN NEW;
      END $$;
      CREATE TRIGGER copy_result BEFORE INSERT OR UPDATE ON organization_results
        FOR EACH ROW EXECUTE FUNCTION copy_result();
      REVOKE EXECUTE ON FUNCTION copy_result FROM PUBLIC;
    `;

const conversations = /* sql */ `
      ALTER TABLE organization_conversations ADD COLUMN classroom_id uuid, ADD COLUMN title text,
        ADD COLUMN created_at timestamptz(3), ADD COLUMN updated_at timestamptz(3),
        ADD COLUMN participants json NOT NULL DEFAULT '[]';

      -- As before, with what is copied now. Called for every change of participants: their copy is written anew.
      CREATE OR REPLACE FUNCTION show_conversations(ids uuid[]) RETURNS void LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        PERFORM 1 FROM conversations WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
        WITH seen AS MATERIALIZED (${SEEN_CONVERSATIONS}),
          hidden AS (
          DELETE FROM organization_conversations o WHERE conversation_id = ANY (ids)
            AND NOT EXISTS (SELECT FROM seen s WHERE s.organization_id = o.organization_id AND s.id = o.conversation_id))
        INSERT INTO organization_conversations AS o (organization_id, conversation_id, ${CONVERSATION_COLUMNS.join(', ')}, participants)
        SELECT s.organization_id, c.id, ${CONVERSATION_COLUMNS.map((column) => `c.${column}`).join(', ')},
          ${ACTIVE_PARTICIPANTS}
        FROM seen s JOIN conversations c ON c.id = s.id
        ON CONFLICT (organization_id, conversation_id) DO UPDATE SET participants = excluded.participants
          WHERE o.participants::text <> excluded.participants::text;
      END $$;
      CREATE OR REPLACE FUNCTION copy_conversation() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        UPDATE organization_conversations o SET ${CONVERSATION_COLUMNS.map((column) => `${column} = a.${column}`).join(', ')}
        FROM after a WHERE o.conversation_id = a.id
          AND (${CONVERSATION_COLUMNS.map((column) => `o.${column}`).join(', ')})
            IS DISTINCT FROM (${CONVERSATION_COLUMNS.map((column) => `a.${column}`).join(', ')});
        RETURN NULL;
      END $$;
      UPDATE organization_conversations o SET ${CONVERSATION_COLUMNS.map((column) => `${column} = c.${column}`).join(', ')},
        participants = ${ACTIVE_PARTICIPANTS}
      FROM conversations c WHERE c.id = o.conversation_id;
    `;

const logins = /* sql */ `
      -- The organizations in which the person has accepted. Nobody but the owner may read it: it says who else knows them.
      ALTER TABLE users ADD COLUMN seen_by uuid[] NOT NULL DEFAULT '{}';
      UPDATE users u SET seen_by = ${acceptedBy('u.id')};

      -- The logins are locked first: of two organizations at the same login, the later sees what the earlier did.
      CREATE FUNCTION show_logins() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
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
        FROM (SELECT p.id, ${acceptedBy('p.id')} AS organizations FROM unnest(people) AS p (id)) a
        WHERE u.id = a.id AND u.seen_by <> a.organizations;
        RETURN NULL;
      END $$;
      REVOKE EXECUTE ON FUNCTION show_logins FROM PUBLIC;
      ${['members', 'parents']
        .map(
          (table) => `
      CREATE TRIGGER show_logins_on_insert AFTER INSERT ON ${table}
        REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION show_logins();
      CREATE TRIGGER show_logins_on_update AFTER UPDATE ON ${table}
        REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION show_logins();
      CREATE TRIGGER show_logins_on_delete AFTER DELETE ON ${table}
        REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION show_logins();
      CREATE TRIGGER show_logins_on_truncate AFTER TRUNCATE ON ${table}
        FOR EACH STATEMENT EXECUTE FUNCTION show_logins();`,
        )
        .join('')}
    `;

const RESULT_COPY = ['student_id', 'status', 'mode', 'completed_at', 'created_at', ...RESULT_COLUMNS];

const checks = /* sql */ `
      -- Copies that are not what they have to be, for the operator; one statement, so one snapshot.
      CREATE FUNCTION wrong_copies(most integer) RETURNS TABLE (copy text, id uuid)
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT * FROM (
          SELECT 'users.seen_by', u.id FROM users u WHERE u.seen_by <> ${acceptedBy('u.id')}
          UNION
          SELECT 'organization_results', coalesce(o.result_id, r.id) FROM organization_results o FULL JOIN (
            SELECT s.organization_id, r.* FROM results r JOIN session_students s ON s.student_id = r.student_id
              JOIN members m ON m.organization_id = s.organization_id AND m.user_id = r.student_id
            WHERE m.accepted_at IS NOT NULL) r ON r.organization_id = o.organization_id AND r.id = o.result_id
          WHERE o.result_id IS NULL OR (${RESULT_COPY.map((column) => `o.${column}`).join(', ')})
            IS DISTINCT FROM (${RESULT_COPY.map((column) => `r.${column}`).join(', ')})
          UNION
          SELECT 'organization_conversations', coalesce(o.conversation_id, c.id) FROM organization_conversations o FULL JOIN (
            SELECT s.organization_id, c.*, ${ACTIVE_PARTICIPANTS} AS participants
            FROM (SELECT DISTINCT m.organization_id, p.conversation_id FROM conversation_participants p
              JOIN members m ON m.user_id = p.user_id WHERE p.left_at IS NULL AND m.status = 'accepted') s
            JOIN conversations c ON c.id = s.conversation_id) c
            ON c.organization_id = o.organization_id AND c.id = o.conversation_id
          WHERE o.conversation_id IS NULL
            OR (${CONVERSATION_COLUMNS.map((column) => `o.${column}`).join(', ')}, o.participants::text)
            IS DISTINCT FROM (${CONVERSATION_COLUMNS.map((column) => `c.${column}`).join(', ')}, c.participants::text)
        ) wrong ORDER BY 1, 2 LIMIT most
      $$;

      -- Copies anew what is wrong, for the owner alone.
      CREATE FUNCTION correct_copies() RETURNS bigint LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE
        logins uuid[];
        of_results uuid[];
        threads uuid[];
      BEGIN
        SELECT coalesce(array_agg(w.id) FILTER (WHERE w.copy = 'users.seen_by'), '{}'),
          coalesce(array_agg(w.id) FILTER (WHERE w.copy = 'organization_results'), '{}'),
          coalesce(array_agg(w.id) FILTER (WHERE w.copy = 'organization_conversations'), '{}')
        INTO logins, of_results, threads FROM wrong_copies(NULL) w;
        -- What each becomes is read below, behind the locks.
        PERFORM lock_people(logins || ARRAY(SELECT student_id FROM results WHERE id = ANY (of_results)
          UNION SELECT user_id FROM conversation_participants WHERE conversation_id = ANY (threads)));
        UPDATE users u SET seen_by = ${acceptedBy('u.id')} WHERE u.id = ANY (logins);
        DELETE FROM organization_results WHERE result_id = ANY (of_results);
        INSERT INTO organization_results (organization_id, result_id, student_id, status, mode, completed_at, created_at)
        SELECT s.organization_id, r.id, r.student_id, r.status, r.mode, r.completed_at, r.created_at
        FROM results r JOIN session_students s ON s.student_id = r.student_id WHERE r.id = ANY (of_results);
        DELETE FROM organization_conversations WHERE conversation_id = ANY (threads);
        PERFORM show_conversations(threads);
        RETURN cardinality(logins) + cardinality(of_results) + cardinality(threads);
      END $$;
      REVOKE EXECUTE ON FUNCTION wrong_copies, correct_copies FROM PUBLIC;
    `;
