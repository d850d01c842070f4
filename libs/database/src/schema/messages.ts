import { emits } from './emits.js';
import { MINE, onChanged, onRows, secure } from './rules.js';
import { INBOX } from './states.js';

/**
 * Conversations, which belong to their participants: an organization sees those of its members, and in them what was
 * written in its own name. And what visitors and members wrote to the organization itself.
 */
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

  -- organization_id: in whose name it was written. Other organizations that see the conversation do not see the message.
  CREATE TABLE messages (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    conversation_id uuid NOT NULL REFERENCES conversations ON DELETE CASCADE,
    sender_id uuid REFERENCES users,
    content text NOT NULL CHECK (char_length(content) BETWEEN 1 AND 5000),
    message_type text NOT NULL DEFAULT 'text' CHECK (message_type IN ('text', 'image', 'file', 'system')),
    visibility text NOT NULL DEFAULT 'everyone' CHECK (visibility IN ('everyone', 'student_only', 'parent_only')),
    reply_to_id uuid,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    deleted_at timestamptz(3),
    UNIQUE (organization_id, id),
    FOREIGN KEY (organization_id, reply_to_id) REFERENCES messages (organization_id, id)
  );
  CREATE INDEX messages_keyset ON messages (organization_id, conversation_id, created_at, id)
    WHERE visibility = 'everyone' AND deleted_at IS NULL;
  CREATE INDEX messages_newest ON messages (conversation_id, created_at)
    WHERE visibility = 'everyone' AND deleted_at IS NULL;
  CREATE INDEX messages_age ON messages (organization_id, created_at);
  -- A message is deleted only after a look for replies to it.
  CREATE INDEX messages_replies ON messages (organization_id, reply_to_id) WHERE reply_to_id IS NOT NULL;
  ${onChanged('messages', 'follow_messages')}
  ${emits('messages', { resource: 'message', noun: 'a message', list: '/v1/conversations/{conversation_id}/messages', path: '/v1/messages/{id}', sight: (m) => `${m}.visibility = 'everyone' AND ${m}.deleted_at IS NULL`, plain: ['created', 'deleted'] })}
  ${secure('messages', MINE, `${MINE} AND NOT conversation_of_others(conversation_id)`)}

  -- What was written to the organization itself, by somebody who is signed in or by a guest. session_id: the lesson that it is about.
  CREATE TABLE inbox_messages (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    subject_tutor_id uuid,
    from_user_id uuid REFERENCES users,
    session_id uuid,
    guest_name text CHECK (char_length(guest_name) BETWEEN 1 AND 200),
    guest_email text CHECK (char_length(guest_email) <= 254),
    message text NOT NULL CHECK (char_length(message) BETWEEN 1 AND 5000),
    status text NOT NULL DEFAULT 'unread' CHECK (${INBOX.check('status')}),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, subject_tutor_id) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id) ON DELETE SET NULL (session_id)
  );
  CREATE INDEX inbox_messages_session ON inbox_messages (organization_id, session_id) WHERE session_id IS NOT NULL;
  CREATE INDEX inbox_messages_keyset ON inbox_messages (organization_id, created_at, id);
  CREATE INDEX inbox_messages_status_keyset ON inbox_messages (organization_id, status, created_at, id);
  ${emits('inbox_messages', { resource: 'inbox_message', noun: 'a message in the inbox', list: '/v1/org-inbox' })}
  ${secure('inbox_messages')}

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
  ${emits('organization_conversations', { resource: 'conversation', noun: 'a conversation', list: '/v1/conversations', id: 'conversation_id' })}
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
