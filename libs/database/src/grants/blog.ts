import type { Grants } from './grants.js';

/** Posts, and the hooks that build sites. */
export const blog: Grants = {
  tables: {
    // The worker publishes scheduled posts.
    blog_posts: {
      api: 'SELECT, INSERT, UPDATE, DELETE',
      worker: 'SELECT, UPDATE (status, published_at, scheduled_at, updated_at)',
    },
    // Only the operator may trust a hook, or change the URL of an existing one.
    rebuild_hooks: {
      portal:
        'SELECT, INSERT (target, organization_id, url, secret), UPDATE (secret, previous_secret, previous_until), DELETE',
    },
  },
  functions: {
    due_posts: ['worker'],
    rebuild_hook: ['worker'],
    forget_previous_secrets: ['worker'],
    // For the operator.
    list_rebuild_hooks: [],
  },
};
