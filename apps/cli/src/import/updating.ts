import type { Client } from 'pg';
import { mine } from './checks.js';
import type { Faults } from './faults.js';
import type { Column } from './schema.js';
import type { Staged } from './staging.js';
import { nounOf } from './tables.js';

/**
 * What an import may change of rows that are there: what PATCH and PUT of the API take, and what has no request yet. Never
 * roles, states, addresses, money that has moved, or what a person has agreed to.
 */
export const CHANGEABLE: Record<string, string[]> = {
  users: ['first_name', 'last_name', 'phone'],
  rate_bands: ['name', 'sort_order'],
  tutor_tiers: ['name', 'badge_label', 'description', 'sort_order'],
  members: ['rate_band_id'],
  subjects: ['name', 'is_archived'],
  rate_cells: ['student_rate_cents', 'inperson_surcharge_cents', 'tutor_pay_mode', 'tutor_pay_pct', 'tutor_flat_rate_cents'],
  tutor_profiles: [
    'bio', 'teaching_mode', 'is_published', 'handle', 'home_suburb', 'home_postcode', 'service_postcodes', 'serves_all_areas',
    'max_travel_km', 'in_person_arrangements', 'specialisations', 'tutor_tier_id', 'meeting_url',
  ],
  sessions: ['title', 'meeting_url', 'location_id'],
  availabilities: ['day_of_week', 'start_time', 'end_time', 'timezone'],
  time_off: ['starts_on', 'ends_on', 'note'],
  parents: ['supplied_first_name', 'supplied_last_name', 'supplied_phone'],
  leads: ['assigned_tutor_id', 'notes', 'staff_notes'],
  booking_requests: ['subject_id', 'preferred_mode', 'preferred_days', 'preferred_times', 'duration_minutes', 'message'],
  locations: ['label', 'suburb', 'state', 'postcode', 'is_default'],
  lesson_plans: ['title', 'scope', 'classroom_id', 'group_id', 'student_id', 'session_id', 'plan_data', 'scheduled_for'],
  mileage_trips: [
    'tutor_id', 'session_id', 'trip_date', 'destination', 'distance_km', 'duration_minutes', 'vehicle', 'tracking_method',
    'rate_cents', 'amount_cents',
  ],
  expense_claims: ['tutor_id', 'session_id', 'expense_date', 'category', 'vendor', 'amount_cents', 'receipt_photo_url'],
  classrooms: ['name', 'tutor_id', 'subject_id', 'price_cents', 'billing_interval'],
  student_groups: ['name', 'tutor_id', 'classroom_id', 'subject_id', 'rate_per_student_cents', 'color', 'avatar_url'],
  questions: ['topic', 'intro_text', 'tags', 'total_marks', 'curriculum_level_ids'],
  homework: ['title', 'description', 'homework_type', 'scope', 'classroom_id', 'group_id', 'student_id', 'due_date', 'files'],
  files: [
    'owner_id', 'scope', 'title', 'resource_type', 'file_url', 'link_url', 'student_id', 'classroom_id', 'group_id', 'folder_id',
  ],
  blog_posts: [
    'title', 'slug', 'excerpt', 'content', 'author', 'category', 'tags', 'featured_image', 'date', 'publish_to_website',
    'publish_to_portal', 'scheduled_at',
  ],
}; // prettier-ignore

/** States in which a row stays as it is. */
const FINAL: Record<string, string[]> = {
  sessions: ['completed', 'cancelled'],
  booking_requests: ['matched', 'declined', 'expired'],
  // What is shown of them is their login, or as they left.
  parents: ['accepted', 'archived'],
  mileage_trips: ['approved', 'rejected', 'reimbursed'],
  expense_claims: ['approved', 'rejected', 'reimbursed'],
};

/** Fields that stay while others rely on them: when, in SQL about the old row `t`. */
const RELIED_ON: Record<string, { fields: string[]; when: string; why: string }> = {
  homework: {
    fields: ['scope', 'classroom_id', 'group_id', 'student_id'],
    when: 'EXISTS (SELECT FROM results r WHERE r.homework_assignment_id = t.id)',
    why: 'there are results for it',
  },
};

/** What a change entails, in SQL. @param set the new row `s` and the old one `t` */
const ENTAILED: Record<string, string> = {
  tutor_profiles: ['home_lat', 'home_lng']
    .map(
      (at) =>
        `${at} = CASE WHEN (s.home_suburb, s.home_postcode) IS NOT DISTINCT FROM (t.home_suburb, t.home_postcode) THEN t.${at} END`,
    )
    .join(', '),
};

const changeableOf = ({ table }: Staged): string[] => CHANGEABLE[table.name] ?? [];

/** The row of the database that a staged one stands for. */
const sameRow = (staged: Staged): string =>
  `${staged.table.key.map((column) => `t."${column}" = s."${column}"`).join(' AND ')} ${mine(staged)}`;

/** json has no equality of its own. */
const differs = ({ name, type }: Column): string => {
  const cast = type === 'json' ? '::jsonb' : '';
  return `s."${name}"${cast} IS DISTINCT FROM t."${name}"${cast}`;
};

/** How many rows were changed, by field. */
export type Changed = Record<string, number>;

/** Finds out what rows of an import change, and completes them with what they are, so that all checks see them whole. */
export class Updates {
  constructor(
    private readonly client: Client,
    private readonly faults: Faults,
  ) {}

