import type pg from 'pg';
import { SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

/**
 * What the functions of the worker read does not grow with the organizations, nor with what waits or is kept: counted in
 * buffers, with the plans that a long session keeps.
 */
const MANY = 10_000;
const schema = await fixture(SchemaFixture.create());
const OWNERS = `generate_series(1, ${MANY}) n CROSS JOIN LATERAL (SELECT md5('organization ' || n)::uuid AS org) o`;
let client: pg.PoolClient;

beforeAll(async () => {
  client = await schema.owner.connect();
  await client.query(`
    SET plan_cache_mode = force_generic_plan;
    INSERT INTO organizations (id, name, slug) SELECT org, 'Many', 'many-' || n FROM ${OWNERS};
    INSERT INTO webhook_endpoints (id, organization_id, url, secret) SELECT org, org, 'https://example.org/', 'x' FROM ${OWNERS}`);
}, 60_000);

afterAll(() => client.release());

/** Queues messages of each organization, in one statement. */
async function queue(topic: 'email' | 'rebuild' | 'webhook', due: string, times = 1): Promise<void> {
  const recipient = { email: `'r'`, rebuild: `'organization:' || org`, webhook: 'org::text' }[topic];
  await client.query(`INSERT INTO outbox (id, organization_id, topic, kind, recipient, due_at, event_id)
    SELECT gen_random_uuid(), org, '${topic}', 'k', ${recipient}, ${due}, CASE '${topic}' WHEN 'webhook' THEN gen_random_uuid() END
    FROM ${OWNERS}, generate_series(1, ${times})`);
  await client.query('VACUUM ANALYZE outbox, outbox_turns, webhook_endpoints');
}

/**
 * The most buffers that one of some calls reads, after a few that plan its statements; but for one in ten. What other databases of the server
 * do can empty the caches of a session, and to plan anew reads some 2,000 buffers of the catalogue. Growth is read by every call.
 */
async function buffersOf(call: string, { warm = 3, times = 20 } = {}): Promise<number> {
  for (let count = 0; count < warm; count++) await client.query(`SELECT * FROM ${call}`);
  const read: number[] = [];
  for (let count = 0; count < times; count++) {
    const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM ${call}`,
    );
    const plan = rows[0]!['QUERY PLAN'][0]!.Plan;
    read.push(plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!);
  }
  return read.sort((one, other) => one - other)[Math.ceil(times * 0.9) - 1]!;
}

/** The rows of the outbox that a call reads. */
async function rowsOf(call: string): Promise<number> {
  const sofar = async () => {
    const { rows } = await client.query<{ n: number }>(`
      SELECT (seq_tup_read + idx_tup_fetch)::int AS n FROM pg_stat_xact_user_tables WHERE relname = 'outbox'`);
    return rows[0]!.n;
  };
  await client.query('BEGIN');
  const before = await sofar();
  await client.query(`SELECT * FROM ${call}`);
  const after = await sofar();
  await client.query('COMMIT');
  return after - before;
}

/** How far a backlog is counted. */
const COUNTED = 10_000;

const CLAIMS = {
  email: `claim_outbox('email', 'w', 10, interval '1 minute')`,
  rebuild: `claim_outbox('rebuild', 'w', 50, interval '1 minute')`,
  webhook: `claim_webhook('w', 200, interval '1 minute')`,
};

describe.each(Object.entries(CLAIMS) as [keyof typeof CLAIMS, string][])('a claim (%s)', (topic, claim) => {
  it(`reads at most 100 buffers among ${MANY} organizations with messages that are due later, or now`, async () => {
    await queue(topic, `now() + interval '1 hour'`);
    expect(await buffersOf(claim)).toBeLessThanOrEqual(100);
    await queue(topic, 'now()', 2);
    expect(await buffersOf(claim)).toBeLessThanOrEqual(100);
    // One of each.
    const { rows } = await client.query(`SELECT count(DISTINCT owner)::int AS owners FROM outbox WHERE topic = $1 AND leased_until > now()`, [topic]);
    expect(rows).toEqual([{ owners: 23 }]);
  }, 120_000);
});

it('the claim of a delivery reads at most five buffers more for each lane while all endpoints fail, and half of the lanes are theirs', async () => {
  await client.query(`UPDATE webhook_endpoints SET failing_since = now(), failed_at = now()`);
  await client.query('VACUUM ANALYZE webhook_endpoints, outbox_turns');
  const claim = `claim_webhook('w', 20, interval '1 minute')`;
  // The first one meets the turns that the organizations had while their endpoints were well.
  await client.query(`SELECT * FROM ${claim}`);
  await client.query('VACUUM outbox_turns');
  expect(await buffersOf(claim)).toBeLessThanOrEqual(100 + 5 * 20);
}, 60_000);

it('the numbers for /metrics, the list of the operator and the filling of slots read no more than they show', async () => {
  await queue('email', 'now()', 2);
  await client.query(`UPDATE outbox SET status = 'dead', last_error = 'mailbox_unknown' WHERE topic = 'rebuild'`);
  expect(await rowsOf('outbox_backlog()')).toBeLessThanOrEqual(2 * COUNTED + 100);
  expect(await buffersOf(`list_outbox(NULL, '${crypto.randomUUID()}', 1)`)).toBeLessThanOrEqual(30);
  for (const status of ['NULL', `'failed'`, `'dead'`]) expect(await buffersOf(`list_outbox(${status}, NULL, 10)`)).toBeLessThanOrEqual(500);
  expect(await buffersOf('fill_webhooks()')).toBeLessThanOrEqual(30);
  await client.query(`INSERT INTO events (organization_id, number, type, resource, resource_id, timestamp, data)
    SELECT org, n + 1000000, 'student.created', 'student', gen_random_uuid(), now(), '{}' FROM ${OWNERS} WHERE n <= 10; ANALYZE events`);
  expect(await buffersOf('fill_webhooks()', { warm: 0, times: 1 })).toBeLessThanOrEqual(10 * 100 + 1_000);
}, 60_000);

it('a purge reads nothing that is kept', async () => {
  await client.query(`
    UPDATE outbox SET status = 'sent', leased_until = NULL, finished_at = now() - interval '40 days' WHERE topic = 'email';
    INSERT INTO audit_log (id, organization_id, operation, request_id, status, result, created_at)
      SELECT gen_random_uuid(), org, 'create_student', 'r', 201, 'done', now() - interval '60 days' FROM ${OWNERS}, generate_series(1, 3);
    INSERT INTO suppressions (organization_id, email_normalized) SELECT org, 'r@example.org' FROM ${OWNERS}`);
  await client.query('VACUUM ANALYZE outbox, audit_log, suppressions');
  for (const call of ['purge_expired()', 'expire_booking_requests(30)', 'purge_events(30)']) expect(await buffersOf(call)).toBeLessThanOrEqual(200);
}, 60_000);
