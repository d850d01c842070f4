/** The kinds of mails that an organization sees. Mails about a person's own sign-in belong to that person. */
export const MAIL_KINDS: Record<string, string> = {
  organization_invite: 'Invitation',
  tutor_invite: 'Invitation to a tutor’s student',
  membership_invite: 'Invitation to join',
  account_created: 'Account created',
  parent_invite: 'Invitation to a parent',
  address_confirmation: 'Confirmation of an address',
  address_changed: 'Notice of a changed address',
  approval_request: 'Request for approval',
  approval_given: 'Notice of approval',
  approval_declined: 'Notice of a declined request',
  key_created: 'API key created',
  key_replaced: 'API key replaced',
  key_revoked: 'API key revoked',
  key_expiring: 'API key expires soon',
};
