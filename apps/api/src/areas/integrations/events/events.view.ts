import { EVENT_TYPES } from '@app/database';
import { type Answer, BOOLEAN, enumOf, INSTANT, objectOf, type Shape, textLike, UUID } from '../../../http/kit.js';

/** The names of all types, and of the records that they are about. */
export const TYPES = EVENT_TYPES.map(({ type }) => type);
export const RESOURCES = [...new Set(EVENT_TYPES.map(({ resource }) => resource))].sort();

/** What the feed shows of an event, and what webhooks send: `eventJson` of @app/events writes it. */
export const eventShape: Shape = {
  name: 'Event',
  schema: objectOf({
    id: UUID,
    type: enumOf(TYPES),
    timestamp: INSTANT,
    resource: enumOf(RESOURCES),
    resource_id: UUID,
    data: {
      type: 'object',
      description:
        'Ids of what the record belongs to, its `status`, and the names of the fields that changed in `changed`.',
      examples: [{ status: 'completed', changed: ['status', 'completed_at'] }],
    },
  }),
};

const refer = ({ name }: Shape) => ({ $ref: `#/components/schemas/${name}` });

const metaShape: Shape = {
  name: 'EventPageMeta',
  schema: objectOf({
    limit: { type: 'integer', description: 'The page size that was applied.', examples: [20] },
    count: { type: 'integer', description: 'Number of events on this page.', examples: [1] },
    next_cursor: { ...textLike(), description: 'Where to go on, now or later; never null.' },
    has_more: { ...BOOLEAN, description: 'Whether there is more to read already.' },
  }),
};

const pageShape: Shape = {
  name: 'EventPage',
  schema: objectOf({ data: { type: 'array', items: refer(eventShape) }, meta: refer(metaShape) }),
};

export const eventPage: Answer = { shapes: [eventShape, metaShape, pageShape], schema: refer(pageShape) };
