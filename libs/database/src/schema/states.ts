import { states } from '@app/rules';

/**
 * The states of a session. An action that has happened changes nothing; whatever else is done to a completed or
 * cancelled session is refused.
 */
export const SESSION = states(['pending', 'scheduled', 'completed', 'cancelled'], {
  confirm: { from: ['pending'], to: 'scheduled' },
  complete: { from: ['scheduled'], to: 'completed' },
  cancel: { from: ['pending', 'scheduled'], to: 'cancelled' },
  reopen: { from: ['completed'], to: 'scheduled' },
});

/** The states of an invoice. `uncollectible` comes from import only. */
export const INVOICE = states(['draft', 'open', 'paid', 'void', 'uncollectible'], {
  finalize: { from: ['draft'], to: 'open' },
  settle: { from: ['open', 'uncollectible'], to: 'paid' },
  void: { from: ['open'], to: 'void' },
});

/** The states of a message in the organization's inbox. */
export const INBOX = states(['unread', 'read', 'archived'], {
  read: { from: ['unread'], to: 'read' },
  archive: { from: ['unread', 'read'], to: 'archived' },
});
