import pg from 'pg';
import type { DataSource, EntityManager } from 'typeorm';
import { isNewer } from './applied-migrations.js';
import { FUNCTION_GRANTS, type ProcessRole, type Right, rightsOf, ROLE_SETTINGS, TABLE_GRANTS } from './grants.js';
import { settingFaults } from './session-settings.js';

const { escapeIdentifier } = pg;

/** The URLs of the processes' connections. */
export type ProcessUrls = Record<ProcessRole, string>;

const ROLES = Object.keys(ROLE_SETTINGS) as ProcessRole[];

/**
 * Grants the roles the rights of grants.ts and revokes all others, in a transaction, so that no running process lacks one.
 * @throws Error if a role does not exist, or two processes have the same role
 */
export async function grantRoles(owner: EntityManager, urls: ProcessUrls): Promise<void> {
  const [current] = await owner.query<{ name: string }[]>('SELECT current_user AS name');
  const names = { api: userOf(urls.api), worker: userOf(urls.worker), portal: userOf(urls.portal) };
  // In development everything may run as the owner; in production the processes refuse to.
  const granted = ROLES.filter((role) => names[role] !== current?.name);
  for (const [index, role] of ROLES.entries()) {
    const other = ROLES.slice(0, index).find((earlier) => names[earlier] === names[role]);
    if (!other || granted.length === 0) continue;
    const [own, taken] = [ROLE_SETTINGS[role], ROLE_SETTINGS[other]];
    throw new Error(`${own} must use its own role: the role in ${taken} is only for the ${other}.`);
  }
  for (const role of granted) {
    const known = await owner.query<unknown[]>('SELECT 1 FROM pg_roles WHERE rolname = $1', [names[role]]);
    if (known.length > 0) continue;
    const missing = `The role ${escapeIdentifier(names[role])} of ${ROLE_SETTINGS[role]} does not exist`;
    throw new Error(`${missing}: run "npm run cli -- roles" first.`);
  }
  const [schema] = await owner.query<{ tables: { name: string; columns: string[] }[]; functions: string[] }[]>(`
    SELECT ARRAY(SELECT json_build_object('name', relname, 'columns', ARRAY(SELECT attname FROM pg_attribute
        WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped)) FROM pg_class c
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')) AS tables,
      ARRAY(SELECT DISTINCT proname::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace) AS functions`);
  const everybody = ['PUBLIC', ...granted.map((role) => escapeIdentifier(names[role]))].join(', ');
  for (const kind of ['TABLES', 'SEQUENCES', 'FUNCTIONS']) {
    await owner.query(`REVOKE ALL ON ALL ${kind} IN SCHEMA public FROM ${everybody}`);
  }
  for (const role of granted) {
    const name = escapeIdentifier(names[role]);
    await owner.query(`GRANT USAGE ON SCHEMA public TO ${name}`);
    for (const table of schema!.tables) {
      const rights = rightsOf(TABLE_GRANTS[table.name]?.[role]).flatMap((right) => spell(right, table.columns));
      if (rights.length === 0) continue;
      await owner.query(`GRANT ${rights.join(', ')} ON ${escapeIdentifier(table.name)} TO ${name}`);
    }
    const functions = schema!.functions.filter((it) => FUNCTION_GRANTS[it]?.includes(role)).map(escapeIdentifier);
    if (functions.length > 0) await owner.query(`GRANT EXECUTE ON FUNCTION ${functions.join(', ')} TO ${name}`);
  }
}

/** Formats a right for GRANT. After a reverted migration, the schema lacks some of the columns. */
function spell({ privilege, columns }: Right, known: string[]): string[] {
  if (!columns) return [privilege];
  const there = columns.filter((column) => known.includes(column));
  return there.length > 0 ? [`${privilege} (${there.join(', ')})`] : [];
}

export function userOf(url: string): string {
  return decodeURIComponent(new URL(url).username);
}

