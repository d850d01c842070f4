import type { Client } from 'pg';
import type { Purpose, Vault } from '@app/config';
import { EXPORTED_HISTORY, portionsOf } from '@app/database';
import { hashOfSecret } from '@app/people';

/** What moves along beside the data: it is as it was, in every column. Each table after those that it refers to. */
export const LUGGAGE = [
  ...Object.keys(EXPORTED_HISTORY),
  'idempotency_keys',
  'event_floors',
  'calendar_feeds',
  'family_rounds',
  'lesson_tellings',
];

/** The tables with an organization that stay behind, by reason. */
export const STAYS = {
  'Derived from other rows, and derived again': [
    'list_counts',
    'organization_results',
    'organization_conversations',
    'session_students',
  ],
  'Becomes events before the organization is copied': ['event_changes'],
  'Ends within minutes, or is asked for anew': ['api_key_handovers', 'exports'],
  'Says where the organization is': ['moves'],
} as const;

/** Columns that ENCRYPTION_KEY seals, and for what. */
export const SEALED: Record<string, Record<string, Purpose>> = {
  invites: { sealed: 'join codes' },
  outbox: { payload: 'outbox payloads', gathered: 'outbox payloads' },
  idempotency_keys: { answer: 'idempotent answers' },
  webhook_endpoints: { secret: 'webhook secrets', previous_secret: 'webhook secrets' },
  rebuild_hooks: { secret: 'hook secrets', previous_secret: 'hook secrets' },
};

/** Columns that count the events of an installation. */
const NUMBERED: Record<string, string> = {
  events: 'number',
  event_floors: 'number',
  webhook_endpoints: 'position',
  family_rounds: 'position',
};

/** A key that was replaced names the one that replaced it, which is newer. */
const ORDER: Record<string, string> = { api_keys: 'ORDER BY t.created_at DESC' };

/** Rows at once. */
const PORTION = 1_000;

/** SQL: who belongs to the organization `$1`. */
const TIES = ['members', 'parents']
  .map((table) => `SELECT user_id, status, accepted_at FROM ${table} WHERE organization_id = $1`)
  .join(' UNION ALL ');

type Row = Record<string, unknown>;

/** Copies what moves along beside the data, from one installation into the transaction of the other. */
export class Luggage {
  constructor(
    private readonly from: Client,
    private readonly to: Client,
    private readonly organizationId: string,
    private readonly vaults: { from: Vault; to: Vault },
  ) {}

  /** @param shift what the numbers of events grow by @returns the rows of each table */
  async copy(shift: bigint): Promise<Record<string, number>> {
    const rows: Record<string, number> = {};
    for (const table of LUGGAGE) rows[table] = await this.table(table, shift);
    return rows;
  }

  /**
   * Passwords of people who belong to no other organization, that they have proven their addresses, and that they have asked to be deleted.
   *
   * @returns how many, and who has to set a password, or to accept anew
   */
  async credentials(): Promise<{ moved: number; toTell: string[] }> {
    const { rows } = await this.from.query<{
      id: string;
      hash: string | null;
      verified: string | null;
      asked: string | null;
      due: string | null;
      alone: boolean;
    }>(
      `SELECT u.id, c.password_hash AS hash, u.email_verified_at::text AS verified, d.asked_at::text AS asked,
          d.due_at::text AS due, NOT EXISTS (
          SELECT FROM members m WHERE m.user_id = u.id AND m.organization_id <> $1
          UNION ALL SELECT FROM parents p WHERE p.user_id = u.id AND p.organization_id <> $1) AS alone
        FROM users u LEFT JOIN credentials c ON c.user_id = u.id LEFT JOIN account_deletions d ON d.user_id = u.id
        WHERE (u.email_verified_at IS NOT NULL OR c.user_id IS NOT NULL) AND u.id IN (SELECT user_id FROM (${TIES}) t)`,
      [this.organizationId],
    );
    const alone = rows.filter((row) => row.alone);
    const { rows: moved } = await this.to.query<{ id: string }>(
      `WITH arrived AS (SELECT p.* FROM json_to_recordset($1) AS p (id uuid, hash text, verified timestamptz, asked timestamptz, due timestamptz)
          JOIN users u ON u.id = p.id LEFT JOIN credentials c ON c.user_id = p.id
          WHERE c.user_id IS NULL AND ${this.newHere('u')}),
        proven AS (UPDATE users u SET email_verified_at = a.verified FROM arrived a WHERE u.id = a.id AND a.verified IS NOT NULL),
        wanted AS (INSERT INTO account_deletions (user_id, asked_at, due_at) SELECT a.id, a.asked, a.due FROM arrived a WHERE a.due IS NOT NULL),
        kept AS (INSERT INTO credentials (user_id, password_hash) SELECT a.id, a.hash FROM arrived a WHERE a.hash IS NOT NULL)
      SELECT id FROM arrived WHERE hash IS NOT NULL`,
      [JSON.stringify(alone)],
    );
    const { rows: accepted } = await this.from.query<{ id: string }>(
      `SELECT user_id AS id FROM (${TIES}) t WHERE t.accepted_at IS NOT NULL AND t.status <> 'archived'`,
      [this.organizationId],
    );
    const { rows: toTell } = await this.to.query<{ id: string }>(
      `SELECT DISTINCT u.id FROM users u JOIN (${TIES}) t ON t.user_id = u.id WHERE u.id = ANY ($2) AND NOT u.placeholder_email
        AND (t.status = 'pending' OR NOT EXISTS (SELECT FROM credentials c WHERE c.user_id = u.id))`,
      [this.organizationId, accepted.map(({ id }) => id)],
    );
    return { moved: moved.length, toTell: toTell.map(({ id }) => id) };
  }

