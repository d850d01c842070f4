import type { KeyInMail } from '@app/jobs';

/** An API key, as mails describe it. */
export const KEY_IN_MAIL: KeyInMail = {
  name: 'Website',
  display: 'tk_live_5961…d7f5',
  by: 'Olive Owner',
  scopes: ['read', 'payments:write'],
  expiresAt: '2026-06-30T13:59:59.999Z',
  successor: 'tk_live_0af1…93be',
  lastUsedAt: '2026-04-30T02:05:00.000Z',
};
