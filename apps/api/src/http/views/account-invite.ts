import type { AccountInvite } from '@app/accounts';
import { ApiError } from '../errors/api-error.js';
import type { Shape } from '../openapi/operation.decorator.js';
import { refusedPerson } from '../validation/people.js';

/** The answer to a wish to mail somebody the way into their account. */
export interface AccountInviteSent {
  sent: boolean;
  email: string;
}

export const accountInviteSentShape: Shape = {
  name: 'AccountInviteSent',
  schema: {
    type: 'object',
    properties: {
      sent: { type: 'boolean', description: 'Whether a mail was queued. It may still fail or bounce.' },
      email: { type: ['string', 'null'], examples: ['mia@example.org'] },
    },
    required: ['sent', 'email'],
    additionalProperties: false,
  },
};

/** @throws ApiError 404; ValidationFailed at the path's parameter `id` */
export function sentOrRefused(invite: AccountInvite, id: string): AccountInviteSent {
  if (invite.status === 'absent') throw ApiError.notFound();
  if (invite.status === 'refused') throw refusedPerson([invite.refusal], id);
  return { sent: invite.sent, email: invite.email };
}
