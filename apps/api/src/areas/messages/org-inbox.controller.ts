import { INBOX } from '@app/database';
import {
  byValue, instant, like, list, listController, nullable, oneOf, Source, text, uuid, View,
} from '../../http/kit.js'; // prettier-ignore

/** What was written to the organization itself. */
const INBOX_MESSAGES = list({
  id: 'list_org_inbox',
  path: 'v1/org-inbox',
  summary: 'Lists what was written to the organization itself, newest first',
  description:
    'A message is from a person who was signed in (`from_user_id`) or from a guest (`guest_name`, `guest_email`), and may ' +
    'be about a tutor (`subject_tutor_id`). Owners and admins read and archive messages in the portal.',
  view: new View('OrgInboxMessage', {
    id: uuid('i.id'),
    org_id: nullable(uuid('i.organization_id')),
    subject_tutor_id: nullable(uuid('i.subject_tutor_id')),
    from_user_id: like(nullable(uuid('i.from_user_id')), null),
    guest_name: nullable(text('i.guest_name', 'Mia Nguyen')),
    guest_email: nullable(text('i.guest_email', 'mia@example.org')),
    message: nullable(text('i.message', 'Do you have a place in Year 10 Maths on Tuesdays?')),
    status: nullable(oneOf('i.status', INBOX.values)),
    created_at: nullable(instant('i.created_at')),
  }),
  source: new Source('inbox_messages', 'i'),
  parameters: [byValue('status', INBOX.values, 'Only messages in this state.')],
});

export const ORG_INBOX_CONTROLLERS = [listController(INBOX_MESSAGES)];
