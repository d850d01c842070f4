import type { MigrationInterface, QueryRunner } from 'typeorm';

/** As in the migrations before: the rights of the owner, see row security. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;

/** Columns that a list shows and that its table has not had so far. */
const RESULT_COLUMNS = ['grade', 'vce_exam_id', 'curriculum_level_id', 'homework_assignment_id', 'started_at'];
const CONVERSATION_COLUMNS = ['type', 'classroom_id', 'title', 'last_message_at', 'created_at', 'updated_at'];

/**
 * What a page of results or conversations shows lies in the rows that say who sees it: reading it neither joins nor asks
 * the policy of another table for each row.
 */
export class ReadCopies1763600000012 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      ALTER TABLE organization_results ADD COLUMN grade integer, ADD COLUMN vce_exam_id uuid,
        ADD COLUMN curriculum_level_id uuid, ADD COLUMN homework_assignment_id uuid, ADD COLUMN started_at timestamptz(3);
      SET LOCAL app.maintenance = 'on';
      UPDATE organization_results o SET ${RESULT_COLUMNS.map((column) => `${column} = r.${column}`).join(', ')}
      FROM results r WHERE r.id = o.result_id;
      -- Every write of a row copies anew; show_results writes the rows of each result that changes.
      CREATE FUNCTION copy_result() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        SELECT ${RESULT_COLUMNS.join(', ')} INTO ${into(RESULT_COLUMNS)} FROM results WHERE id = NEW.result_id;
        RETURN NEW;
      END $$;
      CREATE TRIGGER copy_result BEFORE INSERT OR UPDATE ON organization_results
        FOR EACH ROW EXECUTE FUNCTION copy_result();

      ALTER TABLE organization_conversations ADD COLUMN classroom_id uuid, ADD COLUMN title text,
        ADD COLUMN created_at timestamptz(3), ADD COLUMN updated_at timestamptz(3),
        ADD COLUMN participants json NOT NULL DEFAULT '[]';
      CREATE FUNCTION copy_conversation_row() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        SELECT ${CONVERSATION_COLUMNS.join(', ')} INTO ${into(CONVERSATION_COLUMNS)}
        FROM conversations WHERE id = NEW.conversation_id;
        NEW.participants := (SELECT coalesce('[' || string_agg(row_to_json(p)::text, ',') || ']', '[]')
          FROM (SELECT user_id, role FROM conversation_participants
            WHERE conversation_id = NEW.conversation_id AND left_at IS NULL ORDER BY joined_at, id) p);
        RETURN NEW;
      END $$;
      CREATE TRIGGER copy_conversation_row BEFORE INSERT OR UPDATE ON organization_conversations
        FOR EACH ROW EXECUTE FUNCTION copy_conversation_row();

      -- As before, but for what is copied now.
      CREATE OR REPLACE FUNCTION copy_conversation() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        UPDATE organization_conversations o SET type = a.type FROM after a
        WHERE o.conversation_id = a.id
          AND (${of('o')}) IS DISTINCT FROM (${of('a')});
        RETURN NULL;
      END $$;
      -- show_conversations_of_participants comes first, by its name, and locks the conversations until the transaction
      -- ends: this sees what those before it did.
      CREATE FUNCTION show_participants() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        UPDATE organization_conversations SET type = type WHERE conversation_id IN (SELECT conversation_id FROM changed);
        RETURN NULL;
      END $$;
      CREATE TRIGGER show_participants_on_insert AFTER INSERT ON conversation_participants
        REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION show_participants();
      CREATE TRIGGER show_participants_on_update_from AFTER UPDATE ON conversation_participants
        REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION show_participants();
      CREATE TRIGGER show_participants_on_update_to AFTER UPDATE ON conversation_participants
        REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION show_participants();
      CREATE TRIGGER show_participants_on_delete AFTER DELETE ON conversation_participants
        REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION show_participants();

      -- As before; the rows' other columns are filled by their trigger.
      CREATE OR REPLACE FUNCTION show_conversations(ids uuid[]) RETURNS void LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE organizations uuid[];
        conversations uuid[];
      BEGIN
        PERFORM 1 FROM conversations WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
        SELECT array_agg(s.organization_id), array_agg(s.id) INTO organizations, conversations
        FROM (SELECT DISTINCT m.organization_id, c.id
          FROM (SELECT id FROM conversations WHERE id = ANY (ids) OFFSET 0) c,
            LATERAL (SELECT user_id FROM conversation_participants
              WHERE conversation_id = c.id AND left_at IS NULL OFFSET 0) p,
            LATERAL (SELECT organization_id FROM members
              WHERE user_id = p.user_id AND status = 'accepted' OFFSET 0) m) s;
        DELETE FROM organization_conversations WHERE conversation_id = ANY (ids)
          AND (organization_id, conversation_id) NOT IN (SELECT * FROM unnest(organizations, conversations));
        INSERT INTO organization_conversations (organization_id, conversation_id)
        SELECT * FROM unnest(organizations, conversations) ON CONFLICT DO NOTHING;
      END $$;
      REVOKE EXECUTE ON FUNCTION copy_result, copy_conversation_row, show_participants FROM PUBLIC;

      UPDATE organization_conversations SET type = type;
      SET LOCAL app.maintenance = '';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      DROP FUNCTION copy_result, copy_conversation_row, show_participants CASCADE;
      ALTER TABLE organization_results ${dropped(RESULT_COLUMNS)};
      ALTER TABLE organization_conversations ${dropped(['classroom_id', 'title', 'created_at', 'updated_at', 'participants'])};
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

const into = (columns: string[]): string => columns.map((column) => `NEW.${column}`).join(', ');
const of = (row: string): string => CONVERSATION_COLUMNS.map((column) => `${row}.${column}`).join(', ');
const dropped = (columns: string[]): string => columns.map((column) => `DROP COLUMN ${column}`).join(', ');
