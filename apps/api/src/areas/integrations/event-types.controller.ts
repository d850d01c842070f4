import { EVENT_TYPES } from '@app/database';
import { many, objectOf, orNull, Page, readController, type Shape, textLike } from '../../http/kit.js';

const typeShape: Shape = {
  name: 'EventType',
  schema: objectOf({
    type: textLike('session.completed'),
    description: textLike('A session was completed.'),
    resource: textLike('session'),
    path: {
      ...orNull(textLike('/v1/sessions/{id}')),
      description: 'Where a record is read; null if only its list shows it.',
    },
    list: {
      ...orNull(textLike('/v1/sessions')),
      description: 'The list that shows these records; null if there is none.',
    },
  }),
};

const data = EVENT_TYPES.map(({ type, says, resource, path, list }) => ({
  type,
  description: says,
  resource,
  path,
  list,
}));

const EVENT_TYPES_LIST = readController({
  id: 'list_event_types',
  path: 'v1/event-types',
  summary: 'Lists the types of events',
  description: 'More may be added: ignore types that you do not know.',
  answer: many(typeShape),
  rules: [],
  run: () => new Page({ count: data.length, data: data.map((type) => JSON.stringify(type)).join(',') }, 'data'),
});

export const EVENT_TYPES_CONTROLLERS = [EVENT_TYPES_LIST];
