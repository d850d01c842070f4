import type { Provider } from '@nestjs/common';
import { Env } from '@app/config';
import { Admission, BodyBudget } from '@app/serving';
import { Overloaded } from '../errors/api-error.js';
import { isUrgent } from './urgent.js';

/**
 * Bytes of bodies that this process holds at a time: twenty of the longest posts, or thousands of usual requests. What is
 * parsed of a body takes about as much again, and both fit beside the 256 MB of the heap.
 */
const MOST_BYTES = 64 * 1_048_576;

/** What an upload holds: a few buffers of its streams. The file itself goes to the disk. */
export const UPLOAD_BYTES = 262_144;

/** How much this process takes on at a time. Half is left to others, by key before anything is looked up, then by organization. */
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
    useFactory: () => new BodyBudget({ most: MOST_BYTES, share: MOST_BYTES / 2, refusal: () => new Overloaded(1) }),
  },
];
