import type { EmailPayload, KeyInMail } from '@app/jobs';

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

/** What a mail of any kind may say. */
export const PAYLOAD: EmailPayload = {
  organizationName: 'Brighter Days',
  timeZone: 'Australia/Melbourne',
  firstName: 'Ada',
  role: 'tutor',
  joinUrl: 'https://app.tutoring.example/join/abc_DEF-123',
  proof: null,
  expiresAt: '2026-05-01T09:30:00.000Z',
  key: KEY_IN_MAIL,
};
