import { type Column, readColumns } from '../support/database/columns.js';
import { SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

/** Copies that the database writes: their values were checked at the source. */
const COPIES = ['organization_results', 'organization_conversations', 'session_students', 'list_counts'];

/** Columns with enumerated values. */
const CLOSED = /^(status|role|type|scope|scopes|mode|attendance|visibility|billing_interval|tracking_method|.*_(type|mode|role))$/;

const schema = await fixture(SchemaFixture.create());

describe('the schema', () => {
  let columns: Column[];

  beforeAll(async () => {
    columns = await readColumns((sql) => schema.all(sql));
  });

  it('secures every table that belongs to an organization, for the owner too', async () => {
    const tables = await schema.all(`
      SELECT c.relname AS name, c.relrowsecurity AS enabled, c.relforcerowsecurity AS forced,
        EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'tenant' AND p.polroles = '{0}') AS tenant
      FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND (c.relname IN ('organizations',
          'users', 'results', 'conversations', 'conversation_participants', 'messages', 'student_group_members')
        OR EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'organization_id'))`);
    expect(tables.length).toBeGreaterThanOrEqual(30);
    for (const table of tables) {
      expect(table).toEqual({ name: table.name, enabled: true, forced: true, tenant: true });
    }
    // The rest: heartbeats, turns, places and how far the feed was looked at belong to nobody; passwords and sessions are behind functions, with row-level security
    // that only the owner's functions pass.
    const open = [...new Set(columns.map((column) => column.table))].filter((name) => !tables.some((table) => table.name === name));
    expect(open).toEqual([
      'account_deletions', 'credentials', 'device_cookies', 'event_counter', 'outbox_turns', 'passkeys', 'password_link_requests', 'password_links', 'places', 'portal_sessions',
      'sign_in_attempts', 'webhook_progress', 'worker_heartbeats',
    ]); // prettier-ignore
    const forced = await schema.all(`
      SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relforcerowsecurity`);
    expect(open.filter((name) => !forced.some((table) => table.name === name))).toEqual(['places', 'webhook_progress', 'worker_heartbeats']);
  });

  it('stores times with millisecond precision, like JavaScript', () => {
    const times = columns.filter((column) => column.type.startsWith('timestamp'));
    expect(new Set(times.map((column) => column.type))).toEqual(new Set(['timestamp(3) with time zone']));
  });

  it('constrains every enumerated column', async () => {
    const closed = columns.filter(
      (column) => CLOSED.test(column.name) && column.type.startsWith('text') && !COPIES.includes(column.table) && column.table !== 'events',
    );
    expect(closed.length).toBeGreaterThanOrEqual(30);
    const checks = await schema.all(`SELECT k.conrelid::regclass || '.' || a.attname AS column
      FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)
      WHERE k.contype = 'c' AND pg_get_constraintdef(k.oid) LIKE '%ARRAY[%'`);
    const checked = checks.map((check) => check.column);
    for (const column of closed) expect(checked).toContain(`${column.table}.${column.name}`);
  });

  it('bounds every amount of money below 2^53', async () => {
    // A passkey's counter has 32 bits, the number of an invoice 15 digits; events are numbered, and counters are sums.
    const amounts = columns.filter(
      ({ type, name }) =>
        type === 'bigint' &&
        !['sign_count', 'serial', 'adjustment_note_serial', 'seq', 'number', 'position', 'delta', 'bytes', 'sent'].includes(name),
    );
    expect(amounts.every((column) => /_cents$/.test(column.name))).toBe(true);
    const bounded = await schema.all(`SELECT k.conrelid::regclass || '.' || a.attname AS column
      FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND k.conkey = ARRAY[a.attnum]
      WHERE k.contype = 'c' AND pg_get_constraintdef(k.oid) LIKE '%<= ''1000000000000''%'`);
    expect(bounded.map((check) => check.column).sort()).toEqual(amounts.map((column) => `${column.table}.${column.name}`).sort());
  });

  it('pins the search path of functions that run with the rights of the owner', async () => {
    const functions = await schema.all(
      `SELECT proname AS name, proconfig AS settings FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef`,
    );
    expect(functions.length).toBeGreaterThan(10);
    for (const { name, settings } of functions) {
      // pg_temp comes last, or a temporary table could replace a real one.
      const others = (settings as string[]).filter((setting) => setting !== 'enable_seqscan=off');
      // What is exported is what its organization sees.
      const exports = ['open_export', 'totals_of_export', 'own_rows'].includes(name as string);
      const pinned = exports ? ['search_path=public, pg_temp', 'jit=off'] : ['search_path=public, maintenance, pg_temp', 'jit=off'];
      expect(others, name as string).toEqual(pinned);
    }
  });
});
