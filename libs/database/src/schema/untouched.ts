/** The tables that no erasure touches, by reason. */
export const UNTOUCHED = {
  'What an organization says of itself': [
    ...['organizations', 'logos', 'subjects', 'rate_bands', 'tutor_tiers', 'rate_cells', 'rebuild_hooks'],
    ...['retention_settings', 'family_switches', 'family_rounds'],
  ],
  'Published by the organization, with an author’s name that it took from no login': ['blog_posts'],
  'Copies and counters, which follow': [
    ...['organization_results', 'organization_conversations', 'session_students', 'list_counts', 'outbox_turns'],
  ],
  'Names no person, or goes within minutes': [
    ...[
      'api_key_handovers',
      'refusals',
      'invoice_reminders',
      'request_log',
      'sign_in_attempts',
      'event_changes',
      'payment_allocations',
    ],
    ...['places', 'worker_heartbeats', 'event_counter', 'event_floors', 'webhook_progress', 'moves'],
  ],
};
