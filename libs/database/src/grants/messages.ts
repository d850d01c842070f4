import type { Grants } from './grants.js';

/** Conversations, shown through organization_conversations, which triggers maintain. */
export const messages: Grants = {
  tables: {
    conversations: {},
    conversation_participants: { api: 'SELECT' },
    messages: { api: 'SELECT, INSERT' },
    inbox_messages: { api: 'SELECT', portal: 'SELECT, UPDATE (status)' },
    organization_conversations: { api: 'SELECT' },
  },
  functions: {
    direct_conversation: ['api'],
    // Called by row-level security.
    conversation_of_others: ['api'],
    // Called by triggers, as the owner.
    show_conversations: [],
  },
};
