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
] as const;

export type EmailKind = (typeof EMAIL_KINDS)[number];

/** The input of a template. No mail says more about a person than the caller supplied. */
export interface EmailPayload {
  organizationName: string;
  /** The person's first name, if the caller gave it. */
  firstName: string | null;
  role: 'tutor' | 'admin' | 'student' | 'parent';
  /** Where to go on: of an invite, or a page of the portal; null in a mail that only tells something. */
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
}