/** The roles that a connection can act as. A NOINHERIT membership is one SET ROLE away, so every membership counts. */
const REACHED = `
  WITH RECURSIVE reached (oid, path) AS (
    SELECT oid, ARRAY[rolname::text] FROM pg_roles WHERE rolname IN (session_user, current_user)
    UNION ALL
    SELECT g.oid, r.path || g.rolname::text FROM reached r
    JOIN pg_auth_members m ON m.member = r.oid JOIN pg_roles g ON g.oid = m.roleid
    WHERE g.rolname::text <> ALL (r.path))`;

type Power =
  | 'bypasses'
  | 'replicates'
  | 'predefined'
  | `makes_${'roles' | 'databases'}`
  | `owns_${'database' | 'objects'}`
  | `creates_${'objects' | 'schemas'}`;
type ReachedRole = Record<Power | 'superuser', boolean> & { path: string[] };

/** Attributes that no role may have, and how to remove them. */
const POWERS: [Power, string, (name: string, database: string) => string][] = [
  ['bypasses', 'has BYPASSRLS: row-level security does not apply to it', (name) => `ALTER ROLE ${name} NOBYPASSRLS`],
  ['makes_roles', 'has CREATEROLE: it can grant itself other roles', (name) => `ALTER ROLE ${name} NOCREATEROLE`],
  ['makes_databases', 'has CREATEDB', (name) => `ALTER ROLE ${name} NOCREATEDB`],
  ['replicates', 'has REPLICATION: it can read all data', (name) => `ALTER ROLE ${name} NOREPLICATION`],
  ['predefined', 'is a predefined role with rights beyond the tables of this service', () => 'use another role'],
  ['owns_database', 'owns the database', (_name, database) => `ALTER DATABASE ${database} OWNER TO <the owner>`],
  ['owns_objects', 'owns the schema, tables or functions', (name) => `REASSIGN OWNED BY ${name} TO <the owner>`],
  ['creates_objects', 'can create objects in the schema public', (name) => revokeCreate('SCHEMA public', name)],
  ['creates_schemas', 'can create schemas', (name, database) => revokeCreate(`DATABASE ${database}`, name)],
];

const revokeCreate = (on: string, name: string) => `REVOKE CREATE ON ${on} FROM ${name}, PUBLIC`;
const IS_SUPERUSER = 'is a superuser: row-level security does not apply to it';

/**
 * What this connection's role can do but should not, and what it lacks, each with the remedy.
 * @param most number of privileges that are named: a restored database lacks all of them
 */
export async function roleFaults(connection: DataSource, role: ProcessRole, most = 5): Promise<string[]> {
  const faults = await rolePowers(connection, role);
  if (faults.length > 0) return faults;
  return [...(await settingFaults(connection, role)), ...(await rightFaults(connection, role, most))];
}

/** The same without table privileges, for a database without tables. */
export async function rolePowers(connection: DataSource, role: ProcessRole): Promise<string[]> {
  const reached = await connection.query<(ReachedRole & { database: string })[]>(`${REACHED}
    SELECT path, rolsuper AS superuser, rolbypassrls AS bypasses, rolcreaterole AS makes_roles,
      rolcreatedb AS makes_databases, rolreplication AS replicates, rolname LIKE 'pg\\_%' AS predefined,
      d.datname AS database, d.datdba = a.oid AS owns_database,
      EXISTS (SELECT FROM pg_namespace WHERE nspname = 'public' AND nspowner = a.oid)
        OR EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relowner = a.oid)
        OR EXISTS (SELECT FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proowner = a.oid) AS owns_objects,
      has_schema_privilege(a.oid, 'public', 'CREATE') AS creates_objects,
      has_database_privilege(a.oid, d.oid, 'CREATE') AS creates_schemas
    FROM reached r JOIN pg_roles a ON a.oid = r.oid JOIN pg_database d ON d.datname = current_database()
    ORDER BY cardinality(path)`);
  return reached.flatMap((one) => powersOf(one, ROLE_SETTINGS[role], escapeIdentifier(one.database)));
}

