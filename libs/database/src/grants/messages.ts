import type { Grants } from './grants.js';

/** Conversations, shown through organization_conversations, which triggers maintain. */
export const messages: Grants = {
  tables: {
    conversations: {},
    conversation_participants: { api: 'SELECT' },
    messages: { api: 'SELECT, INSERT, UPDATE (deleted_at)' },
    inbox_messages: {
      api: 'SELECT, INSERT, UPDATE (status)',
      // What somebody writes on their own pages.
      portal: 'SELECT, INSERT (id, organization_id, from_user_id, session_id, message), UPDATE (status)',
    },
    organization_conversations: { api: 'SELECT' },
  },
  functions: {
    direct_conversation: ['api'],
    open_conversation: ['api'],
    seat_people: ['api'],
    title_conversation: ['api'],
    // Called by these, as the owner.
    may_talk: [],
    // Called by row-level security.
    conversation_of_others: ['api'],
    // Called by triggers, as the owner.
    show_conversations: [],
  },
};
