import type { Provider } from '@nestjs/common';
import { Env } from '@app/config';
import { Admission, BodyBudget } from '@app/serving';
import { isProbe, networkFinder, NetworkTurns } from './network-turns.js';
import { BUSY } from './page-error.js';

/** Bytes of forms that this process holds at a time: 2,000 forms of the maximum length. */
const MOST_BYTES = 64 * 1_048_576;

/** Limits on concurrent work. A network, which may be a whole school's, gets at most a quarter of the places. */
export const capacity: Provider[] = [
  {
    provide: Admission,
    inject: [Env],
    useFactory: (env: Env) => {
      const most = env.get('MAX_REQUESTS_IN_FLIGHT');
      return new Admission({ most, share: Math.ceil(most / 4), ownerOf: networkFinder(env), isUrgent: isProbe });
    },
  },
  {
    provide: BodyBudget,
    useFactory: () => new BodyBudget({ most: MOST_BYTES, share: MOST_BYTES / 4, refusal: () => BUSY }),
  },
  NetworkTurns,
];
