import { CONVERSATION_COLUMNS, listed, seenConversations } from '../copies.js';
import { AS_OWNER } from '../rules.js';

/** Who sees conversations, and what an organization's list shows of them. */
export const messages = /* sql */ `
  -- The same for conversations as group_of_others for groups.
  CREATE FUNCTION conversation_of_others(id uuid) RETURNS boolean LANGUAGE plpgsql STABLE ${AS_OWNER} AS $$
  BEGIN
    RETURN current_organization_id() IS NULL OR coalesce((
      SELECT bool_and(v.organization_id <> current_organization_id())
      FROM organization_conversations v WHERE v.conversation_id = $1), false);
  END $$;

  -- Writes the copies of conversations. The conversations are locked because two people may join and leave one at the same
  -- time, or a message arrive. OFFSET 0 keeps the planner from joining the members of an organization first: thousands, for
  -- each conversation.
  CREATE FUNCTION show_conversations(ids uuid[]) RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    PERFORM 1 FROM conversations WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
    WITH seen AS MATERIALIZED (${seenConversations(`SELECT DISTINCT m.organization_id, t.id
        FROM (SELECT id FROM conversations WHERE id = ANY (ids) OFFSET 0) t,
          LATERAL (SELECT user_id FROM conversation_participants
            WHERE conversation_id = t.id AND left_at IS NULL OFFSET 0) p,
          LATERAL (SELECT organization_id FROM members WHERE user_id = p.user_id AND status = 'accepted' OFFSET 0) m`)}),
      hidden AS (DELETE FROM organization_conversations o WHERE conversation_id = ANY (ids)
        AND NOT EXISTS (SELECT FROM seen s WHERE s.organization_id = o.organization_id AND s.id = o.conversation_id))
    INSERT INTO organization_conversations AS o
      (organization_id, conversation_id, ${listed(CONVERSATION_COLUMNS)}, participants)
    SELECT s.organization_id, s.id, ${listed(CONVERSATION_COLUMNS, 's')}, s.participants FROM seen s
    ON CONFLICT (organization_id, conversation_id) DO UPDATE SET participants = excluded.participants,
      ${CONVERSATION_COLUMNS.map((column) => `${column} = excluded.${column}`).join(', ')}
      WHERE (${listed(CONVERSATION_COLUMNS, 'o')}, o.participants::text)
        IS DISTINCT FROM (${listed(CONVERSATION_COLUMNS, 'excluded')}, excluded.participants::text);
  END $$;

  -- Called for every change of participants: their copy is written anew.
  CREATE FUNCTION show_conversations_of_participants() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    PERFORM lock_people(ARRAY(SELECT DISTINCT user_id FROM changed));
    PERFORM show_conversations(ARRAY(SELECT DISTINCT conversation_id FROM changed));
    RETURN NULL;
  END $$;

  -- Keeps conversations.last_message_at: only messages that everyone may read count.
  CREATE FUNCTION follow_messages() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE ids uuid[] := ARRAY(SELECT DISTINCT conversation_id FROM changed);
  BEGIN
    PERFORM 1 FROM conversations WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
    UPDATE conversations c SET last_message_at = n.newest FROM (
      SELECT t.id, (SELECT m.created_at FROM messages m WHERE m.conversation_id = t.id
        AND m.visibility = 'everyone' AND m.deleted_at IS NULL ORDER BY m.created_at DESC LIMIT 1) AS newest FROM unnest(ids) AS t (id)) n
    WHERE c.id = n.id AND c.last_message_at IS DISTINCT FROM n.newest;
    -- Where one has left, the organization sees its own messages' times.
    PERFORM show_conversations(ARRAY(SELECT DISTINCT p.conversation_id FROM conversation_participants p
      WHERE p.conversation_id = ANY (ids) AND p.left_at IS NULL AND (
        EXISTS (SELECT FROM members m WHERE m.user_id = p.user_id AND m.frozen_at IS NOT NULL)
        OR EXISTS (SELECT FROM parents m WHERE m.user_id = p.user_id AND m.frozen_at IS NOT NULL))));
    RETURN NULL;
  END $$;

  -- The direct conversation of a manager of this organization with one of its members or linked parents, opened if there
  -- is none; null if either is not such a person. Whoever had left takes part again. The locks: only one of two first
  -- messages opens it, and somebody whose membership is ending comes before or after, never in between.
  CREATE FUNCTION direct_conversation(sender uuid, recipient uuid, new_id uuid, new_seats uuid[]) RETURNS uuid
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE
    here uuid := current_organization_id();
    recipient_role text;
    conversation uuid;
  BEGIN
    PERFORM lock_people(ARRAY[sender, recipient]);
    recipient_role := coalesce(
      (SELECT CASE role WHEN 'student' THEN 'student' ELSE 'teacher' END FROM members
        WHERE organization_id = here AND user_id = recipient AND status = 'accepted'),
      (SELECT 'parent' FROM parents WHERE organization_id = here AND user_id = recipient AND status = 'accepted'
        AND enrolled_at IS NOT NULL));
    IF recipient_role IS NULL OR NOT EXISTS (SELECT FROM members WHERE organization_id = here AND user_id = sender
      AND status = 'accepted' AND role IN ('owner', 'admin')) THEN
      RETURN NULL;
    END IF;
    SELECT c.id INTO conversation FROM conversation_participants a
      JOIN conversation_participants b ON b.conversation_id = a.conversation_id AND b.user_id = recipient
      JOIN conversations c ON c.id = a.conversation_id AND c.type = 'direct'
    WHERE a.user_id = sender AND NOT EXISTS (SELECT FROM conversation_participants o
      WHERE o.conversation_id = c.id AND o.user_id NOT IN (sender, recipient))
    ORDER BY c.created_at, c.id LIMIT 1;
    IF conversation IS NULL THEN
      INSERT INTO conversations (id, type) VALUES (new_id, 'direct') RETURNING id INTO conversation;
      INSERT INTO conversation_participants (id, conversation_id, user_id, role)
      VALUES (new_seats[1], conversation, sender, 'teacher'), (new_seats[2], conversation, recipient, recipient_role);
    ELSE
      UPDATE conversation_participants SET left_at = NULL
      WHERE conversation_id = conversation AND left_at IS NOT NULL;
    END IF;
    RETURN conversation;
  END $$;

  -- Who of these people may take part in a conversation of this organization, and as what: accepted members, and parents
  -- who have accepted and are linked to a child. Locked: somebody whose membership is ending comes before or after.
  CREATE FUNCTION may_talk(people uuid[]) RETURNS TABLE (user_id uuid, role text) LANGUAGE plpgsql ${AS_OWNER} AS $$
  #variable_conflict use_column
  DECLARE here uuid := current_organization_id();
  BEGIN
    PERFORM lock_people(people);
    RETURN QUERY SELECT p.id, coalesce(
        (SELECT CASE m.role WHEN 'student' THEN 'student' ELSE 'teacher' END FROM members m
          WHERE m.organization_id = here AND m.user_id = p.id AND m.status = 'accepted'),
        (SELECT 'parent' FROM parents a WHERE a.organization_id = here AND a.user_id = p.id AND a.status = 'accepted'
          AND a.enrolled_at IS NOT NULL))
      FROM unnest(people) AS p (id);
  END $$;

  -- Opens a conversation of these people, or changes who of this organization takes part in one that it sees: who is missing
  -- has left, but for people whom only other organizations know. A direct one has its two people. False if there is none, or
  -- somebody may not take part. seats: new ids, one for each.
  CREATE FUNCTION seat_people(conversation uuid, people uuid[], seats uuid[]) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE here uuid := current_organization_id();
  BEGIN
    PERFORM lock_people(people || ARRAY(SELECT p.user_id FROM conversation_participants p WHERE p.conversation_id = conversation));
    IF conversation_of_others(conversation) OR EXISTS (SELECT FROM may_talk(people) t WHERE t.role IS NULL)
      OR NOT EXISTS (SELECT FROM conversations c WHERE c.id = conversation AND c.type IN ('group', 'classroom_feed')) THEN
      RETURN false;
    END IF;
    -- First who comes: the conversation does not leave the organization's sight in between.
    INSERT INTO conversation_participants AS p (id, conversation_id, user_id, role)
      SELECT seats[t.n], conversation, t.user_id, t.role FROM may_talk(people) WITH ORDINALITY AS t (user_id, role, n)
      ON CONFLICT (conversation_id, user_id) DO UPDATE SET left_at = NULL, role = excluded.role WHERE p.left_at IS NOT NULL;
    UPDATE conversation_participants p SET left_at = now() WHERE p.conversation_id = conversation AND p.left_at IS NULL
      AND p.user_id <> ALL (people) AND EXISTS (SELECT FROM members m WHERE m.organization_id = here AND m.user_id = p.user_id
        UNION ALL SELECT FROM parents a WHERE a.organization_id = here AND a.user_id = p.user_id);
    RETURN true;
  END $$;

  CREATE FUNCTION open_conversation(new_id uuid, kind text, room uuid, name text, people uuid[], seats uuid[]) RETURNS boolean
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    IF current_organization_id() IS NULL OR kind NOT IN ('group', 'classroom_feed') OR room IS NOT NULL AND NOT EXISTS (
      SELECT FROM classrooms r WHERE r.id = room AND r.organization_id = current_organization_id() AND NOT r.is_archived)
      OR EXISTS (SELECT FROM may_talk(people) t WHERE t.role IS NULL) THEN
      RETURN false;
    END IF;
    INSERT INTO conversations (id, type, classroom_id, title) VALUES (new_id, kind, room, name);
    RETURN seat_people(new_id, people, seats);
  END $$;

  -- Another title for a conversation that this organization sees. False without one.
  CREATE FUNCTION title_conversation(conversation uuid, name text) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    IF conversation_of_others(conversation) THEN
      RETURN false;
    END IF;
    UPDATE conversations c SET title = name, updated_at = now() WHERE c.id = conversation AND c.type IN ('group', 'classroom_feed');
    RETURN FOUND;
  END $$;

  -- Keeps the copies when a conversation changes.
  CREATE FUNCTION copy_conversation() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    PERFORM show_conversations(ARRAY(SELECT id FROM after));
    RETURN NULL;
  END $$;
`;
