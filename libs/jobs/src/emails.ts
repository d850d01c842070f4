/** Every kind of mail; each has a template in the worker. */
export const EMAIL_KINDS = [
  'organization_invite',
  'tutor_invite',
  'membership_invite',
  'account_created',
  'parent_invite',
] as const;

export type EmailKind = (typeof EMAIL_KINDS)[number];

/** What a template needs. No mail says more of a person than the caller supplied. */
export interface EmailPayload {
  organizationName: string;
  /** The person's first name, when the caller told it. */
  firstName: string | null;
  role: 'tutor' | 'admin' | 'student' | 'parent';
  joinUrl: string;
  /** ISO 8601. */
  expiresAt: string;
  /** The organization's, for times that people read. */
  timeZone: string;
}
