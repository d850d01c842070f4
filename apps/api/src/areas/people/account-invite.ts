import { BOOLEAN, kept, objectOf, orNull, type Shape, textLike } from '../../http/kit.js';

/** The response to a request to email somebody a link to their account. */
export const accountInviteSentShape: Shape = {
  name: 'AccountInviteSent',
  schema: objectOf({
    sent: { ...BOOLEAN, description: 'Whether an email was queued. It may still fail or bounce.' },
    email: kept(orNull(textLike('mia@example.org'))),
  }),
};

/** What becomes of somebody whose address is changed. */
export const ANOTHER_ADDRESS =
  'A new `email` is confirmed by email, and the previous address, which is told, loses all access. If the login had been used, ' +
  'its person is `pending` until they have confirmed the address and an owner or admin has approved it in the portal.';
