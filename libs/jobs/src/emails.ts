/** Every kind of mail; each has a template in the worker. */
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
] as const;

export type EmailKind = (typeof EMAIL_KINDS)[number];

/** What a template needs. No mail says more of a person than the caller supplied. */
export interface EmailPayload {
  organizationName: string;
  /** The person's first name, when the caller told it. */
  firstName: string | null;
  role: 'tutor' | 'admin' | 'student' | 'parent';
  /** null in a mail that only tells something. */
  joinUrl: string | null;
  /**
   * The second secret of the link. It is only ever mailed, so whoever has it reads the mail of this address. Nothing but
   * the mail itself may show it.
   */
  proof: string | null;
  /** ISO 8601. */
  expiresAt: string | null;
  /** The organization's, for times that people read. */
  timeZone: string;
}
