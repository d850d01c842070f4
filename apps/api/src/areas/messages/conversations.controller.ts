import sql from 'sql-template-tag';
import { VALUES } from '@app/database';
import { FIELDS } from '@app/fields';
import { Conversations } from '@app/messaging';
import {
  byValue, changeOf, Fault, field, inputOf, instant, type Interdependent, json, like, list, listController, nullable, objectOf, oneOf, recordController, type RecordDeclaration, Source, text,
  TOGETHER, UUID, uuid, View, writeController,
} from '../../http/kit.js'; // prettier-ignore

/** PostgreSQL puts a line break between participants; ids and roles contain no whitespace. */
const PARTICIPANTS = `replace(o.participants::text, E', \\n ', ',')::json`;

/** Threads with an active participant who is an accepted member, with a copy of the fields shown. */
const CONVERSATIONS = list({
  id: 'list_conversations',
  path: 'v1/conversations',
  summary: 'Lists message threads, most recently active first',
  description:
    'A thread is listed if one of its active participants is an accepted member of the organization. ' +
    '`last_message_at` considers only messages with visibility `everyone`.',
  view: new View('Conversation', {
    id: uuid('o.conversation_id'),
    type: like(nullable(oneOf('o.type', VALUES.conversations.type)), 'classroom_feed'),
    classroom_id: nullable(uuid('o.classroom_id')),
    title: nullable(text('o.title', 'Year 11 Methods')),
    last_message_at: nullable(instant('o.last_message_at')),
    participants: json(PARTICIPANTS, {
      type: 'array',
      items: objectOf({
        user_id: UUID,
        role: nullable(oneOf('', VALUES.conversation_participants.role)).schema,
      }),
    }),
    created_at: nullable(instant('o.created_at')),
    updated_at: nullable(instant('o.updated_at')),
  }),
  source: new Source('organization_conversations', 'o', { id: 'conversation_id', copies: 'conversations' }),
  order: sql`o.last_message_at DESC NULLS LAST, o.conversation_id DESC`,
  parameters: [byValue('type', VALUES.conversations.type, 'Only threads of this type.')],
});

const CONVERSATION: RecordDeclaration = {
  id: 'get_conversation',
  path: 'v1/conversations/:conversation_id',
  summary: 'Returns one message thread',
  view: CONVERSATIONS.view,
  source: CONVERSATIONS.source,
};

const WHO =
  'Accepted members, and parents who have accepted and are linked to a child (others: 404); one of them teaches or manages here.';

class CreateConversation implements Interdependent {
  @field.OneOf(['group', 'classroom_feed'], { required: true })
  type: 'group' | 'classroom_feed';

  @field.bodyField(FIELDS.conversations.title, { nullable: true })
  title?: string | null;

  @field.Uuid({ nullable: true, description: 'Required for a `classroom_feed`.' })
  classroom_id?: string | null;

  @field.Uuids({ min: 1, max: 200 }, { required: true, description: WHO })
  participant_ids: string[];

  [TOGETHER](): Fault[] {
    if (this.type === 'group' || (this.classroom_id ?? null) !== null) return [];
    return [new Fault('missing', 'Required for a classroom_feed.', ['classroom_id'])];
  }
}

/** Omitted fields stay unchanged. */
class UpdateConversation {
  @field.bodyField(FIELDS.conversations.title, { nullable: true })
  title?: string | null;

  @field.Uuids({ min: 1, max: 200 }, { description: `All who take part; who is missing leaves. ${WHO}` })
  participant_ids?: string[];
}

export const CONVERSATIONS_CONTROLLERS = [
  listController(CONVERSATIONS),
  recordController(CONVERSATION),
  writeController({
    id: 'create_conversation',
    route: 'POST /v1/conversations',
    scope: 'messages:write',
    summary: 'Opens a message thread of several people',
    description:
      'Owners and admins see every thread that a student takes part in. A direct one is opened by its first message.',
    example: {
      type: 'group',
      title: 'Year 11 Methods',
      participant_ids: ['0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30'],
    },
    body: CreateConversation,
    rules: [Conversations],
    answers: CONVERSATION,
    versions: CONVERSATION,
    idName: 'conversation_id',
    run: ({ organizationId, body }, conversations) => conversations.open(organizationId, inputOf(body)),
  }),
  writeController({
    id: 'update_conversation',
    route: 'PATCH /v1/conversations/:conversation_id',
    scope: ['messages:write', 'read'],
    summary: 'Changes the title or the participants of a thread of several people',
    description:
      'Omitted fields stay unchanged. `participant_ids` replaces those of this organization; people whom only another one knows ' +
      'stay. A direct thread is a 404.',
    example: { title: 'Year 12 Methods' },
    body: UpdateConversation,
    rules: [Conversations],
    answers: CONVERSATION,
    versions: CONVERSATION,
    run: ({ organizationId, ids, body }, conversations) =>
      conversations.change(organizationId, ids.conversation_id, changeOf(body)),
  }),
];
