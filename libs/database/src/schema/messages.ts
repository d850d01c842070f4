import { onChanged, onRows, secure } from './rules.js';

/** Conversations, which belong to their participants: an organization sees those of its members. */
export const messages = /* sql */ `
  CREATE TABLE conversations (
    id uuid PRIMARY KEY,
    type text NOT NULL CHECK (type IN ('direct', 'triad', 'group', 'classroom_feed')),
    classroom_id uuid REFERENCES classrooms,
    title text,
    last_message_at timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now()
  );
  ${onRows('conversations', 'copy_conversation', ['UPDATE'])}
  ${secure('conversations', seen('conversations.id'), 'current_organization_id() IS NOT NULL')}

  -- A participant is active until left_at. teacher: all staff.
  CREATE TABLE conversation_participants (
    id uuid PRIMARY KEY,
    conversation_id uuid NOT NULL REFERENCES conversations ON DELETE CASCADE,
    user_id uuid NOT NULL REFERENCES users,
    role text NOT NULL CHECK (role IN ('teacher', 'student', 'parent')),
    joined_at timestamptz(3) NOT NULL DEFAULT now(),
    left_at timestamptz(3),
    UNIQUE (conversation_id, user_id)
  );
  CREATE INDEX conversation_participants_user ON conversation_participants (user_id);
  ${onChanged('conversation_participants', 'show_conversations_of_participants')}
  ${secureThroughConversation('conversation_participants')}

  CREATE TABLE messages (
    id uuid PRIMARY KEY,
    conversation_id uuid NOT NULL REFERENCES conversations ON DELETE CASCADE,
    sender_id uuid REFERENCES users,
    content text NOT NULL,
    message_type text NOT NULL DEFAULT 'text' CHECK (message_type IN ('text', 'image', 'file', 'system')),
    visibility text NOT NULL DEFAULT 'everyone' CHECK (visibility IN ('everyone', 'student_only', 'parent_only')),
    reply_to_id uuid REFERENCES messages,
    created_at timestamptz(3) NOT NULL DEFAULT now()
  );
  CREATE INDEX messages_keyset ON messages (conversation_id, visibility, created_at, id);
  -- A message is deleted only after a look for replies to it.
  CREATE INDEX messages_replies ON messages (reply_to_id) WHERE reply_to_id IS NOT NULL;
  ${onChanged('messages', 'follow_messages')}
  ${secureThroughConversation('messages')}

  -- Conversations as an organization sees them: those with an active participant who is an accepted member of it. With the
  -- columns that pages show.
  CREATE TABLE organization_conversations (
    organization_id uuid NOT NULL REFERENCES organizations,
    conversation_id uuid NOT NULL REFERENCES conversations ON DELETE CASCADE,
    type text NOT NULL,
    last_message_at timestamptz(3),
    classroom_id uuid,
    title text,
    created_at timestamptz(3),
    updated_at timestamptz(3),
    participants json NOT NULL DEFAULT '[]',
    PRIMARY KEY (organization_id, conversation_id)
  );
  CREATE INDEX organization_conversations_conversation ON organization_conversations (conversation_id);
  CREATE INDEX organization_conversations_keyset ON organization_conversations
    (organization_id, last_message_at DESC NULLS LAST, conversation_id DESC);
  CREATE INDEX organization_conversations_type_keyset ON organization_conversations
    (organization_id, type, last_message_at DESC NULLS LAST, conversation_id DESC);
  ${secure('organization_conversations')}
`;

function seen(conversation: string): string {
  return `EXISTS (SELECT FROM organization_conversations v
    WHERE v.organization_id = current_organization_id() AND v.conversation_id = ${conversation})`;
}

/** Rows may be added to a conversation that this organization sees, or nobody sees yet. */
function secureThroughConversation(table: string): string {
  return secure(table, seen(`${table}.conversation_id`), 'NOT conversation_of_others(conversation_id)');
}
