import type { Grants } from '../grants.js';

/** Conversations, shown through organization_conversations, which triggers maintain. */
export const messages: Grants = {
  tables: {
    conversations: {},
    conversation_participants: {},
    messages: {},
    organization_conversations: { api: 'SELECT' },
  },
  functions: {
    // Called by row-level security.
    conversation_of_others: [],
    // Called by triggers, as the owner.
    show_conversations: [],
  },
};