function powersOf(role: ReachedRole, setting: string, database: string): string[] {
  const { path, superuser } = role;
  const names = path.map(escapeIdentifier);
  const own = names[0]!;
  const name = names.at(-1)!;
  const subject = `the role ${own} of ${setting}`;
  const powers: [string, string][] = superuser
    ? [[IS_SUPERUSER, `use another role, or ALTER ROLE ${name} NOSUPERUSER`]]
    : POWERS.filter(([power]) => role[power]).map(([, words, remedy]) => [words, remedy(name, database)]);
  if (path.length === 1) return powers.map(([words, remedy]) => `${subject} ${words} (${remedy})`);
  const remedy = `REVOKE ${names[1]!} FROM ${own}`;
  return powers.map(([words]) => `${subject} can become ${names.slice(1).join(', then ')}, which ${words} (${remedy})`);
}

interface ActualRight {
  object: string;
  privilege: string;
  /** The table columns that it covers; null for a function. */
  columns: string[] | null;
}

const TABLE_PRIVILEGES = ['SELECT', 'INSERT', 'UPDATE', 'REFERENCES', 'DELETE', 'TRUNCATE', 'TRIGGER'];

async function rightFaults(connection: DataSource, role: ProcessRole, most: number): Promise<string[]> {
  if (await isNewer(connection)) return [];
  const actual = await connection.query<ActualRight[]>(
    `${REACHED},
    roles AS (SELECT DISTINCT oid FROM reached)
    SELECT c.relname AS object, p AS privilege, array_agg(DISTINCT a.attname::text) AS columns
    FROM roles r, pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped,
      unnest($1::text[]) p
    WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY ($2) AND CASE
      WHEN p IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES') THEN has_column_privilege(r.oid, c.oid, a.attnum, p)
      ELSE has_table_privilege(r.oid, c.oid, p) END
    GROUP BY 1, 2
    UNION ALL SELECT DISTINCT f.proname, 'EXECUTE', NULL::text[] FROM roles r, pg_proc f
    WHERE f.pronamespace = 'public'::regnamespace AND f.proname = ANY ($3)
      AND has_function_privilege(r.oid, f.oid, 'EXECUTE')
    ORDER BY 1, 2`,
    [TABLE_PRIVILEGES, Object.keys(TABLE_GRANTS), Object.keys(FUNCTION_GRANTS)],
  );
  const allowed = new Map<string, string[] | null>();
  for (const [table, grants] of Object.entries(TABLE_GRANTS)) {
    for (const { privilege, columns } of rightsOf(grants[role])) allowed.set(`${privilege} on ${table}`, columns);
  }
  for (const [name, roles] of Object.entries(FUNCTION_GRANTS)) {
    if (roles.includes(role)) allowed.set(`EXECUTE on ${name}`, null);
  }
  const excess = actual.filter(({ object, privilege, columns }) => {
    const known = allowed.get(`${privilege} on ${object}`);
    return known === undefined || (known !== null && !columns?.every((column) => known.includes(column)));
  });
  const held = new Set(actual.map(({ object, privilege }) => `${privilege} on ${object}`));
  const missing = [...allowed.keys()].filter((right) => !held.has(right));
  const subject = `the role of ${ROLE_SETTINGS[role]}`;
  return [
    excess.length > 0 && `${subject} has ${some(excess.map(inWords), most, `that the ${role} does not need`)}`,
    missing.length > 0 && `${subject} lacks ${some(missing, most, `that the ${role} needs`)}`,
  ]
    .filter((fault) => fault !== false)
    .map((fault) => `${fault} (run "npm run cli -- migrate", and make sure that each process has its own role)`);
}

function inWords({ object, privilege, columns }: ActualRight): string {
  return `${privilege}${columns ? ` (${columns.join(', ')})` : ''} on ${object}`;
}

/** Counts before it lists. */
function some(rights: string[], most: number, which: string): string {
  const more = rights.length - most;
  const named = `${rights.slice(0, most).join('; ')}${more > 0 ? ` and ${more} more ("doctor --verbose" lists all)` : ''}`;
  return `${rights.length} privilege${rights.length === 1 ? '' : 's'} ${which}: ${named}`;
}
