/** A column of the migrated schema. */
export interface Column {
  table: string;
  name: string;
  /** As PostgreSQL names it: uuid, text[], timestamp(3) with time zone. */
  type: string;
  nullable: boolean;
  /** Computed by PostgreSQL from other columns. */
  generated: boolean;
  defaulted: boolean;
  /** Part of the primary key. */
  key: boolean;
  /** The values that a CHECK allows, if it lists them. */
  values: string[] | null;
  /** The table and column that a foreign key refers to. */
  reference: { table: string; column: string } | null;
}

const COLUMNS = `
  SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, NOT a.attnotnull AS nullable,
    a.attgenerated <> '' AS generated, a.atthasdef AND a.attgenerated = '' AS defaulted,
    coalesce(a.attnum = ANY (k.conkey), false) AS key,
    (SELECT array_agg(v[1]) FROM pg_constraint r, regexp_matches(pg_get_constraintdef(r.oid), '''([^'']+)''::text', 'g') v
      WHERE r.conrelid = c.oid AND r.contype = 'c' AND r.conkey = ARRAY[a.attnum]
        AND pg_get_constraintdef(r.oid) ~ ('CHECK \\(\\(' || quote_ident(a.attname) || ' = ANY \\(ARRAY\\[')) AS values,
    (SELECT json_build_object('table', t.relname, 'column', f.attname)
      FROM pg_constraint r JOIN pg_class t ON t.oid = r.confrelid
        JOIN pg_attribute f ON f.attrelid = t.oid AND f.attnum = r.confkey[array_position(r.conkey, a.attnum)]
      WHERE r.conrelid = c.oid AND r.contype = 'f' AND a.attnum = ANY (r.conkey)
      ORDER BY cardinality(r.conkey), r.conname LIMIT 1) AS reference
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p'
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
    AND c.relname NOT IN ('migrations', 'typeorm_metadata')
  ORDER BY c.relname, a.attnum`;

/** Every column of our own tables, by table, in order of creation. */
export async function readColumns(query: (sql: string) => Promise<unknown[]>): Promise<Column[]> {
  return (await query(COLUMNS)) as Column[];
}
