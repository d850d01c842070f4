import type { Vault } from '@app/config';

/**
 * Notices of which a mail repeats every one: who manages the organization, what opens it, and where it sends people. Of the others it repeats five
 * of a kind and counts the rest, so that nobody can bury the first sort under the second.
 */
const IN_FULL = [
  'manager_added',
  'manager_waits',
  'key_created',
  'key_replaced',
  'key_revoked',
  'key_expiring',
  'settings_changed',
  'person_readdressed',
  'erasure_asked',
  'erasure_wanted',
  'account_deletion_asked',
  'export_asked',
  'export_ready',
] as const;

/** The mails to managers, which are gathered: each has a `line` for the mail that lists several. */
export const NOTICE_KINDS = [
  ...IN_FULL,
  'approval_request',
  'code_flooded',
  'money_taken_back',
  'family_mails_wait',
  'webhook_failing',
  'webhook_disabled',
  'member_removed',
  'joins_undone',
  'invite_declined',
] as const;

export type NoticeKind = (typeof NOTICE_KINDS)[number];

/** All kinds of mail; each has a template in the worker. */
export const EMAIL_KINDS = [
  ...NOTICE_KINDS,
  'organization_invite',
  'tutor_invite',
  'membership_invite',
  'account_created',
  'parent_invite',
  'address_confirmation',
  'join_confirmation',
  'address_changed',
  'password_reset',
  'owner_welcome',
  'approval_given',
  'approval_declined',
  'password_changed',
  'passkey_added',
  'passkey_removed',
  'new_browser_sign_in',
  'wrong_passwords',
  'account_deletion',
  'membership_ended',
  'erasure_coming',
  'written_in_your_name',
  'role_changed',
  'welcome',
] as const;

export type EmailKind = (typeof EMAIL_KINDS)[number];

/** Whether a mail repeats each of these notices. @param role of whom it is about */
export function isInFull(kind: NoticeKind, role: EmailPayload['role']): boolean {
  return (
    (IN_FULL as readonly NoticeKind[]).includes(kind) ||
    (kind === 'member_removed' && (role === 'owner' || role === 'admin'))
  );
}

/** The mails about an API key. */
export type KeyEmailKind = Extract<EmailKind, `key_${string}`>;

/** The mails about the credentials of an account and their use. */
export type CredentialEmailKind =
  'welcome' | 'password_changed' | 'passkey_added' | 'passkey_removed' | 'new_browser_sign_in' | 'account_deletion';

/** What a mail says about an API key. It contains nothing secret. */
export interface KeyInMail {
  name: string;
  /** `tk_live_5961…d7f5` */
  display: string;
  /** The name of the person behind the change; null for the operator. */
  by: string | null;
  scopes?: string[];
  /** ISO 8601: when it stops working. */
  expiresAt?: string | null;
  /** For a replaced key: the display of its replacement. */
  successor?: string;
  /** ISO 8601; set for a key that is about to expire. */
  lastUsedAt?: string | null;
}

/** What a mail to managers says about a change of somebody’s membership. */
export interface MembershipInMail {
  person: string;
  /** Who changed it; null if they left. */
  by: string | null;
  /** Of a declined invite: its address, what it was for, and whether a parent says that it is not their child. */
  email?: string | null;
  target?: string | null;
  notMine?: boolean;
  /** Of a changed address: the former one, and whether they have to wait for a manager. */
  formerEmail?: string | null;
}

/** What a mail says about a sign-in. The network is not in it: the account's page shows it to the person alone. */
export interface SignInInMail {
  /** `Firefox on Windows` */
  browser: string;
  /** ISO 8601. */
  at: string;
}

/** A webhook endpoint that is in trouble. */
export interface WebhookInMail {
  /** Without the path, which may be a secret. */
  host: string;
  /** Why it was disabled; null for a warning. */
  reason: 'gone' | 'failing' | 'maker_left' | null;
}

/** An export of the organization's data. */
export interface ExportInMail {
  /** Who asked for it or, once it is ready, confirmed it. */
  by: string | null;
}

/** A setting that somebody changed; null for none. */
export interface SettingInMail {
  name: string;
  before: string | null;
  after: string | null;
}

/** The input of a template. No mail says more about a person than the caller supplied. */
export interface EmailPayload {
  organizationName: string;
  /** The person's first name, if the caller gave it. */
  firstName: string | null;
  role: 'owner' | 'admin' | 'tutor' | 'student' | 'parent';
  /** Where to continue: an invite's link or a page of the portal. null in a notice without a link. */
  joinUrl: string | null;
  /** The link's second secret. Sent only by mail, so whoever has it reads the mail of this address. */
  proof: string | null;
  /** ISO 8601. */
  expiresAt: string | null;
  /** The organization's time zone, for times in the text. */
  timeZone: string;
  key?: KeyInMail;
  signIn?: SignInInMail;
  membership?: MembershipInMail;
  /** Who changed settings (null for an operator), and each of them in full. */
  settings?: { by: string | null; changes: SettingInMail[] };
  webhook?: WebhookInMail;
  exported?: ExportInMail;
  /** Whether whoever joined has to be approved first. */
  waits?: boolean;
  /** In a notice to managers, which may be gathered with others: its kind, and the organization's page in the portal. */
  notice?: { kind: NoticeKind; home: string };
}

export interface EmailLink {
  url: string;
  /** The invite that it opens. Once the invite is closed, the mail is no longer sent. */
  inviteId?: string;
  /** See {@link EmailPayload}. */
  proof?: string | null;
  /** After this, the mail is no longer sent. */
  expiresAt?: Date;
}

export interface Email extends Pick<
  EmailPayload,
  'firstName' | 'role' | 'key' | 'signIn' | 'membership' | 'settings' | 'webhook' | 'exported' | 'waits' | 'notice'
> {
  kind: EmailKind;
  /** As given. Comparisons use lower case. */
  to: string;
  /** null in a notice without one. */
  link: EmailLink | null;
}

/** The sender that a mail shows. */
export interface EmailSender {
  name: string;
  timeZone: string;
}

/** The outbox's payload of a mail: encrypted, because it contains a link. */
export function sealEmail(vault: Vault, { name, timeZone }: EmailSender, email: Email): Buffer {
  const { firstName, role, link, key, signIn, membership, settings, webhook, waits, notice } = email;
  const payload: EmailPayload = {
    organizationName: name,
    timeZone,
    firstName,
    role,
    joinUrl: link?.url ?? null,
    proof: link?.proof ?? null,
    expiresAt: link?.expiresAt?.toISOString() ?? null,
    ...(key && { key }),
    ...(signIn && { signIn }),
    ...(membership && { membership }),
    ...(settings && { settings }),
    ...(webhook && { webhook }),
    ...(waits && { waits }),
    ...(notice && { notice }),
  };
  return vault.seal('outbox payloads', JSON.stringify(payload));
}

/** @throws Error if the payload was encrypted with another key, or was changed */
export function openEmail(vault: Vault, sealed: Buffer): EmailPayload {
  return JSON.parse(vault.open('outbox payloads', sealed)) as EmailPayload;
}
