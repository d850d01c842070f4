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

/** The states of a lead. Each can be set directly, except that a converted one stays converted. */
export const LEAD = states(['new', 'contacted', 'consultation_booked', 'converted', 'lost'], {
  renew: { from: ['contacted', 'lost'], to: 'new' },
  contact: { from: ['new', 'consultation_booked', 'lost'], to: 'contacted' },
  book: { from: ['new', 'contacted'], to: 'consultation_booked' },
  convert: { from: ['new', 'contacted', 'consultation_booked'], to: 'converted' },
  lose: { from: ['new', 'contacted', 'consultation_booked'], to: 'lost' },
});

/** The states of a booking request. One whose student leaves has `expired`. */
export const BOOKING_REQUEST = states(['pending', 'matched', 'declined', 'expired'], {
  match: { from: ['pending'], to: 'matched' },
  decline: { from: ['pending'], to: 'declined' },
  expire: { from: ['pending'], to: 'expired' },
  reopen: { from: ['matched', 'declined', 'expired'], to: 'pending' },
});

/** The states of an invoice. One that is written off still takes money that was sent for it. */
export const INVOICE = states(['draft', 'open', 'paid', 'void', 'uncollectible'], {
  finalize: { from: ['draft'], to: 'open', later: ['paid'] },
  settle: { from: ['open', 'uncollectible'], to: 'paid' },
  void: { from: ['open'], to: 'void' },
  write_off: { from: ['open'], to: 'uncollectible' },
});

/** The states of a trip or an expense that a tutor claims. */
export const CLAIM = states(['logged', 'approved', 'rejected', 'reimbursed'], {
  approve: { from: ['logged'], to: 'approved' },
  reject: { from: ['logged'], to: 'rejected' },
  reimburse: { from: ['approved'], to: 'reimbursed' },
});

/** The states of a result: an attempt goes forward, step by step. */
export const RESULT = states(['not_started', 'in_progress', 'submitted', 'completed'], {
  start: { from: ['not_started'], to: 'in_progress' },
  submit: { from: ['in_progress'], to: 'submitted' },
  complete: { from: ['submitted'], to: 'completed' },
});

/** The states of a message in the organization's inbox. */
export const INBOX = states(['unread', 'read', 'archived'], {
  read: { from: ['unread'], to: 'read' },
  archive: { from: ['unread', 'read'], to: 'archived' },
});

/** The states of an export. */
export const EXPORT = states(['asked', 'waiting', 'preparing', 'ready', 'downloaded', 'expired', 'called_off'], {
  confirm: { from: ['asked'], to: 'waiting' },
  prepare: { from: ['waiting'], to: 'preparing' },
  finish: { from: ['preparing'], to: 'ready' },
  download: { from: ['ready'], to: 'downloaded' },
  call_off: { from: ['asked', 'waiting', 'preparing', 'ready'], to: 'called_off' },
});
