import { type Content, DERIVED_COLUMNS, EXPORTED_DATA, EXPORTED_HISTORY } from '../contents.js';
import { AS_OWNER } from '../rules.js';
import { LIVES_HERE } from './moves.js';

/** As SQL. */
const text = (value: string) => `'${value.replaceAll("'", "''")}'`;
const texts = (values: Iterable<string>) => `ARRAY[${[...values].map(text).join(', ')}]::text[]`;

/** What each table's rows are, and how they are written. */
const contents = (tables: Record<string, Content>, imported: boolean, derived: string[]) =>
  Object.entries(tables).map(([table, { own = 't.organization_id = $1', fields = {}, secret = [] }]) => {
    const more = Object.entries(fields).map(([name, value]) => `${value} AS "${name}"`);
    return `(${[text(table), imported, text(own), texts(more), texts([...derived, ...secret])].join(', ')})`;
  });
const CONTENTS = [
  ...contents(EXPORTED_DATA, true, [...DERIVED_COLUMNS]),
  ...contents(EXPORTED_HISTORY, false, ['organization_id']),
];

/** What an organization supplied of people. */
const SUPPLIED = ['members', 'parents'].map(
  (
    table,
  ) => `SELECT user_id, supplied_first_name AS first_name, supplied_last_name AS last_name, supplied_email AS email,
        supplied_phone AS phone, created_at FROM ${table} WHERE organization_id = $1`,
);

const ofEither = (column: string, otherwise = 'NULL') =>
  `CASE WHEN u.id IS NULL THEN coalesce(s.${column}, ${otherwise}) ELSE u.${column} END AS ${column}`;

/**
 * Everybody whom a row of the data names (%s: their ids). Of people whom the organization does not see it is what it supplied
 * itself, and if that is nothing, somebody without a name, because their rows need them. No address is that of two people.
 */
const PEOPLE = `(SELECT n.id, ${ofEither('email', "n.id || '@placeholder.invalid'")},
      coalesce(u.placeholder_email, s.email IS NULL) AS placeholder_email, ${ofEither('first_name', "'-'")},
      ${ofEither('last_name', "'-'")}, ${ofEither('phone')}, ${ofEither('created_at', 'now()')},
      coalesce(u.updated_at, s.created_at, now()) AS updated_at
    FROM (%s) n (id)
    LEFT JOIN users u ON u.id = n.id
    LEFT JOIN (SELECT x.user_id, x.first_name, x.last_name, x.phone, x.created_at, CASE WHEN v.id IS NULL AND
          row_number() OVER (PARTITION BY lower(x.email) ORDER BY x.user_id) = 1 THEN x.email END AS email
        FROM (SELECT DISTINCT ON (user_id) * FROM (${SUPPLIED.join(' UNION ALL ')}) y ORDER BY user_id, email) x
        LEFT JOIN users v ON v.email_normalized = lower(x.email) AND v.id <> x.user_id) s ON s.user_id = n.id
    WHERE n.id IS NOT NULL)`;

