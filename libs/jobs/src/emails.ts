/** All kinds of mail; each has a template in the worker. */
export const EMAIL_KINDS = [
  'organization_invite',
  'tutor_invite',
  'membership_invite',
  'account_created',
  'parent_invite',
  'address_confirmation',
  'address_changed',
  'approval_request',
  'password_reset',
  'owner_welcome',
  'approval_given',
  'key_created',
  'key_replaced',
  'key_revoked',
  'key_expiring',
] as const;

export type EmailKind = (typeof EMAIL_KINDS)[number];

/** The mails about an API key. */
export type KeyEmailKind = Extract<EmailKind, `key_${string}`>;

/** What a mail says of an API key. Nothing in it opens anything. */
export interface KeyInMail {
  name: string;
  /** `tk_live_5961…d7f5` */
  display: string;
  /** The name of the person behind the change; null for the operator. */
  by: string | null;
  /** Of a new key. */
  scopes?: string[];
  /** ISO 8601: when it stops working. */
  expiresAt?: string | null;
  /** Of a replaced key: the display of the one that takes over. */
  successor?: string;
  /** ISO 8601, of a key that is about to expire. */
  lastUsedAt?: string | null;
}

/** The input of a template. No mail says more about a person than the caller supplied. */
export interface EmailPayload {
  organizationName: string;
  /** The person's first name, if the caller gave it. */
  firstName: string | null;
  role: 'tutor' | 'admin' | 'student' | 'parent';
  /** Where to continue: an invite's link or a page of the portal. null in a notice without a link. */
  joinUrl: string | null;
  /**
   * The link's second secret. It is only sent by mail and shown nowhere else, so whoever has it reads the mail of this
   * address.
   */
  proof: string | null;
  /** ISO 8601. */
  expiresAt: string | null;
  /** The organization's, for times in the text. */
  timeZone: string;
  /** In mails about an API key. */
  key?: KeyInMail;
}
