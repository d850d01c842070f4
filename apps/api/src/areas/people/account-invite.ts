import { BOOLEAN, kept, objectOf, orNull, type Shape, textLike } from '../../http/kit.js';

/** The response to a request to email somebody a link to their account. */
export const accountInviteSentShape: Shape = {
  name: 'AccountInviteSent',
  schema: objectOf({
    sent: { ...BOOLEAN, description: 'Whether an email was queued. It may still fail or bounce.' },
    email: kept(orNull(textLike('mia@example.org'))),
  }),
};