  /** SQL: nobody here knew this login before. */
  private newHere(alias: string): string {
    const ties = ['members', 'parents'].map(
      (table) =>
        `SELECT FROM ${table} t WHERE t.user_id = ${alias}.id AND t.organization_id <> '${this.organizationId}'`,
    );
    return `NOT EXISTS (${ties.join(' UNION ALL ')}) AND NOT EXISTS (SELECT FROM passkeys k WHERE k.user_id = ${alias}.id)`;
  }

  private async table(table: string, shift: bigint): Promise<number> {
    const columns = await this.columns(table);
    await this.from.query(
      `DECLARE luggage NO SCROLL CURSOR FOR SELECT ${columns.map((name) => `t.${name}`).join(', ')} FROM ${table} t WHERE t.organization_id = $1
        ${ORDER[table] ?? ''}`,
      [this.organizationId],
    );
    await this.strangers(table);
    let done = 0;
    for await (const { rows } of portionsOf<Row>(this.from, 'luggage', PORTION)) {
      const arriving = rows.map((row) => this.sealedAnew(table, row));
      await this.write(table, columns, arriving, shift);
      done += rows.length;
    }
    return done;
  }

  /** One statement for a portion, in which rows may refer to each other. */
  private async write(table: string, columns: string[], rows: Row[], shift: bigint): Promise<void> {
    const values = columns.map((name) => (NUMBERED[table] === name ? `t.${name} + ${shift}` : `t.${name}`));
    await this.to.query(
      `INSERT INTO ${table} (${columns.join(', ')}) OVERRIDING SYSTEM VALUE
        SELECT ${values.join(', ')} FROM json_populate_recordset(NULL::${table}, $1) t`,
      [
        JSON.stringify(rows, (_, value: unknown) =>
          isBuffer(value) ? `\\x${Buffer.from(value.data).toString('hex')}` : value,
        ),
      ],
    );
  }

  private sealedAnew(table: string, row: Row): Row {
    const { to } = this.vaults;
    for (const [column, purpose] of Object.entries(SEALED[table] ?? {})) {
      const value = row[column] as Buffer | Buffer[] | null;
      if (value === null) continue;
      // The hash of a code is keyed, too.
      const code = purpose === 'join codes' ? this.open(purpose, value as Buffer) : null;
      if (code !== null) row.secret_hash = hashOfSecret(code, to);
      row[column] = Array.isArray(value) ? value.map((one) => this.again(purpose, one)) : this.again(purpose, value);
    }
    // Whoever had a message in hand has it no more.
    if (table === 'outbox') Object.assign(row, { leased_by: null, leased_until: null });
    return row;
  }

  /** What was sealed with a key that is long lost stays as it is: nobody opens it there either. */
  private again(purpose: Purpose, sealed: Buffer): Buffer {
    const text = this.open(purpose, sealed);
    return text === null ? sealed : this.vaults.to.seal(purpose, text);
  }

  private open(purpose: Purpose, sealed: Buffer): string | null {
    try {
      return this.vaults.from.open(purpose, sealed);
    } catch {
      return null;
    }
  }

  /** People whom only these rows name: nobody sees them here, but the rows refer to them. */
  private async strangers(table: string): Promise<void> {
    const { rows: keys } = await this.to.query<{ name: string }>(
      `SELECT a.attname AS name FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
        WHERE k.conrelid = $1::regclass AND k.contype = 'f' AND k.confrelid = 'users'::regclass`,
      [table],
    );
    for (const { name } of keys) {
      const { rows } = await this.from.query<{ id: string }>(
        `SELECT DISTINCT ${name} AS id FROM ${table} WHERE organization_id = $1 AND ${name} IS NOT NULL`,
        [this.organizationId],
      );
      await this.to.query(
        `INSERT INTO users (id, email, email_normalized, placeholder_email, first_name, last_name)
          SELECT id, id || '@placeholder.invalid', id || '@placeholder.invalid', true, '-', '-' FROM unnest($1::uuid[]) AS p (id) ON CONFLICT DO NOTHING`,
        [rows.map(({ id }) => id)],
      );
    }
  }

  private async columns(table: string): Promise<string[]> {
    const { rows } = await this.to.query<{ name: string }>(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`,
      [table],
    );
    return rows.map(({ name }) => name);
  }
}

const isBuffer = (value: unknown): value is { type: 'Buffer'; data: number[] } =>
  typeof value === 'object' && value !== null && (value as { type?: unknown }).type === 'Buffer';