/** Exports: what they hold, and those that the worker prepares. */
export const exports = /* sql */ `
  -- What an export holds of each table, in the order of import: which rows t, as what additional fields, without which columns.
  CREATE FUNCTION export_contents() RETURNS TABLE (name text, imported boolean, own text, more text[], left_out text[])
    LANGUAGE sql IMMUTABLE AS $$
    VALUES ${CONTENTS.join(',\n      ')}
  $$;

  -- The statements of a table: its rows as lines of JSON, in the order in which they can be imported, and the number of rows
  -- with the sums of amounts. Of the organization $1. Columns are the catalogue's, so that a new one is in every export.
  CREATE FUNCTION export_statements(wanted text, OUT lines text, OUT totals text) LANGUAGE plpgsql STABLE AS $$
  DECLARE
    content record;
    source text := quote_ident(wanted) || ' t';
    columns name[];
    keys name[];
  BEGIN
    SELECT * INTO STRICT content FROM export_contents() c WHERE c.name = wanted;
    SELECT array_agg(a.attname ORDER BY a.attnum) INTO columns FROM pg_attribute a
    WHERE a.attrelid = wanted::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
      AND a.attname <> ALL (content.left_out);
    SELECT array_agg(a.attname ORDER BY a.attnum) INTO keys FROM pg_attribute a JOIN pg_constraint k ON k.conrelid = a.attrelid
    WHERE a.attrelid = wanted::regclass AND k.contype = 'p' AND a.attnum = ANY (k.conkey) AND a.attname <> 'organization_id';
    IF wanted = 'users' THEN
      SELECT format(${text(PEOPLE)}, string_agg(format('SELECT t.%I FROM %I t WHERE %s', a.attname, c.name, c.own), ' UNION ')) || ' t'
      INTO source FROM export_contents() c JOIN pg_constraint k ON k.conrelid = c.name::regclass AND k.contype = 'f' AND k.confrelid = 'users'::regclass
      JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1] WHERE c.imported;
      content.own := 'true';
    END IF;
    lines := format('SELECT row_to_json(r)::text AS line FROM (SELECT %s FROM %s WHERE %s ORDER BY %s) r',
      array_to_string(ARRAY(SELECT format('t.%I', c) FROM unnest(columns) c) || content.more, ', '), source, content.own,
      (SELECT string_agg(format('t.%I', c), ', ' ORDER BY place)
        FROM unnest(CASE WHEN 'created_at' = ANY (columns) THEN '{created_at}'::name[] END || keys) WITH ORDINALITY AS o (c, place)));
    totals := format('SELECT count(*)::integer AS rows, json_build_object(%s) AS sums FROM %s WHERE %s',
      (SELECT string_agg(format('%L, coalesce(sum(t.%I), 0)', c, c), ', ') FROM unnest(columns) c WHERE c LIKE '%\\_cents'), source, content.own);
  END $$;

  -- Opens the cursor "exported" on the rows of a table, for the organization of the transaction, as row-level security shows them.
  CREATE FUNCTION open_rows(wanted text) RETURNS refcursor LANGUAGE plpgsql AS $$
  DECLARE
    exported refcursor := 'exported';
  BEGIN
    OPEN exported NO SCROLL FOR EXECUTE (SELECT lines FROM export_statements(wanted)) USING current_organization_id();
    RETURN exported;
  END $$;

  CREATE FUNCTION totals_of(wanted text) RETURNS TABLE (rows integer, sums json) LANGUAGE plpgsql STABLE AS $$
  BEGIN
    RETURN QUERY EXECUTE (SELECT totals FROM export_statements(wanted)) USING current_organization_id();
  END $$;

  -- The same for the worker, which may read what it may not otherwise only while an export is being prepared that an owner has confirmed.
  -- The search path opens no policy of the owner.
  CREATE FUNCTION may_export() RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM exports WHERE organization_id = current_organization_id() AND status = 'preparing')
  $$;

  CREATE FUNCTION open_export(wanted text) RETURNS refcursor LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
  BEGIN
    IF NOT may_export() THEN
      RAISE EXCEPTION 'No export is being prepared' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN open_rows(wanted);
  END $$;

  CREATE FUNCTION totals_of_export(wanted text) RETURNS TABLE (rows integer, sums json) LANGUAGE sql STABLE
    SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
    SELECT t.rows, t.sums FROM totals_of(wanted) t WHERE may_export()
  $$;

  -- The next export to prepare, whoever's it is: one that waits, or whose worker has not been heard of.
  CREATE FUNCTION claim_export(lease interval) RETURNS TABLE (id uuid, organization_id uuid, tries integer) LANGUAGE sql ${AS_OWNER} AS $$
    UPDATE exports e SET status = 'preparing', leased_until = now() + lease, tries = e.tries + 1
    WHERE e.id = (SELECT x.id FROM exports x
      WHERE (x.status = 'waiting' OR (x.status = 'preparing' AND x.leased_until < now())) AND ${LIVES_HERE('x.organization_id')}
      ORDER BY x.confirmed_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING e.id, e.organization_id, e.tries
  $$;

  -- Ends exports that nobody has confirmed or fetched in time. @returns the files of those that have ended, which the caller deletes
  CREATE FUNCTION end_exports() RETURNS SETOF text LANGUAGE sql ${AS_OWNER} AS $$
    UPDATE exports SET status = 'expired', ended_at = now() WHERE status IN ('asked', 'ready') AND expires_at < now();
    UPDATE exports SET bytes = NULL WHERE bytes IS NOT NULL AND ended_at IS NOT NULL
    RETURNING organization_id || '/exports/' || id || '-' || tries
  $$;

  -- What the organization of the transaction keeps about the person of this session, by table: the rows that name them, but for
  -- those that are about somebody else whom they look after, and for what managers note. As row-level security shows them.
  CREATE FUNCTION own_rows(secret bytea) RETURNS TABLE (name text, content json) LANGUAGE plpgsql STABLE
    SECURITY DEFINER SET search_path = public, pg_temp SET jit = off SET enable_seqscan = off AS $$
  DECLARE
    person uuid := person_of_session(secret);
    one record;
  BEGIN
    IF person IS NULL THEN RETURN; END IF;
    FOR one IN SELECT c.name, c.own, c.left_out, string_agg(DISTINCT format('t.%I = $2', a.attname), ' OR ') AS names_them
      FROM export_contents() WITH ORDINALITY c (name, imported, own, more, left_out, place)
      JOIN pg_constraint k ON k.conrelid = c.name::regclass AND k.contype = 'f'
        AND k.confrelid IN ('users'::regclass, 'members'::regclass, 'parents'::regclass)
      JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[cardinality(k.conkey)]
      WHERE c.imported AND c.name NOT IN ('holds', 'erasures')
        AND (c.name, a.attname) NOT IN (('leads', 'assigned_tutor_id'), ('inbox_messages', 'subject_tutor_id'))
      GROUP BY c.name, c.own, c.left_out, c.place ORDER BY c.place
    LOOP
      EXECUTE format('SELECT json_agg(to_jsonb(t) - $3) FROM %I t WHERE %s AND (%s)', one.name, one.own, one.names_them)
        INTO content USING current_organization_id(), person, one.left_out || '{staff_notes}'::text[];
      IF content IS NOT NULL THEN
        name := one.name;
        RETURN NEXT;
      END IF;
    END LOOP;
  END $$;
`;
