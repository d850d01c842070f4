import type { Provider } from '@nestjs/common';
import { Env } from '@app/config';
import { Admission, BodyBudget, clientAddress, pathOf } from '@app/serving';
import { networkOf } from './network.js';
import { Busy } from './page-error.js';

/** Bytes of forms that this process holds at a time: 500 forms of the maximum length. */
const MOST_BYTES = 16 * 1_048_576;

/** What load balancers ask. */
export const PROBES = new Set(['/health/live', '/health/ready']);

/** Limits on concurrent work. A network, which may be a whole school's, gets at most a quarter of the places. */
export const capacity: Provider[] = [
  {
    provide: Admission,
    inject: [Env],
    useFactory: (env: Env) => {
      const most = env.get('MAX_REQUESTS_IN_FLIGHT');
      return new Admission({
        most,
        share: Math.ceil(most / 4),
        ownerOf: (request) => networkOf(clientAddress(request, env.get('TRUST_PROXY'))),
        isUrgent: (request) => PROBES.has(pathOf(request)),
      });
    },
  },
  {
    provide: BodyBudget,
    useFactory: () => new BodyBudget({ most: MOST_BYTES, share: MOST_BYTES / 4, refusal: () => new Busy() }),
  },
];
