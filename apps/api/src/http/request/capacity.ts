import type { Provider } from '@nestjs/common';
import { Env } from '@app/config';
import { Admission, BodyBudget } from '@app/serving';
import { Overloaded } from '../errors/api-error.js';
import { isUrgent } from './urgent.js';

/**
 * Bytes of request bodies that this process holds at a time: twenty of the longest posts, or thousands of usual
 * requests. Parsed bodies take about as much again, and both fit beside the heap of 256 MB.
 */
const MOST_BYTES = 64 * 1_048_576;

/** Bytes that an upload holds: a few stream buffers. The file itself goes to disk. */
export const UPLOAD_BYTES = 262_144;

/** Refuses a body. Created once: capturing a stack takes longer than the rest of a refusal. */
export const NO_ROOM_FOR_BODY = new Overloaded(1);

/** Limits on concurrent work. An owner gets at most half: a key before it is looked up, an organization afterwards. */
export const capacity: Provider[] = [
  {
    provide: Admission,
    inject: [Env],
    useFactory: (env: Env) => {
      const most = env.get('MAX_REQUESTS_IN_FLIGHT');
      const ownerOf: ConstructorParameters<typeof Admission>[0]['ownerOf'] = ({ headers }) =>
        headers.authorization ?? '';
      return new Admission({ most, share: Math.ceil(most / 2), ownerOf, isUrgent });
    },
  },
  {
    provide: BodyBudget,
    useFactory: () => new BodyBudget({ most: MOST_BYTES, share: MOST_BYTES / 2, refusal: () => NO_ROOM_FOR_BODY }),
  },
];
