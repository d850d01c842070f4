import { Eta } from 'eta';
import type { EmailKind, EmailPayload, KeyEmailKind, KeyInMail } from '@app/jobs';
import { KEY_WORDS, type KeyWords } from './key-words.js';
import { plainName } from './names.js';
import type { Words } from './words.js';

export interface Rendered {
  /** Safe to show in a mail. */
  organizationName: string;
  subject: string;
  text: string;
  html: string;
}

const ROLES = { tutor: 'a tutor', admin: 'an administrator', student: 'a student', parent: 'a parent' } as const;

/** What the owner of an account should do about a change that they did not make. */
const IF_NOT_YOU = {
  action: 'This wasn’t me: set a new password',
  otherwise:
    'If this was you, you don’t need to do anything. If not, set a new password, which signs out everyone who is signed in to the account. Then remove any passkeys under Your account that are not yours.',
};

/** A sign-in, as mails describe it: the browser's name, and the time in words. */
interface SignInWords {
  browser: string;
  at: string;
}

/** The parameters are plain text; the frame escapes them. */
const WORDS: Record<
  Exclude<EmailKind, KeyEmailKind>,
  (organization: string, role: string, signIn: SignInWords | null) => Words
> = {
  organization_invite: (organization, role) => ({
    subject: `Join ${organization}`,
    reason: `${organization} invites you to join as ${role}.`,
    action: 'Accept the invitation',
    otherwise: 'If you did not expect this invitation, you can ignore this email. Nothing happens unless you accept.',
  }),
  tutor_invite: (organization, role) => ({
    subject: `Learn with a tutor from ${organization}`,
    reason: `A tutor from ${organization} invites you to join as ${role}.`,
    action: 'Accept the invitation',
    otherwise: 'If you did not expect this invitation, you can ignore this email. Nothing happens unless you accept.',
  }),
  membership_invite: (organization, role) => ({
    subject: `${organization} wants to add you`,
    reason: `${organization} wants to add you as ${role}. You already have an account. It stays yours, and nothing in it is shared unless you accept.`,
    action: 'Accept and sign in',
    otherwise: 'If you do not want this, you can ignore this email. You won’t be added unless you accept.',
  }),
  account_created: (organization, role) => ({
    subject: `Your account at ${organization}`,
    reason: `${organization} has created an account for you as ${role}.`,
    action: 'Set up your account',
    otherwise: `If you do not know ${organization}, you can ignore this email. Nobody can use the account without this link.`,
  }),
  parent_invite: (organization) => ({
    subject: `Follow your child's lessons at ${organization}`,
    reason: `${organization} invites you, as a parent, to follow your child's lessons.`,
    action: 'Accept the invitation',
    otherwise: 'If you do not have a child there, you can ignore this email. Nothing happens unless you accept.',
  }),
  address_confirmation: (organization) => ({
    subject: `Confirm your address for ${organization}`,
    reason: `This email address was entered for your account at ${organization}.`,
    action: 'Confirm your address and set a password',
    otherwise: `If you do not know ${organization}, you can ignore this email. The account cannot use your address unless you confirm it.`,
  }),
  address_changed: (organization) => ({
    subject: `Your address at ${organization} was changed`,
    reason: `${organization} has changed the address of your account. You can no longer sign in with this one.`,
    action: 'Open your account',
    otherwise: `If this is a mistake, please contact ${organization}.`,
  }),
  approval_request: (organization) => ({
    subject: `Someone wants to teach at ${organization}`,
    reason: `A tutor has joined ${organization} with its join code and is waiting for your approval.`,
    action: 'Approve or decline',
    otherwise: 'They cannot see anything until an owner or admin approves.',
  }),
  password_reset: (organization) => ({
    subject: `Set a new password for ${organization}`,
    reason: `Someone asked to set a new password for your account at ${organization}.`,
    action: 'Set a new password',
    otherwise: 'If this wasn’t you, you can ignore this email. Your password stays the same.',
  }),
  owner_welcome: (organization) => ({
    subject: `You are an owner of ${organization}`,
    reason: `You are now an owner of ${organization}. Set a password to sign in and manage the organization.`,
    action: 'Set your password',
    otherwise: `If you do not know ${organization}, you can ignore this email. Nobody can use the account without this link.`,
  }),
  approval_given: (organization) => ({
    subject: `You can now teach at ${organization}`,
    reason: `${organization} has approved you as a tutor.`,
    action: 'Sign in',
    otherwise: `If you do not know ${organization}, please contact them: somebody has joined with your email address.`,
  }),
  password_changed: (organization) => ({
    subject: `Your password at ${organization} was changed`,
    reason: `The password for your account at ${organization} was just set or changed.`,
    ...IF_NOT_YOU,
  }),
  passkey_added: (organization) => ({
    subject: `A passkey was added to your account at ${organization}`,
    reason: `Your account at ${organization} has a new passkey, which signs in without the password.`,
    ...IF_NOT_YOU,
  }),
  passkey_removed: (organization) => ({
    subject: `A passkey was removed from your account at ${organization}`,
    reason: `A passkey was just removed from your account at ${organization}. It can no longer be used to sign in.`,
    ...IF_NOT_YOU,
  }),
  new_browser_sign_in: (organization, _role, signIn) => ({
    subject: `New sign-in to your account at ${organization}`,
    reason: `Somebody signed in to your account at ${organization}${signIn ? ` on ${signIn.at}, with ${signIn.browser}` : ''}. This browser had not been used for your account before.`,
    ...IF_NOT_YOU,
  }),
  wrong_passwords: (organization) => ({
    subject: `Many wrong passwords for your account at ${organization}`,
    reason: `More than 20 wrong passwords were entered for your account at ${organization} within an hour, in browsers that had not been used for it before.`,
    action: 'Open your account',
    otherwise:
      'If this was you, choose “Forgot your password?” on the sign-in page. If not, there is nothing you need to do as long as your password is long and you use it nowhere else. Browsers that you have signed in with before still work. A passkey, which you can add under Your account, cannot be guessed. We send this email once a day at most.',
  }),
  approval_declined: (organization) => ({
    subject: `Your request to teach at ${organization}`,
    reason: `Thank you for your interest. ${organization} has decided not to add you as a tutor.`,
    action: '',
    otherwise: `Your account stays yours. If you think this is a mistake, please contact ${organization}, who can invite you by email.`,
  }),
};

