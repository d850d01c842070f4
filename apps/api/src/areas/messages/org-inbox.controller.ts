import { INBOX } from '@app/database';
import { FIELDS } from '@app/fields';
import { Inbox } from '@app/messaging';
import {
  byValue, field, inputOf, instant, like, list, listController, nullable, oneOf, recordController, type RecordDeclaration, Source,
  text, uuid, View, writeController,
} from '../../http/kit.js'; // prettier-ignore

/** What was written to the organization itself. */
const INBOX_MESSAGES = list({
  id: 'list_org_inbox',
  path: 'v1/org-inbox',
  summary: 'Lists what was written to the organization itself, newest first',
  description:
    'A message is from a person who was signed in (`from_user_id`) or from a guest (`guest_name`, `guest_email`), and may ' +
    'be about a tutor (`subject_tutor_id`) or a lesson (`session_id`: somebody who cannot come, say). Owners and admins read and archive messages in the portal.',
  view: new View('OrgInboxMessage', {
    id: uuid('i.id'),
    org_id: nullable(uuid('i.organization_id')),
    subject_tutor_id: nullable(uuid('i.subject_tutor_id')),
    from_user_id: like(nullable(uuid('i.from_user_id')), null),
    session_id: like(nullable(uuid('i.session_id')), null),
    guest_name: nullable(text('i.guest_name', 'Mia Nguyen')),
    guest_email: nullable(text('i.guest_email', 'mia@example.org')),
    message: nullable(text('i.message', 'Do you have a place in Year 10 Maths on Tuesdays?')),
    status: nullable(oneOf('i.status', INBOX.values)),
    created_at: nullable(instant('i.created_at')),
  }),
  source: new Source('inbox_messages', 'i'),
  parameters: [byValue('status', INBOX.values, 'Only messages in this state.')],
});

const INBOX_MESSAGE: RecordDeclaration = {
  id: 'get_org_inbox_message',
  path: 'v1/org-inbox/:inbox_message_id',
  summary: 'Returns one message of the inbox',
  view: INBOX_MESSAGES.view,
  source: INBOX_MESSAGES.source,
};

/** What a guest writes. */
class CreateInboxMessage {
  @field.bodyField(FIELDS.inbox_messages.guest_name, { required: true })
  guest_name: string;

  @field.bodyField(FIELDS.inbox_messages.guest_email, { required: true })
  guest_email: string;

  @field.bodyField(FIELDS.inbox_messages.message, { required: true })
  message: string;

  @field.Uuid({ nullable: true, description: 'An accepted tutor, admin or owner whom it is about.' })
  subject_tutor_id?: string | null;
}

const ACTIONS = { read: 'read', archived: 'archive' } as const;

class UpdateInboxMessage {
  @field.OneOf(['read', 'archived'], { required: true, description: 'Nothing leads back.' })
  status: keyof typeof ACTIONS;
}

export const ORG_INBOX_CONTROLLERS = [
  listController(INBOX_MESSAGES),
  recordController(INBOX_MESSAGE),
  writeController({
    id: 'create_org_inbox_message',
    route: 'POST /v1/org-inbox',
    scope: 'leads:write',
    summary: 'Records what a guest writes to the organization',
    description: 'For the form of a website: it is `unread`, and nobody is mailed.',
    example: {
      guest_name: 'Mia Nguyen',
      guest_email: 'mia@example.org',
      message: 'Do you have a place in Year 10 Maths on Tuesdays?',
    },
    body: CreateInboxMessage,
    rules: [Inbox],
    answers: INBOX_MESSAGE,
    versions: INBOX_MESSAGE,
    idName: 'inbox_message_id',
    run: ({ organizationId, body }, inbox) => inbox.receive(organizationId, inputOf(body)),
  }),
  writeController({
    id: 'update_org_inbox_message',
    route: 'PATCH /v1/org-inbox/:inbox_message_id',
    scope: ['leads:write', 'read'],
    summary: 'Marks a message of the inbox as read, or archives it',
    description: 'An archived message cannot be marked as read: 409. Again: unchanged.',
    example: { status: 'read' },
    body: UpdateInboxMessage,
    rules: [Inbox],
    answers: INBOX_MESSAGE,
    versions: INBOX_MESSAGE,
    conflicts: ['invalid_state'],
    async run({ organizationId, ids, body }, inbox) {
      return { changed: await inbox.change(organizationId, ids.inbox_message_id, ACTIONS[body.status]) };
    },
  }),
];
