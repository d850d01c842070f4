import { FUNCTION_GRANTS, type ProcessRole, rightsOf, TABLE_GRANTS } from '@app/database';
import { SchemaFixture } from '../support/database/schema-fixture.js';
import { SourceStatements, type Written } from '../support/database/source-statements.js';
import { fixture } from '../support/process/fixture.js';

const ROLES: ProcessRole[] = ['api', 'worker', 'portal'];
const sources = new Map(ROLES.map((role) => [role, SourceStatements.of(role)]));

const schema = await fixture(SchemaFixture.create());

/** Functions that PostgreSQL calls with the rights of who reads or writes the table: in its policies and triggers. */
const CALLED = await schema.all(`
  SELECT relname AS "table", coalesce((SELECT string_agg(concat(pg_get_expr(polqual, oid), pg_get_expr(polwithcheck, polrelid)), ' ')
      FROM (SELECT polqual, polwithcheck, polrelid, polrelid AS oid FROM pg_policy WHERE polrelid = c.oid AND 0 = ANY (polroles)) p), '')
    || coalesce((SELECT string_agg(prosrc, ' ') FROM pg_trigger t JOIN pg_proc f ON f.oid = tgfoid AND NOT prosecdef WHERE tgrelid = c.oid), '')
    AS text
  FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`);

type TableGrants = Record<string, Partial<Record<ProcessRole, string>>>;

/** The rights of a role that no statement of its process needs, with what to do. */
function idle(role: ProcessRole, statements: SourceStatements, tables: TableGrants, functions: Record<string, ProcessRole[]>) {
  const found: string[] = [];
  const remedy = `no statement of the ${role} needs it: remove it from libs/database/src/grants`;
  for (const [table, grants] of Object.entries(tables)) {
    for (const { privilege, columns } of rightsOf(grants[role])) {
      const right = `${role}: ${privilege} on ${table}`;
      if (!isUsed(statements, privilege, table)) {
        found.push(`${right}: ${remedy}`);
        continue;
      }
      const names = (columns ?? []).filter((column) => !isColumnUsed(statements, privilege, table, column));
      // A row lock needs the right to change one column, whichever.
      const lockOnly = names.length === 1 && columns!.length === 1 && privilege === 'UPDATE' && statements.locks(table);
      if (names.length > 0 && !lockOnly) found.push(`${right} (${names.join(', ')}): ${remedy}`);
    }
  }
  for (const [name, roles] of Object.entries(functions)) {
    const called = CALLED.some(({ table, text }) => tables[String(table)]?.[role] && new RegExp(`\\b${name}\\(`).test(String(text)));
    if (roles.includes(role) && !called && !statements.calls(name)) found.push(`${role}: EXECUTE on ${name}: ${remedy}`);
  }
  return found;
} // prettier-ignore

function isUsed(statements: SourceStatements, privilege: string, table: string): boolean {
  if (privilege === 'SELECT') return statements.reads(table) || statements.updates.has(table) || statements.inserts.has(table);
  if (privilege === 'INSERT') return statements.inserts.has(table);
  if (privilege === 'UPDATE') return statements.updates.has(table) || statements.locks(table);
  return privilege === 'DELETE' && statements.deletes.has(table);
} // prettier-ignore

function isColumnUsed(statements: SourceStatements, privilege: string, table: string, column: string): boolean {
  if (privilege === 'SELECT') return statements.mentions(column);
  const written: Written | undefined = (privilege === 'INSERT' ? statements.inserts : statements.updates).get(table);
  return written === 'any' ? statements.mentions(column) : (written?.has(column) ?? false);
}

it.each(ROLES)('%s: every right is one that a statement of its process needs', (role) => {
  expect(idle(role, sources.get(role)!, TABLE_GRANTS, FUNCTION_GRANTS)).toEqual([]);
});

it('a right on a table, a column or a function that nothing needs is named', () => {
  const statements = SourceStatements.in('`UPDATE payments SET status = 1, note = 2 WHERE id = 1`');
  const tables = { payments: { api: 'SELECT, INSERT, UPDATE (status, amount_cents), DELETE', portal: 'SELECT' } };
  const named = idle('api', statements, tables, { claim_outbox: ['api'] }).map((line) => line.split(': no ')[0]);
  expect(named).toEqual([
    'api: INSERT on payments',
    'api: UPDATE on payments (amount_cents)',
    'api: DELETE on payments',
    'api: EXECUTE on claim_outbox',
  ]);
});