const TEXT = `Hello<%= it.firstName ? ' ' + it.firstName : '' %>,

<%= it.reason %>

<% if (it.link) { %><%= it.action %>:

<%= it.link %>

<% if (it.expires) { %>This link is valid until <%= it.expires %>.

<% } %><% } %><%= it.otherwise %>

<%= it.organizationName %>
`;

/**
 * Tables and inline styles, because mail programs support little else; no images and nothing to fetch. Programs with
 * dark mode also support `<style>`. Every text has a contrast of at least 4.5 in both schemes (WCAG AA).
 */
const HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title><%= it.subject %></title>
<style>
:root { color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  .page { background-color: #101716 !important; color: #e6edeb !important; }
  .link { color: #5cc8b8 !important; }
  .note { color: #a3b3ae !important; }
}
</style>
</head>
<body class="page" style="margin:0;padding:24px;background-color:#ffffff;color:#17211f;font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif">
<table role="presentation" align="center" style="max-width:34em;width:100%"><tr><td>
<p style="margin:0 0 24px;font-size:18px;font-weight:600"><%= it.organizationName %></p>
<p>Hello<%= it.firstName ? ' ' + it.firstName : '' %>,</p>
<p><%= it.reason %></p>
<% if (it.link) { %><p><a href="<%= it.link %>" style="display:inline-block;padding:12px 20px;border-radius:6px;background-color:#0f766e;color:#ffffff;text-decoration:none"><%= it.action %></a></p>
<p>Or copy this link into your browser:<br><a href="<%= it.link %>" class="link" style="color:#0f766e;font-size:14px;word-break:break-all"><%= it.link %></a></p>
<% } %><% if (it.expires) { %><p>This link is valid until <%= it.expires %>.</p>
<% } %><p class="note" style="color:#51605c"><%= it.otherwise %></p>
</td></tr></table>
</body>
</html>
`;

const html = new Eta({ autoEscape: true, autoTrim: false });
const text = new Eta({ autoEscape: false, autoTrim: false });
const renderHtml = html.compile(HTML);
const renderText = text.compile(TEXT);

const LONGEST_SUBJECT = 200;

/** Stands in for an organization's name that consisted only of a link. */
const NAMELESS = 'A tutoring organization';

/** A mail of this kind. */
export function render(kind: EmailKind, payload: EmailPayload): Rendered {
  const organizationName = plainName(payload.organizationName) || NAMELESS;
  const firstName = plainName(payload.firstName ?? '');
  const words = wordsOf(kind, payload, organizationName);
  const expires = payload.expiresAt === null ? null : inWords(new Date(payload.expiresAt), payload.timeZone);
  const values = { ...words, organizationName, firstName, link: linkOf(payload), expires };
  return {
    organizationName,
    subject: words.subject.slice(0, LONGEST_SUBJECT),
    text: renderText.call(text, values),
    html: renderHtml.call(html, values),
  };
}

function wordsOf(kind: EmailKind, { role, key, signIn, timeZone }: EmailPayload, organizationName: string): Words {
  if (!isAboutKey(kind)) {
    const signedIn = signIn && { browser: midSentence(signIn.browser), at: inWords(new Date(signIn.at), timeZone) };
    return WORDS[kind](organizationName, ROLES[role], signedIn ?? null);
  }
  if (!key) throw new Error(`A mail "${kind}" without a key`);
  return KEY_WORDS[kind](organizationName, keyInWords(key, timeZone));
}

function isAboutKey(kind: EmailKind): kind is KeyEmailKind {
  return kind in KEY_WORDS;
}

function keyInWords(key: KeyInMail, timeZone: string): KeyWords {
  const { name, display, by, scopes = [], expiresAt, successor = '', lastUsedAt } = key;
  return {
    // A quotation mark follows; a dot before it could be read as part of a link.
    name: plainName(name).replace(/[.:\u3002]+$/u, '') || 'unnamed',
    display,
    by: plainName(by ?? '') || 'An operator of this service',
    scopes,
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
