import type { EmailKind, EmailPayload, KeyInMail } from '@app/jobs';
import { plainName } from './names.js';
import { inFrame, type KeyWords, wordsOf } from './words.js';

export interface Rendered {
  /** Safe to show in a mail. */
  organizationName: string;
  subject: string;
  text: string;
  html: string;
}

const ROLES = {
  owner: 'an owner',
  tutor: 'a tutor',
  admin: 'an administrator',
  student: 'a student',
  parent: 'a parent',
} as const;

const LONGEST_SUBJECT = 200;

/** Stands in for an organization's name that consisted only of a link. */
const NAMELESS = 'A tutoring organization';

/** A mail of this kind. */
export function render(kind: EmailKind, payload: EmailPayload): Rendered {
  const { role, key, signIn, membership, expiresAt, timeZone } = payload;
  const organizationName = plainName(payload.organizationName) || NAMELESS;
  if (kind.startsWith('key_') && !key) throw new Error(`A mail "${kind}" without a key`);
  const words = wordsOf(kind, {
    organization: organizationName,
    role: ROLES[role],
    signIn: signIn ? { browser: midSentence(signIn.browser), at: inWords(new Date(signIn.at), timeZone) } : null,
    membership: membership
      ? {
          person: plainName(membership.person) || 'Somebody',
          by: membership.by && (plainName(membership.by) || 'Somebody'),
          email: membership.email ?? null,
          target: plainName(membership.target ?? ''),
          notMine: membership.notMine ?? false,
        }
      : null,
    key: key ? keyInWords(key, timeZone) : null,
  });
  const firstName = plainName(payload.firstName ?? '');
  const expires = expiresAt === null ? null : inWords(new Date(expiresAt), timeZone);
  return {
    organizationName,
    subject: words.subject.slice(0, LONGEST_SUBJECT),
    ...inFrame({ ...words, organizationName, firstName, link: linkOf(payload), expires }),
  };
}

function keyInWords(key: KeyInMail, timeZone: string): KeyWords {
  const { name, display, by, scopes = [], expiresAt, successor = '', lastUsedAt } = key;
  return {
    // A quotation mark follows; a dot before it could be read as part of a link.
    name: plainName(name).replace(/[.:\u3002]+$/u, '') || 'unnamed',
    display,
    by: plainName(by ?? '') || 'An operator of this service',
    access: scopes.join() === 'read' ? 'It is read-only.' : `Its scopes: ${scopes.join(', ')}.`,
    expires: expiresAt ? inWords(new Date(expiresAt), timeZone) : null,
    expiresOn: expiresAt
      ? new Intl.DateTimeFormat('en-AU', { day: 'numeric', month: 'long', timeZone }).format(new Date(expiresAt))
      : null,
    successor,
    lastUsed: lastUsedAt ? inWords(new Date(lastUsedAt), timeZone) : null,
  };
}

/** Browsers have names, except those whose name is unknown. */
function midSentence(browser: string): string {
  return browser.replace(/^Another/, 'another');
}

/** The link with the proof, which only this mail contains. */
function linkOf({ joinUrl, proof }: EmailPayload): string | null {
  return joinUrl && proof ? `${joinUrl}?proof=${proof}` : joinUrl;
}

/** `Sunday 6 December 2026 at 7:07 am AEDT`. */
function inWords(time: Date, timeZone: string): string {
  const day = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const;
  const hour = { hour: 'numeric', minute: '2-digit', timeZoneName: 'short' } as const;
  return new Intl.DateTimeFormat('en-AU', { ...day, ...hour, timeZone }).format(time);
}
