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

  -- Keeps the copies when a conversation changes.
  CREATE FUNCTION copy_conversation() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    PERFORM show_conversations(ARRAY(SELECT id FROM after));
    RETURN NULL;
  END $$;
`;
