import { EXPORTED_DATA as DATA, EXPORTED_HISTORY as HISTORY, NOT_EXPORTED } from '@app/database';
import { TABLES } from '../../apps/cli/src/import/tables.js';
import { SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

const MADE_HERE = 'it is made by this service, not brought from another';
const DERIVED = 'triggers write it';

/** Tables of organizations that cannot be imported. */
const NEVER: Record<string, string> = {
  api_key_handovers: MADE_HERE,
  api_keys: 'keys are secrets that only this service makes',
  audit_log: MADE_HERE,
  calendar_feeds: 'their secrets are known only where they were made',
  removed_sessions: MADE_HERE,
  refusals: MADE_HERE,
  events: MADE_HERE,
  exports: MADE_HERE,
  moves: MADE_HERE,
  erasures: MADE_HERE,
  holds: MADE_HERE,
  retention_settings: MADE_HERE,
  family_switches: MADE_HERE,
  family_rounds: MADE_HERE,
  lesson_tellings: MADE_HERE,
  mail_links: MADE_HERE,
  mail_opt_outs: MADE_HERE,
  invoice_reminders: MADE_HERE,
  event_changes: MADE_HERE,
  event_floors: MADE_HERE,
  idempotency_keys: MADE_HERE,
  invites: 'their secrets are known only where they were made',
  isochrones: 'a refresh computes them anew',
  joins: 'they are of invites',
  list_counts: DERIVED,
  logos: MADE_HERE,
  organization_conversations: DERIVED,
  organization_results: DERIVED,
  organizations: 'the operator makes it, and data is imported into it',
  outbox: MADE_HERE,
  payment_allocations: 'only payments recorded here are applied; an imported invoice says what was paid',
  rebuild_hooks: 'the organization or the operator sets it up, with a secret',
  request_log: MADE_HERE,
  session_students: DERIVED,
  suppressions: MADE_HERE,
  uploads: MADE_HERE,
  webhook_endpoints: 'the organization sets them up, with a secret',
};

const schema = await fixture(SchemaFixture.create());

/** Tables that are neither imported nor excused, and excuses without a need. */
async function faults(): Promise<string[]> {
  const tenant = await schema.all(`SELECT relname AS name FROM pg_policy JOIN pg_class c ON c.oid = polrelid
    WHERE polname = 'tenant' AND relnamespace = 'public'::regnamespace ORDER BY 1`);
  const names = tenant.map(({ name }) => String(name));
  return [
    ...names
      .filter((name) => !TABLES.includes(name) && !NEVER[name])
      .map((name) => `${name}: give it a line in apps/cli/src/import/tables.ts, or say in this spec why it is never imported`),
    ...Object.keys(NEVER)
      .filter((name) => TABLES.includes(name) || !names.includes(name))
      .map((name) => `${name}: remove it from this spec`),
  ];
} // prettier-ignore

it('every table of organizations can be imported, or is never brought from elsewhere', async () => {
  expect(await faults()).toEqual([]);
});

it('every table of the schema is in an export, or left out with a reason', async () => {
  const tables = await schema.all(`SELECT relname AS name FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'migrations' ORDER BY 1`);
  const told = [...Object.keys(DATA), ...Object.keys(HISTORY), ...Object.values(NOT_EXPORTED).flat()].sort();
  expect(told).toEqual(tables.map(({ name }) => name));
});

it('what names a secret is in no export', async () => {
  const columns = await schema.all(`SELECT c.relname AS table, a.attname AS column FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attnum > 0
      AND (a.atttypid = 'bytea'::regtype OR a.attname ~ '(secret|hash|sealed|token)')`);
  const contents: Record<string, { secret?: readonly string[] }> = { ...DATA, ...HISTORY };
  const shown = columns.filter(({ table, column }) => contents[table as string] && !contents[table as string]!.secret?.includes(column as string));
  expect(shown).toEqual([]);
});
