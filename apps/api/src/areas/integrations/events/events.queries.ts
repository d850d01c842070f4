import { byValue, cursorForm, Fault, kinds, orDefault, parameter, queryOf } from '../../../http/kit.js';
import { NOW, OLDEST } from '../event-feed.js';
import { RESOURCES, TYPES } from './events.view.js';

/** The longest wait for events (s). */
const LONGEST_WAIT = 20;

/** Names of types, or `session.*` for all that begin so; as the names that they stand for. */
const typeNames: kinds.Kind<string[]> = {
  schema: {
    type: 'string',
    pattern: '^[a-z_.]+(\\.\\*)?(,[a-z_.]+(\\.\\*)?)*$',
    examples: [TYPES[0], `${TYPES[0]!.split('.')[0]}.*`],
  },
  parse: (raw) => {
    if (typeof raw !== 'string') return new Fault('string_type', 'Must be names of types, separated by commas.');
    const wanted = new Set<string>();
    for (const name of raw.split(',')) {
      const named = TYPES.filter((type) => (name.endsWith('.*') ? type.startsWith(name.slice(0, -1)) : type === name));
      if (named.length === 0)
        return new Fault(
          'value_error',
          `${/^[a-z_.*]{1,60}$/.test(name) ? `No type is called ${name}` : 'No type has this name'}. GET /v1/event-types lists all.`,
        );
      for (const type of named) wanted.add(type);
    }
    return [...wanted].sort();
  },
};

export const EventsQuery = queryOf([
  orDefault(parameter('limit', kinds.integer(1, 100), 'Page size.'), 20),
  orDefault(
    parameter(
      'cursor',
      kinds.token(
        cursorForm(OLDEST, NOW),
        'Must be "oldest", "now" or the meta.next_cursor of an earlier page.',
        OLDEST,
        NOW,
      ),
      'Where to begin: `oldest` with the oldest event that is kept, `now` with the next one to come; or the `meta.next_cursor` of any ' +
        'earlier page, whatever its filters.',
    ),
    OLDEST,
  ),
  parameter(
    'types',
    typeNames,
    'Only these types: names separated by commas, `session.*` for all of a kind. `GET /v1/event-types` lists them.',
  ),
  byValue('resource', RESOURCES, 'Only events of this kind of record.'),
  orDefault(
    parameter('wait', kinds.integer(0, LONGEST_WAIT), 'When there is nothing to show, wait so many seconds for it.'),
    0,
  ),
]);

export type EventsQuery = InstanceType<typeof EventsQuery>;
