/**
 * What mutation tests mutate, room by room, and the specs that must fail. Each room lists only the specs about it:
 * running all that import it would take minutes for each mutant. They run what they test in their own process: a built
 * program contains no mutants. `patience` limits each test (ms).
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
      'test/worker/{names,problems}.spec.ts',
      'test/api/{blog-create,bulk-invite,invites,mail-limits}.spec.ts',
      'test/portal/{keys,outbox}.spec.ts',
    ],
  },
  'libs/database': {
    mutate: [
      'libs/database/src/{applied-migrations,database-fault,list-counts,migrate,roles,sql-state,values}.ts',
      'libs/database/src/schema/functions.ts',
    ],
    specs: [
      'test/database/{grants,hostile-roles,list-counts,migrate,schema}.spec.ts',
      'test/api/contract/health.spec.ts',
      'test/cli/database-faults.spec.ts',
      'test/values.spec.ts',
    ],
  },
  'libs/database/connections': {
    mutate: [
      'libs/database/src/{batch,connections,data-source,database,deadline,lease,side-connection,unavailable}.ts',
    ],
    specs: [
      'test/api/{database-error-privacy,faults-of-reads,request-log}.spec.ts',
      'test/database/{connections,pool-refusals,side-connection,units-of-work}.spec.ts',
    ],
  },
  'libs/accounts': {
    mutate: ['libs/accounts/src/*.ts', 'libs/people/src/{,invites/}*.ts'],
    specs: [
      'test/api/{accounts,invites,invites-refused,join-link,joining,opened-invites,staff}.spec.ts',
      'test/cli/commands.spec.ts',
      'test/portal/{join-states,passwords,people,people-invites}.spec.ts',
    ],
  },
  'libs/accounts/keys': {
    mutate: ['libs/accounts/src/keys/**/*.ts'],
    specs: ['test/api/{key-changes,key-creation,key-usage}.spec.ts', 'test/portal/pages/keys.spec.ts'],
  },
  'libs/accounts/joining': {
    mutate: ['libs/accounts/src/joining/**/*.ts'],
    specs: [
      'test/api/{joining,joining-approvals,opened-invites}.spec.ts',
      'test/portal/{another-person,join-passkeys,join-passwords,join-states,known-addresses,offers,people}.spec.ts',
    ],
  },
  'libs/people/provisioning': {
    mutate: ['libs/people/src/provisioning/**/*.ts'],
    specs: [
      'test/api/{accounts,accounts-changes,bulk-invite,bulk-invite-parents,bulk-invite-people,identity}.spec.ts',
      'test/portal/pages/people.spec.ts',
    ],
  },
  'http/auth': {
    mutate: ['apps/api/src/http/auth/**/*.ts'],
    specs: ['test/api/{access,full-capacity,key-usage,rate-limit,scopes}.spec.ts'],
  },
  'http/errors': {
    mutate: ['apps/api/src/http/errors/**/*.ts'],
    specs: ['test/api/{access,blog,blog-create,error-bodies,hostile-wire,scopes}.spec.ts'],
  },
  'http/lists': {
    mutate: ['apps/api/src/http/lists/**/*.ts'],
    specs: [
      'test/api/{large-answers,lists-cursors,lists-filter-values,lists-filters,lists-order,lists-paging}.spec.ts',
    ],
  },
  'http/lists/cursor': {
    mutate: ['apps/api/src/http/lists/cursor.ts'],
    specs: ['test/api/lists/lists-cursors.spec.ts'],
  },
  'http/openapi': { mutate: ['apps/api/src/http/openapi/**/*.ts'], specs: ['test/api/{docs-pages,openapi}.spec.ts'] },
  'http/rate-limit/windows': {
    mutate: ['apps/api/src/http/rate-limit/sliding-window.ts'],
    specs: ['test/api/auth/sliding-window.spec.ts'],
  },
  'http/rate-limit': {
    mutate: ['apps/api/src/http/rate-limit/**/*.ts'],
    specs: ['test/api/{rate-limit,rate-limit-redis,sliding-window}.spec.ts'],
  },
  'http/request': {
    mutate: ['apps/api/src/http/request/{access-log,capacity,client-time,urgent}.ts', 'libs/serving/src/**/*.ts'],
    specs: [
      'test/api/{admission,bodies-in-flight,bodies-wire,headers,hostile-wire}.spec.ts',
      'test/api/{in-turn,lingering-close,refusal-pause,slow-clients}.spec.ts',
    ],
  },
  'http/request-log': {
    mutate: ['apps/api/src/http/request-log/**/*.ts'],
    specs: ['test/api/running/request-log.spec.ts'],
  },
  'http/routing': {
    mutate: ['apps/api/src/http/routing/**/*.ts'],
    specs: ['test/api/{headers,methods,rate-limit}.spec.ts'],
  },
  'http/validation': {
    mutate: ['apps/api/src/http/validation/**/*.ts'],
    specs: [
      'test/api/{bodies,bodies-fields,bodies-wire,health,hostile-wire,lists-filter-values,long-requests}.spec.ts',
    ],
  },
  'http/views': {
    mutate: ['apps/api/src/http/views/**/*.ts'],
    specs: ['test/api/{json-stream,openapi,page-sizes,shapes}.spec.ts'],
  },
  'http/writes': {
    mutate: ['apps/api/src/http/{request/attempt,writes/**/*}.ts'],
    specs: ['test/api/{audit,audit-refusals,blog,idempotency,idempotency-keys,idempotency-replays}.spec.ts'],
  },
};