  /** Rows that change nothing are dropped. `given` becomes the fields that change. */
  async compare(staged: Staged): Promise<void> {
    const { table, relation } = staged;
    const fieldOf = table.rules.fieldOf ?? {};
    const columns = [...table.columns, ...table.derived].filter(({ name }) => !table.key.includes(name));
    const merged = columns.map(({ name }) => {
      const field = fieldOf[name] ?? name;
      return `"${name}" = CASE WHEN '${field}' = ANY (s.given) THEN s."${name}" ELSE t."${name}" END`;
    });
    // Rows without a value of their own keep the one that they have, also one that the file may not set.
    await this.client.query(
      `UPDATE ${relation} s SET ${['known = true', ...merged].join(', ')} FROM ${table.name} t WHERE ${sameRow(staged)}`,
    );
    await this.missing(staged);
    const compared = table.columns.filter(({ name }) => !table.key.includes(name) && name !== 'updated_at');
    const changed = compared.map((column) => `CASE WHEN ${differs(column)} THEN '${column.name}' END`);
    await this.client.query(`UPDATE ${relation} s SET given = array_remove(ARRAY[${changed.join(', ')}]::text[], NULL)
      FROM ${table.name} t WHERE s.known AND ${sameRow(staged)}`);
    await this.client.query(`DELETE FROM ${relation} WHERE known AND given = '{}'`);
    await this.refused(staged);
  }

  /** How many rows of the file differ from those that stay as they are, in what an update would change. */
  async differing(staged: Staged): Promise<number> {
    const columns = staged.table.columns.filter(({ name }) => changeableOf(staged).includes(name));
    if (columns.length === 0) return 0;
    const differ = columns.map((column) => `(s."${column.name}" IS NOT NULL AND ${differs(column)})`).join(' OR ');
    const { rows } = await this.client.query<{ rows: number }>(
      `SELECT count(*)::integer AS rows FROM ${staged.relation} s JOIN ${staged.table.name} t ON ${sameRow(staged)} WHERE ${differ}`,
    );
    return rows[0]!.rows;
  }

  /** The changes by field, before they are written. */
  async summary({ relation }: Staged): Promise<{ rows: number; fields: Changed }> {
    const { rows } = await this.client.query<{ field: string; rows: number }>(
      `SELECT field, count(*)::integer AS rows FROM ${relation}, unnest(given) field WHERE known GROUP BY 1 ORDER BY 1`,
    );
    const counted = await this.client.query<{ rows: number }>(
      `SELECT count(*)::integer AS rows FROM ${relation} WHERE known`,
    );
    return { rows: counted.rows[0]!.rows, fields: Object.fromEntries(rows.map(({ field, rows }) => [field, rows])) };
  }

  /** SQL that changes the lines after `$1`, through `$2`; null for a table whose rows stay. */
  static statement(staged: Staged): string | null {
    const columns = changeableOf(staged).map((name) => `"${name}" = s."${name}"`);
    if (columns.length === 0) return null;
    const { name, touched } = staged.table;
    const set = [...columns, ...(ENTAILED[name] ? [ENTAILED[name]] : []), ...(touched ? ['updated_at = now()'] : [])];
    return `UPDATE ${name} t SET ${set.join(', ')} FROM ${staged.relation} s
      WHERE s.known AND s.line > $1 AND s.line <= $2 AND ${sameRow(staged)}`;
  }

  /** Reports changes that row-level security has kept from being written: somebody else belongs to another organization, too. */
  async unwritten(staged: Staged): Promise<void> {
    const columns = staged.table.columns.filter(({ name }) => changeableOf(staged).includes(name));
    if (columns.length === 0) return;
    const { rows } = await this.client.query<{ line: number; given: string[] }>(`
      SELECT s.line, s.given FROM ${staged.relation} s JOIN ${staged.table.name} t ON ${sameRow(staged)}
      WHERE s.known AND (${columns.map(differs).join(' OR ')}) ORDER BY s.line`);
    const message = 'cannot be changed: another organization knows this person, too';
    for (const { line, given } of rows) this.faults.add(staged.table.file, line, given.join(', '), message);
  }

  private async missing({ table, relation }: Staged): Promise<void> {
    for (const { name, required, fallback } of table.columns) {
      if (!required || fallback !== null) continue;
      const { rows } = await this.client.query<{ line: number }>(
        `SELECT line FROM ${relation} WHERE known IS NULL AND "${name}" IS NULL ORDER BY line`,
      );
      const message = table.key.includes(name)
        ? 'is missing'
        : `is missing, and there is no such ${nounOf(table.name)} to change`;
      for (const { line } of rows) this.faults.add(table.file, line, name, message);
    }
  }

  private async refused(staged: Staged): Promise<void> {
    const { table, relation } = staged;
    const final = (FINAL[table.name] ?? []).map((status) => `'${status}'`).join(', ');
    const { fields = [], when = 'false', why = '' } = RELIED_ON[table.name] ?? {};
    const { rows } = await this.client.query<{ line: number; field: string; why: string | null }>(
      `
      SELECT s.line, field, CASE WHEN field = ANY ($2) THEN $3 ${final && `WHEN t.status IN (${final}) THEN 'it is ' || t.status`} END AS why
      FROM ${relation} s JOIN ${table.name} t ON ${sameRow(staged)}, unnest(s.given) field
      WHERE s.known AND (NOT (field = ANY ($1)) OR field = ANY ($2) AND ${when} ${final && `OR t.status IN (${final})`}) ORDER BY s.line`,
      [changeableOf(staged), fields, why],
    );
    for (const { line, field, why } of rows) {
      this.faults.add(table.file, line, field, why ? `cannot be changed: ${why}` : 'cannot be changed by an import');
    }
  }
}
