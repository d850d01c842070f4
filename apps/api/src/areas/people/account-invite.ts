import type { AccountInvite } from '@app/people';
import { ApiError, BOOLEAN, objectOf, orNull, type Shape, textLike } from '../../http/kit.js';
import { refusedPerson } from './people.dto.js';

/** The response to a request to email somebody a link to their account. */
export interface AccountInviteSent {
  sent: boolean;
  email: string;
}

export const accountInviteSentShape: Shape = {
  name: 'AccountInviteSent',
  schema: objectOf({
    sent: { ...BOOLEAN, description: 'Whether an email was queued. It may still fail or bounce.' },
    email: orNull(textLike('mia@example.org')),
  }),
};

/** @throws ApiError 404; ValidationFailed at the path's parameter `id` */
export function sentOrRefused(invite: AccountInvite, id: string): AccountInviteSent {
  if (invite.status === 'absent') throw ApiError.notFound();
  if (invite.status === 'refused') throw refusedPerson([invite.refusal], id);
  return { sent: invite.sent, email: invite.email };
}
