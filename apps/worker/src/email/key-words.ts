import type { KeyEmailKind } from '@app/jobs';
import type { Words } from './words.js';

/** An API key, as mails describe it: plain names, times in words. */
export interface KeyWords {
  name: string;
  display: string;
  by: string;
  scopes: string[];
  expires: string | null;
  /** The day without the time. */
  expiresOn: string | null;
  successor: string;
  lastUsed: string | null;
}

/** The texts of mails about API keys, unescaped: the frame escapes them. */
export const KEY_WORDS: Record<KeyEmailKind, (organization: string, key: KeyWords) => Words> = {
  key_created: (organization, { name, display, by, scopes, expires }) => ({
    subject: `New API key for ${organization}`,
    reason:
      `${by} created the API key “${name}” (${display}) for ${organization}. ` +
      `${accessOf(scopes)} ${expires ? `It works until ${expires}.` : 'It does not expire.'}`,
    action: 'See all API keys',
    otherwise: `If nobody at ${organization} asked for this key, revoke it now: anyone who has it can access your organization’s data.`,
  }),
  key_replaced: (organization, { name, display, by, successor, expires }) => ({
    subject: `An API key for ${organization} was replaced`,
    reason:
      `${by} replaced the API key “${name}” for ${organization}. The new key is ${successor}. ` +
      `The old key, ${display}, ${expires ? `works until ${expires}.` : 'no longer works.'}`,
    action: 'See all API keys',
    otherwise: 'If you did not expect this, revoke both keys.',
  }),
  key_revoked: (organization, { name, display, by }) => ({
    subject: `An API key for ${organization} was revoked`,
    reason: `${by} revoked the API key “${name}” (${display}) for ${organization}. Requests that use it are now refused.`,
    action: 'See all API keys',
    otherwise: 'If a program still needs access, create a new key for it.',
  }),
  key_expiring: (organization, { name, display, expires, expiresOn, lastUsed }) => ({
    subject: `An API key for ${organization} expires${expiresOn ? ` on ${expiresOn}` : ''}`,
    reason:
      `The API key “${name}” (${display}) for ${organization} expires${expires ? ` on ${expires}` : ''}. ` +
      (lastUsed ? `It was last used on ${lastUsed}.` : 'It has never been used.'),
    action: 'Replace the key',
    otherwise: 'Programs that use it will then stop working. If nothing uses it anymore, you can ignore this email.',
  }),
};

function accessOf(scopes: string[]): string {
  return scopes.join() === 'read' ? 'It is read-only.' : `Its scopes: ${scopes.join(', ')}.`;
}
