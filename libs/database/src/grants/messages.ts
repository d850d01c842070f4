import type { Grants } from './grants.js';

/** Conversations, shown through organization_conversations, which triggers maintain. */
export const messages: Grants = {
  tables: {
    conversations: {},
    conversation_participants: { api: 'SELECT' },
    messages: { api: 'SELECT, INSERT, UPDATE (deleted_at)' },
    inbox_messages: { api: 'SELECT, INSERT, UPDATE (status)', portal: 'SELECT, UPDATE (status)' },
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
