/** A promise about behaviour under load, faults or bad input, and the specs that prove it. */
export interface Promised {
  row: number;
  promised: string;
  /** Specs below test/ that fail if the promise is broken: in a fault run with the full numbers. */
  specs: string[];
}

/** Every promise, in the order of the table that `npm run test:faults -- --report` prints. */
export const PROMISES: Promised[] = [
  {
    row: 1,
    promised: '200 kills during bulk invites: 0 duplicated, 0 lost, replays identical',
    specs: ['api/writes/killed-writes'],
  },
  {
    row: 2,
    promised: '50 crashes of PostgreSQL during writes: 0 duplicated, 0 lost, up again within 2 s',
    specs: ['api/writes/killed-writes', 'api/running/faults-of-postgres'],
  },
  { row: 3, promised: '40 keys x 50 simultaneous requests: one effect a key, no 5xx', specs: ['api/writes/idempotency'] },
  { row: 4, promised: '30 rounds x 8 overlapping batches: one account an address, no deadlock, no 5xx', specs: ['api/people/bulk-invite-races'] },
  {
    row: 5,
    promised: '500 changed bodies under a used key: all 422, no effect; keys of other organizations independent',
    specs: ['api/writes/idempotency-keys'],
  },
  {
    row: 6,
    promised: 'a replay is authorized again and expires after 24 h',
    specs: ['api/writes/idempotency-keys', 'api/writes/replay-access', 'worker/housekeeping'],
  },
  { row: 7, promised: '1,000 batches with bad rows: every good row kept, no bad one', specs: ['faults/writes/bulk-invite-rows'] },
  {
    row: 8,
    promised: '100 kills of the worker during 1,000 invites: 0 lost, duplicates <= kills, one Message-ID each',
    specs: ['faults/worker/worker-faults'],
  },
  { row: 9, promised: 'Redis wiped 10 times and away for 60 s: 0 lost, all sent within 120 s of its return', specs: ['faults/worker/worker-faults'] },
  {
    row: 10,
    promised: 'poisoned messages and a stalling server: other mails p95 <= 60 s, dead after 8 attempts',
    specs: ['faults/worker/worker-faults'],
  },
  {
    row: 11,
    promised: '4 workers, 5,000 mails: each sent once; at most one duplicate for each pause past the lease',
    specs: ['faults/worker/worker-faults'],
  },
  {
    row: 12,
    promised: '100 simultaneous publishes x 20 posts: 20 rebuilds; none for republishing',
    specs: ['api/blog/blog-races', 'worker/rebuilds'],
  },
  { row: 13, promised: 'a hard bounce stops mail to the address', specs: ['worker/email'] },
  {
    row: 14,
    promised: 'every operation x every foreign, random or malformed id: 404 or absent, nothing changed',
    specs: ['api/tenancy/tenancy', 'api/tenancy/tenancy-writes'],
  },
  {
    row: 15,
    promised: '2,000 pairs of foreign and absent ids: same answer, medians of time within 10 % or 1 ms',
    specs: ['faults/input/foreign-and-absent', 'faults/input/known-addresses'],
  },
  {
    row: 16,
    promised: 'isolation holds with the WHERE removed; RLS forced on all tenant tables',
    specs: ['database/row-security', 'api/tenancy/tenancy-queries'],
  },
  {
    row: 17,
    promised: '20,000 requests of 50 tenants over a pool of 5, 10 % aborted: 0 rows of another tenant',
    specs: ['api/tenancy/connection-tenant'],
  },
  { row: 18, promised: 'every operation x every scope equals the documented table', specs: ['api/auth/scopes'] },
  { row: 19, promised: '50 keys revoked under load over 4 processes: 0 later successes', specs: ['api/auth/revocation'] },
  {
    row: 20,
    promised: 'no key or invite token in dumps, logs or error bodies',
    specs: ['api/running/secrets', 'api/running/database-error-privacy', 'portal/pages/secrets'],
  },
  { row: 21, promised: 'bad keys refused alike, limited by address; p99 of others < +10 %', specs: ['faults/load/bad-keys', 'api/auth/rate-limit'] },
  { row: 22, promised: '150,000 generated requests: 0 5xx, 0 exits, stalls < 200 ms', specs: ['api/bodies/fuzz'] },
  { row: 23, promised: 'known bad requests: each as documented', specs: ['api/bodies/hostile', 'api/bodies/hostile-wire'] },
  { row: 24, promised: 'every error has one of three shapes', specs: ['api/contract/shapes', 'api/bodies/fuzz'] },
  { row: 25, promised: '5,000 valid bodies accepted, read back as sent', specs: ['faults/input/blog-bodies'] },
  { row: 26, promised: 'unknown and forbidden fields do nothing', specs: ['api/bodies/bodies'] },
  { row: 27, promised: 'methods x types x encodings equal the documented table', specs: ['api/contract/methods'] },
  {
    row: 28,
    promised: '200 histories of inserts during cursor walks: nothing skipped, nothing repeated',
    specs: ['api/lists/lists-walk'],
  },
  {
    row: 29,
    promised: 'behind nginx, 1,000 slow headers, 1,000 slow bodies, 200 slow readers: others p99 <= 2x, 0 failures; directly, cut within 10 and 60 s',
    specs: ['faults/load/slow-clients'],
  },
  {
    row: 30,
    promised: '3x capacity for 60 s: goodput >= 75 % of peak, refusals p95 <= 50 ms up to 40 at once, health <= 100 ms',
    specs: ['faults/load/overload'],
  },
  {
    row: 31,
    promised:
      "one organization's copies, keys, largest pages and writes, 300 strangers: 0 refused of another, p99 <= 2x or 30 ms; a copy beside a quiet neighbour <= 1.3x slower",
    specs: ['faults/load/neighbours'],
  },
  {
    row: 32,
    promised: 'locked tables and a bad network to PostgreSQL: every answer <= 7 s, 0 leaked connections',
    specs: ['faults/load/database-faults', 'api/running/deadlines'],
  },
  {
    row: 33,
    promised: '50 rolling restarts at 200 requests/s: 0 failures, exit <= 10 s',
    specs: ['faults/load/rolling-restarts', 'api/running/shutdown', 'portal/pages/shutdown'],
  },
  {
    row: 34,
    promised: 'limits over 4 processes within 2 %; each its own with Redis killed; data lost: one more allowance at most',
    specs: ['faults/load/rate-limits', 'api/auth/rate-limit-redis', 'api/auth/sliding-window'],
  },
  {
    row: 35,
    promised: '300 hostile files: right status each, RSS < +250 MB with 20 at once, no metadata',
    specs: ['faults/input/uploads', 'api/blog/images-refused', 'api/blog/images-form'],
  },
  { row: 36, promised: '20,000 mutated multipart bodies: 0 exits, 0 5xx, 0 leaks', specs: ['faults/input/multipart-bodies'] },
  {
    row: 37,
    promised: '30 min at 50 % load, 1,000,000 rows: RSS slope < 1 MB/min, p99 of the end <= 1.2x of the start',
    specs: ['faults/load/soak'],
  },
  {
    row: 38,
    promised: 'no personal data in logs, metrics or queues; no forged log line',
    specs: ['api/running/secrets', 'api/running/database-error-privacy', 'portal/pages/secrets'],
  },
  { row: 39, promised: 'retention and erasure happen', specs: ['worker/housekeeping'] },
  { row: 40, promised: 'every write audited once; reads run read-only', specs: ['api/writes/audit'] },
  {
    row: 41,
    promised: 'every length that a caller decides, n to 16n: time and memory <= 24x, event loop held <= 50 ms',
    specs: ['api/bodies/linear-work', 'portal/pages/linear-work', 'faults/load/loop'],
  },
  {
    row: 42,
    promised: '20 of the largest pages at once: 0 exits, RSS < +150 MB, others p99 <= 2x',
    specs: ['faults/load/large-answers', 'api/lists/large-answers'],
  },
  {
    row: 43,
    promised: "a key's heaviest requests of each kind for 60 s: others as in row 31, excess refused with Retry-After",
    specs: ['faults/load/neighbours', 'faults/load/portal-one-network'],
  },
  { row: 44, promised: 'image bombs: RSS < +200 MB, answered within 20 s, others unaffected', specs: ['faults/input/image-bombs'] },
  {
    row: 45,
    promised: '600 sequences of up to 14 commands: nobody becomes or sees somebody else',
    specs: ['api/tenancy/identity-model'],
  },
  {
    row: 46,
    promised: 'the connection to PostgreSQL cut at every message boundary of every write: 0 duplicated, lost or changed',
    specs: ['api/writes/boundaries', 'worker/boundaries'],
  },
  {
    row: 47,
    promised: 'PostgreSQL paused for 60 s: every request 503 within 7 s, none cut off, well 2 s after',
    specs: ['faults/load/database-faults'],
  },
  {
    row: 51,
    promised: '80 sequences of joins, removals, codes, roles and undo: whoever is out is out, an owner can sign in, places hold',
    specs: ['portal/belonging-model'],
  },
  {
    row: 52,
    promised: 'guessing from 100 networks at an owner and all codes: the owner signs in in every way, right codes work',
    specs: ['portal/sign-in/lockout', 'portal/sign-in/password-attempts', 'portal/sign-in/known-browsers'],
  },
  {
    row: 53,
    promised: "500 mails and 20 hanging hooks of one organization: another's mail within 5 s, its rebuild within 10 s",
    specs: ['faults/worker/worker-fairness', 'database/outbox-turns'],
  },
  {
    row: 54,
    promised: '150 random histories of money by 8 clients, with kills: every sum, number and order of payment right, every answer kept',
    specs: ['api/money/histories'],
  },
  {
    row: 55,
    promised: 'every pair of writes of the same record, ten at once: 0 deadlocks, answers 2xx, 404, 409 or 422',
    specs: ['api/writes/pairs'],
  },
  {
    row: 56,
    promised: 'an admin whose browser or key writes on 8 connections is removed and demoted every time, within 5 s',
    specs: ['portal/pages/rogue-manager'],
  },
  {
    row: 57,
    promised: 'a tutor with 4,000 sessions ahead leaves in one transaction within 5 s, whatever becomes of them',
    specs: ['api/scheduling/long-departures'],
  },
  {
    row: 58,
    promised: '200 random histories of a calendar by 8 clients: no tutor is booked twice',
    specs: ['api/scheduling/calendar-model'],
  },
  {
    row: 59,
    promised: '100 kills of the worker amid 5,000 webhook deliveries: 0 lost, repeats only with the same webhook-id, no expired secret signs',
    specs: ['worker/webhook-faults'],
  },
  {
    row: 60,
    promised: '100 organizations with a dead webhook endpoint each: p95 of deliveries to others <= 5 s',
    specs: ['worker/webhook-faults'],
  },
  {
    row: 61,
    promised: '160 histories of racing, long and undone writes with broken connections, and 20 over crashes: readers of the feed miss nothing',
    specs: ['api/events/histories', 'faults/events/feed'],
  },
  { row: 62, promised: 'a copy kept by lists and events alone equals what is shown after 20 rounds of all writes', specs: ['api/events/copy'] },
  { row: 63, promised: '1,000 reads from a replica 100 ms behind, each after a write of another process: 0 miss it', specs: ['database/replicas'] },
  { row: 64, promised: '50 kills of a replica under load: 0 of the requests fail, 0 miss what was written before', specs: ['faults/load/replicas'] },
  { row: 65, promised: 'CPU of the primary for a read, with a replica: <= 0.15 of that without', specs: ['faults/load/replicas'] },
  { row: 66, promised: 'moves under 8 writers and 50 kills: 0 acknowledged writes lost, 0 doubled, one home', specs: ['faults/load/move'] },
  {
    row: 67,
    promised:
      '100 kills of two workers that mail families, by clocks that jump an hour: each reminder and evening once, told last is what is so, nothing of another family',
    specs: ['worker/family-mails-faults'],
  },
];
