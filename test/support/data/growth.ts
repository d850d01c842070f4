import type { Factories } from './factories.js';

/** How many organizations share as many copies as the large one gets itself. */
const OTHERS = 50;

/** Where its people live. */
const PLACES = 200;

/** A copy that refers to its own rows alone; those of even number share the first tutor, student, subject and so on. */
export const LONE_COPY = 7;

/** Tables that no organization fills, or of which each has a few rows. */
const NOT_COPIED = `{organizations,migrations,places,list_counts,event_changes,event_counter,event_floors,webhook_progress,worker_heartbeats,
  api_keys,api_key_handovers,webhook_endpoints,rebuild_hooks,isochrones,idempotency_keys,rate_bands,rate_cells,tutor_tiers}`;

/** Of a unique key, but the same in many rows. */
const IN_MANY = `{tutor_subjects.subject_id,tutor_students.tutor_id,tutor_students.subject_id,lesson_participants.student_id}`;

/** What a copy has in a column, by the first condition that is met; `c` is the original, `n` the copy's number. */
const copied = (copies: number): [when: string, value: string][] => [
  [`name ~ '^(owner_|made_by_)?organization_id$'`, `CASE WHEN n <= ${copies} THEN c ELSE growth_copy(c, n % ${OTHERS}) END`],
  [`name IN ('api_key_id', 'endpoint_id', 'rate_band_id', 'tutor_tier_id')`, 'c'],
  [`type = 'uuid' AND (in_key OR name IN ('series_id', 'target_id') OR "table" IN ('availabilities', 'time_off'))`, 'growth_copy(c, n)'],
  [`type = 'uuid'`, `CASE WHEN n % 2 = 0 AND n <= ${copies} THEN c ELSE growth_copy(c, n) END`],
  [`name = 'seen_by'`, `CASE WHEN n <= ${copies} THEN c ELSE ARRAY(SELECT growth_copy(o, n % ${OTHERS}) FROM unnest(c) o) END`],
  [`name IN ('expires_at', 'due_at')`, 'c'],
  // Of the last week are the newest.
  [`"table" = 'request_log' AND name = 'created_at'`, `c - n * interval '5 minutes'`],
  [`type LIKE 'timestamp%'`, `c - n * interval '3 hours'`],
  [`type = 'date'`, 'c - n / 8'],
  [`type = 'bytea' AND in_key`, `sha256(c || n::text::bytea)`],
  [`name IN ('number', 'seq')`, 'c + n * 1000'],
  [`name = 'invoice_number'`, `'INV-' || abs(hashtext(c || n))`],
  [`name = 'email_normalized'`, `n || '.' || c`],
  // An organization has few who manage it.
  [`"table" = 'members' AND name = 'role'`, `CASE WHEN c IN ('owner', 'admin') THEN 'tutor' ELSE c END`],
  [`name IN ('postcode', 'home_postcode')`, `(3000 + n % ${PLACES})::text`],
  [`name = 'phone'`, `c || n`],
  [`"table" = 'lesson_plans' AND name = 'status'`, `(ARRAY['draft', 'ready', 'delivered'])[1 + n % 3]`],
  [`"table" = 'sessions' AND name = 'status'`, `(ARRAY['completed', 'completed', 'scheduled', 'cancelled'])[1 + n % 4]`],
  [`name = 'code'`, `c || '_' || n`],
  [`name IN ('slug', 'handle', 'name')`, `c || '-' || n`],
  ['true', 'c'],
];

/** An INSERT for each table, in the column `insert`. */
const inserts = (copies: number) => `
  WITH cols AS (
    SELECT t.relname::text AS "table", a.attname::text AS name, a.attnum, format_type(a.atttypid, null) AS type,
      t.relname || '.' || a.attname <> ALL ('${IN_MANY}') AND EXISTS (SELECT FROM pg_index i
        WHERE i.indrelid = t.oid AND i.indisunique AND a.attnum = ANY (i.indkey)) AS in_key
    FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid
    WHERE t.relnamespace = 'public'::regnamespace AND t.relkind = 'r' AND t.relname <> ALL ('${NOT_COPIED}')
      AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  )
  SELECT format('INSERT INTO %I (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM %I t, generate_series(1, ${2 * copies}) n ON CONFLICT DO NOTHING', "table",
    string_agg(quote_ident(name), ', ' ORDER BY attnum),
    string_agg(regexp_replace(CASE ${copied(copies)
      .map(([when, value]) => `WHEN ${when} THEN $sql$${value}$sql$`)
      .join(' ')} END,
      '\\mc\\M', 't.' || quote_ident(name), 'g'), ', ' ORDER BY attnum), "table") AS insert
  FROM cols GROUP BY "table"`;

/**
 * Copies all rows so many times in their organization, and as often in {@link OTHERS} new ones: it becomes as large as all others
 * together. A copy is three hours older than the one before. @param copies a multiple of {@link OTHERS}
 */
export async function growOrganization(make: Factories, organizationId: string, copies = 1000): Promise<void> {
  await make.query(`CREATE FUNCTION growth_copy(id uuid, n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT
    RETURN md5(id::text || n)::uuid`);
  await make.query(
    `INSERT INTO organizations (id, name, slug) SELECT growth_copy($1, n), 'Small', 'small-' || n FROM generate_series(0, ${OTHERS - 1}) n`,
    [organizationId],
  );
  await make.query(`INSERT INTO places (postcode, suburb, lat, lng)
    SELECT 3000 + n, 'Suburb ' || n, -37.7 - n % 20 * 0.02, 144.8 + n / 20 * 0.02 FROM generate_series(0, ${PLACES - 1}) n ON CONFLICT DO NOTHING`);
  const statements = await make.query<{ insert: string }>(inserts(copies));
  for (const { insert } of statements) await make.withoutTriggers(insert);
  await make.query('SELECT recount_lists(id) FROM organizations');
  // Makes all pages visible to index-only scans; VACUUM skips those that an older transaction may not see yet.
  await make.query('VACUUM ANALYZE');
  await make.query(`UPDATE pg_class SET relallvisible = relpages WHERE relkind = 'r'`);
}

/** The id of a copy, of what this id names. */
export async function copyOf(make: Factories, id: string, n = LONE_COPY): Promise<string> {
  const [row] = await make.query<{ id: string }>('SELECT growth_copy($1, $2) AS id', [id, n]);
  return row!.id;
}
