/**
 * What mutation tests mutate, room by room, and the specs that must fail. Each room lists only the specs about it:
 * running all that import it would take minutes for each mutant. `patience` limits each test (ms).
 */
export const ROOMS: Record<string, { mutate: string[]; specs: string[]; patience?: number }> = {
  'libs/concurrency': {
    mutate: ['libs/concurrency/src/**/*.ts'],
    specs: ['test/{expiries,fair-semaphore,token-buckets}.spec.ts'],
    patience: 1_500,
  },
  'libs/jobs': {
    mutate: ['libs/jobs/src/**/*.ts'],
    specs: [
      'test/database/{outbox,worker-functions}.spec.ts',
      'test/worker/{names,outbox-listener,problems,relay}.spec.ts',
      'test/cli/outbox.spec.ts',
    ],
  },
  'libs/database': {
    mutate: ['libs/database/src/*.ts'],
    specs: [
      'test/database/{grants,outbox,schema,worker-functions}.spec.ts',
      'test/api/{deadlines,faults-of-postgres}.spec.ts',
    ],
  },
  'libs/accounts': {
    mutate: ['libs/accounts/src/*.ts'],
    specs: [
      'test/api/{accounts,invites,invites-refused,join-link,members,mail-limits}.spec.ts',
      'test/cli/{commands,doctor,migrate}.spec.ts',
    ],
  },
  'libs/accounts/joining': {
    mutate: ['libs/accounts/src/joining/**/*.ts'],
    specs: ['test/api/{identity,joining,joining-approvals,opened-invites}.spec.ts'],
  },
  'libs/accounts/provisioning': {
    mutate: ['libs/accounts/src/provisioning/**/*.ts'],
    specs: ['test/api/{accounts,bulk-invite,bulk-invite-people,bulk-invite-races,identity}.spec.ts'],
  },
  'http/auth': {
    mutate: ['apps/api/src/http/auth/**/*.ts'],
    specs: ['test/api/{access,early-refusals,key-usage,order-of-refusal,rate-limit,scopes}.spec.ts'],
  },
  'http/errors': {
    mutate: ['apps/api/src/http/errors/**/*.ts'],
    specs: ['test/api/{bodies-wire,faults-of-postgres,hostile-wire}.spec.ts'],
  },
  'http/lists': {
    mutate: ['apps/api/src/http/lists/**/*.ts'],
    specs: [
      'test/api/{large-answers,lists-cursors,lists-filter-values,lists-filters,lists-order,lists-paging}.spec.ts',
    ],
  },
  'http/lists/cursor': {
    mutate: ['apps/api/src/http/lists/cursor.ts'],
    specs: ['test/api/lists-cursors.spec.ts'],
  },
  'http/openapi': { mutate: ['apps/api/src/http/openapi/**/*.ts'], specs: ['test/api/{docs,openapi}.spec.ts'] },
  'http/rate-limit/windows': {
    mutate: ['apps/api/src/http/rate-limit/sliding-window.ts'],
    specs: ['test/api/sliding-window.spec.ts'],
  },
  'http/rate-limit': {
    mutate: ['apps/api/src/http/rate-limit/**/*.ts'],
    specs: ['test/api/{rate-limit,rate-limit-redis,rate-limit-redis-away,sliding-window}.spec.ts'],
  },
  'http/request': {
    mutate: ['apps/api/src/http/request/**/*.ts', 'libs/serving/src/**/*.ts'],
    specs: ['test/api/{admission,bodies-in-flight,early-refusals,lingering-close,shutdown,slow-clients}.spec.ts'],
  },
  'http/routing': {
    mutate: ['apps/api/src/http/routing/**/*.ts'],
    specs: ['test/api/{early-refusals,methods}.spec.ts'],
  },
  'http/validation': {
    mutate: ['apps/api/src/http/validation/**/*.ts'],
    specs: ['test/api/{bodies,bodies-fields,bodies-wire}.spec.ts'],
  },
  'http/views': {
    mutate: ['apps/api/src/http/views/**/*.ts'],
    specs: ['test/api/{large-answers,openapi}.spec.ts'],
  },
  'http/writes': {
    mutate: ['apps/api/src/http/writes/**/*.ts'],
    specs: ['test/api/{audit,idempotency,idempotency-keys,idempotency-replays,replay-access}.spec.ts'],
  },
};
