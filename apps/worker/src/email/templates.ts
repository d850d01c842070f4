import {
  type EmailKind,
  type EmailPayload,
  type FamilyKind,
  isInFull,
  type KeyInMail,
  type NoticeKind,
} from '@app/jobs';
import type { Contact, Sender } from '../outbox/outbox.store.js';
import { personName, plainName } from './names.js';
import {
  familyWords,
  gatheredWords,
  inFrame,
  type KeyWords,
  lineOf,
  moreOf,
  type Subject,
  type Words,
  wordsOf,
} from './words.js';

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
  admin: 'an admin',
  student: 'a student',
  parent: 'a parent',
} as const;

const LONGEST_SUBJECT = 200;

/** Stands in for an organization's name that consisted only of a link. */
const NAMELESS = 'A tutoring organization';

/** A mail of this kind. @param contact how the organization can be reached, for those who do not manage it */
export function render(kind: EmailKind, payload: EmailPayload, contact: Contact | null = null): Rendered {
  const subject = subjectOf(kind, payload);
  const words = wordsOf(kind, subject);
  const { expiresAt, timeZone } = payload;
  const expires = expiresAt === null ? null : inWords(new Date(expiresAt), timeZone);
  return framed(words, payload, { link: linkOf(payload), expires, lines: [], contact: contactLine(contact) });
}

/** One mail for several notices to the same manager, the important ones first. @param kinds how many of each there were; only the first are kept */
export function renderGathered(notices: EmailPayload[], kinds: Partial<Record<NoticeKind, number>>): Rendered {
  const [first] = notices as [EmailPayload];
  const inFull = ({ notice, role }: EmailPayload) => isInFull(notice!.kind, role);
  const lines = [...notices.filter(inFull), ...notices.filter((one) => !inFull(one))].map((payload) => {
    const { kind } = payload.notice!;
    return lineOf(kind, subjectOf(kind, payload));
  });
  const entries = Object.entries(kinds) as [NoticeKind, number][];
  for (const [kind, all] of entries) {
    const kept = notices.filter(({ notice }) => notice!.kind === kind).length;
    if (all > kept) lines.push(moreOf(kind, { organization: nameOf(first), count: all - kept }));
  }
  const count = entries.reduce((sum, [, all]) => sum + all, 0);
  const same = notices.every(({ joinUrl }) => joinUrl === first.joinUrl);
  const words = gatheredWords({ organization: nameOf(first), count });
  const link = same ? first.joinUrl : first.notice!.home;
  return framed(words, first, { link, expires: null, lines, contact: '' });
}

/** A mail to a family. @param lines facts below the first sentence */
export function renderFamily(
  kind: FamilyKind,
  { name, address, phone }: Sender,
  {
    firstName,
    link,
    lines,
    about,
    optOut,
  }: { firstName: string | null; link: string | null; lines: string[]; about: object; optOut?: string },
): Rendered {
  const words = familyWords(kind, { organization: plainName(name) || NAMELESS, ...about });
  const contact = contactLine({ address, phone });
  return framed(words, { organizationName: name, firstName }, { link, expires: null, lines, contact, optOut });
}

function framed(words: Words, payload: Pick<EmailPayload, 'organizationName' | 'firstName'>, parts: object): Rendered {
  const organizationName = nameOf(payload);
  const firstName = personName(payload.firstName ?? '');
  return {
    organizationName,
    subject: words.subject.slice(0, LONGEST_SUBJECT),
    ...inFrame({ ...words, organizationName, firstName, ...parts }),
  };
}

function contactLine(contact: Contact | null): string {
  return [contact?.address, contact?.phone]
    .map((text) => plainName(text ?? ''))
    .filter(Boolean)
    .join(', ');
}

function nameOf({ organizationName }: Pick<EmailPayload, 'organizationName'>): string {
  return plainName(organizationName) || NAMELESS;
}

function subjectOf(kind: EmailKind, payload: EmailPayload): Subject {
  const { role, key, signIn, membership, settings, webhook, exported, waits = false, timeZone } = payload;
  if (kind.startsWith('key_') && !key) throw new Error(`A mail "${kind}" without a key`);
  return {
    organization: nameOf(payload),
    role: ROLES[role],
    waits,
    signIn: signIn ? { browser: midSentence(signIn.browser), at: inWords(new Date(signIn.at), timeZone) } : null,
    membership: membership
      ? {
          person: personName(membership.person) || 'Somebody',
          by: membership.by && (personName(membership.by) || 'Somebody'),
          email: membership.email ?? null,
          target: plainName(membership.target ?? ''),
          notMine: membership.notMine ?? false,
        }
      : null,
    key: key ? keyInWords(key, timeZone) : null,
    webhook: webhook ? { host: webhook.host, why: webhook.reason ? DISABLED[webhook.reason] : '' } : null,
    exported: exported ? { by: personName(exported.by ?? '') || 'An owner' } : null,
    settings: settings
      ? {
          by: personName(settings.by ?? '') || 'An operator of this service',
          // In full, links included: the owners are to see where people are sent.
          changes: settings.changes
            .map(({ name, before, after }) => `${name}: ${before ?? 'none'} → ${after ?? 'none'}`)
            .join('; '),
        }
      : null,
  };
}

/** Why a webhook endpoint was disabled. */
const DISABLED = {
  gone: 'It answered 410 Gone, which asks us to stop',
  failing: 'Every delivery has failed for five days',
  maker_left: 'The person or API key that added it no longer has access',
};

function keyInWords(key: KeyInMail, timeZone: string): KeyWords {
  const { name, display, by, scopes = [], expiresAt, successor = '', lastUsedAt } = key;
  return {
    // A quotation mark follows; a dot before it could be read as part of a link.
    name: plainName(name).replace(/[.:\u3002]+$/u, '') || 'unnamed',
    display,
    by: personName(by ?? '') || 'An operator of this service',
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
