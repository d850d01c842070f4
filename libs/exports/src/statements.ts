import type { Client } from 'pg';
import { type Content, DATA, DERIVED_COLUMNS, HISTORY } from './contents.js';

/** How the rows of a table are read. Each statement has one parameter: the organization. */
export interface Source {
  table: string;
  /** SQL for the rows, as the fields of a file, in the order in which they can be imported. */
  rows: string;
  /** SQL for their number, and the sums of their amounts by field. */
  sums: string;
}

interface ColumnRow {
  table: string;
  name: string;
  money: boolean;
  key: boolean;
}

const COLUMNS = `
  SELECT c.relname AS table, a.attname AS name, a.attname LIKE '%\\_cents' AS money,
    coalesce(a.attnum = ANY (k.conkey), false) AS key
  FROM pg_attribute a
  JOIN pg_class c ON c.oid = a.attrelid
  LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p'
  WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY ($1) AND a.attnum > 0 AND NOT a.attisdropped
    AND a.attgenerated = ''
  ORDER BY a.attnum`;

/** Which columns of these tables name a login, other than by way of a membership. */
const NAMING = `
  SELECT c.relname AS table, a.attname AS name
  FROM pg_constraint k
  JOIN pg_class c ON c.oid = k.conrelid
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.conkey[1]
  WHERE k.contype = 'f' AND k.confrelid = 'users'::regclass AND c.relname = ANY ($1)
  ORDER BY c.relname, a.attname`;

/** @returns how to read each table, in the order of import: those of the data, then those of the history */
export async function sourcesOf(client: Client): Promise<{ data: Source[]; history: Source[] }> {
  const { rows: columns } = await client.query<ColumnRow>(COLUMNS, [[...Object.keys(DATA), ...Object.keys(HISTORY)]]);
  const { rows: naming } = await client.query<ColumnRow>(NAMING, [Object.keys(DATA)]);
  const sources = (contents: Record<string, Content>, derived: ReadonlySet<string>) =>
    Object.entries(contents).map(([table, content]) => {
      const own = columns.filter((column) => column.table === table);
      return sourceOf(table, content, own, derived, table === 'users' ? people(naming) : table);
    });
  return { data: sources(DATA, DERIVED_COLUMNS), history: sources(HISTORY, new Set(['organization_id'])) };
}

function sourceOf(
  table: string,
  content: Content,
  all: ColumnRow[],
  derived: ReadonlySet<string>,
  from: string,
): Source {
  const { own = 't.organization_id = $1', fields = {}, secret = [] } = content;
  const columns = all.filter(({ name }) => !derived.has(name) && !secret.includes(name));
  const where = from === table ? `WHERE ${own}` : '';
  const values = [
    ...columns.map(({ name }) => `t."${name}"`),
    ...Object.entries(fields).map(([name, value]) => `${value} AS "${name}"`),
  ];
  const dated = columns.some(({ name }) => name === 'created_at') ? ['created_at'] : [];
  const order = [...dated, ...all.filter(({ key, name }) => key && name !== 'organization_id').map(({ name }) => name)];
  const money = columns.filter(({ money }) => money).map(({ name }) => `'${name}', coalesce(sum(t."${name}"), 0)`);
  return {
    table,
    rows: `SELECT row_to_json(r)::text AS line FROM (SELECT ${values.join(', ')} FROM ${from} t ${where}
      ORDER BY ${order.map((name) => `t."${name}"`).join(', ')}) r`,
    sums: `SELECT count(*)::integer AS rows, json_build_object(${money.join(', ')}) AS sums FROM ${from} t ${where}`,
  };
}

/**
 * Everybody whom a row of the data names. Of people whom the organization does not see it is what it supplied itself, and if
 * that is nothing, somebody without a name, because their rows need them. No address is that of two people.
 */
function people(naming: { table: string; name: string }[]): string {
  const named = naming.map(({ table, name }) => {
    const { own = 't.organization_id = $1' } = DATA[table]!;
    return `SELECT t."${name}" FROM ${table} t WHERE ${own}`;
  });
  const supplied = ['members', 'parents'].map(
    (
      table,
    ) => `SELECT user_id, supplied_first_name AS first_name, supplied_last_name AS last_name, supplied_email AS email,
          supplied_phone AS phone, created_at FROM ${table} WHERE organization_id = $1`,
  );
  const ofEither = (column: string, otherwise = 'NULL') =>
    `CASE WHEN u.id IS NULL THEN coalesce(s.${column}, ${otherwise}) ELSE u.${column} END AS ${column}`;
  return `(SELECT n.id, ${ofEither('email', "n.id || '@placeholder.invalid'")},
      coalesce(u.placeholder_email, s.email IS NULL) AS placeholder_email, ${ofEither('first_name', "'-'")},
      ${ofEither('last_name', "'-'")}, ${ofEither('phone')}, ${ofEither('created_at', 'now()')},
      coalesce(u.updated_at, s.created_at, now()) AS updated_at
    FROM (${named.join(' UNION ')}) n (id)
    LEFT JOIN users u ON u.id = n.id
    LEFT JOIN (SELECT x.user_id, x.first_name, x.last_name, x.phone, x.created_at, CASE WHEN v.id IS NULL AND
          row_number() OVER (PARTITION BY lower(x.email) ORDER BY x.user_id) = 1 THEN x.email END AS email
        FROM (SELECT DISTINCT ON (user_id) * FROM (${supplied.join(' UNION ALL ')}) y ORDER BY user_id, email) x
        LEFT JOIN users v ON v.email_normalized = lower(x.email) AND v.id <> x.user_id) s ON s.user_id = n.id
    WHERE n.id IS NOT NULL)`;
}
