import { randomUUID } from 'node:crypto';
import sql, { type Sql } from 'sql-template-tag';
import { Database } from '@app/database';
import { AuditFilters } from '../../../apps/portal/src/audit/audit.filters.js';
import { auditPage } from '../../../apps/portal/src/audit/audit.queries.js';
import type { Membership } from '../../../apps/portal/src/web/sessions.js';
import { dayInFigures, firstSteps, needs, sessionsBetween } from '../../../apps/portal/src/home/home.queries.js';
import { TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const portal = await fixture(TestPortal.start());
const db = portal.app.get(Database);
const ROWS = 20_000;

const owner = await portal.someone('owner');
const key = randomUUID();
const organization = { organizationId: owner.organization.id, timeZone: 'Australia/Melbourne' } as Membership;

beforeAll(async () => {
  const at = [owner.organization.id];
  await portal.make.query(
    `INSERT INTO api_keys (id, organization_id, name, first_four, last_four, key_hash) VALUES ($2, $1, 'x', 'aaaa', 'bbbb', sha256('x'))`,
    [...at, key],
  );
  // A busy organization and a busy key; few rows are about the person.
  await portal.make.query(
    `INSERT INTO audit_log (id, organization_id, operation, request_id, status, result, api_key_id, user_id, details, created_at)
     SELECT gen_random_uuid(), $1, 'POST /v1/sessions', 'x', 200, 'done', CASE WHEN n % 3 > 0 THEN $2::uuid END, CASE WHEN n % 3000 = 0 THEN $3::uuid END,
       CASE WHEN n % 1000 = 0 THEN json_build_object('user_id', $3::text) ELSE '{}' END, now() - n * interval '1 minute'
     FROM generate_series(1, ${ROWS}) n`,
    [...at, key, owner.user.id],
  );
  await portal.make.query(
    `INSERT INTO outbox (id, organization_id, topic, kind, recipient, status) SELECT gen_random_uuid(), $1, 'email', 'key_created', 'x', 'sent' FROM generate_series(1, ${ROWS})`,
    at,
  );
  await portal.make.query('ANALYZE audit_log, outbox, api_keys');
});

async function planOf(query: Sql): Promise<string> {
  const [lines] = await db.read<[Record<string, string>]>(
    { organizationId: owner.organization.id },
    sql`EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ${query}`,
  );
  return lines.map((line) => line['QUERY PLAN']).join('\n');
}

/** The most rows that a step of a plan read or threw away. */
function mostRows(plan: string): number {
  return Math.max(0, ...[...plan.matchAll(/rows=(\d+)|Removed by Filter: (\d+)/g)].map(([, read, thrown]) => Number(read ?? thrown)));
}

const person = [null, owner.user.id, randomUUID()];
const combinations = person.flatMap((who) =>
  [null, key, randomUUID()].flatMap((by) =>
    [null, '2026-01-01', new Date().toISOString().slice(0, 10)].map((day) => ({ person: who, key: by, day })),
  ),
);

it.each(combinations)('the audit log with %j is read by an index, a page at a time', async (filters) => {
  for (const before of [null, { at: new Date(Date.now() - 86_400_000), id: randomUUID() }]) {
    const plan = await planOf(auditPage(organization, new AuditFilters(filters, before), 26));
    expect(plan).not.toContain('Seq Scan on audit_log');
    expect([plan, mostRows(plan) <= 100]).toEqual([plan, true]);
  }
});

it('what the home page counts is read by an index', async () => {
  const [from, to] = [new Date(Date.now() - 86_400_000), new Date()];
  const at = organization.organizationId;
  const queries = [needs(at, 1_000), firstSteps(at), dayInFigures(at, from, to), sessionsBetween(at, from, to, 21)];
  for (const query of queries) {
    const plan = await planOf(query);
    expect([plan, mostRows(plan) <= 1_000]).toEqual([plan, true]);
    expect(plan).not.toMatch(/Seq Scan on (outbox|audit_log)/);
  }
});
